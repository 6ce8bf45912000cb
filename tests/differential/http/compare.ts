/**
 * Plays the same requests on a real API server and on the embedded one, and prints where their
 * answers differ.
 *
 * node tests/differential/http/compare.ts --kubeconfig FILE [--seed N] [--count N] [--only PART]
 * [--show N] [--all]
 *
 * Fixed scenarios first, then `count` generated sequences from `seed` on. The real server must be
 * bare: controllers would change objects between two requests. With `--all`, known differences are
 * shown too. Works in namespaces and on a CRD of its own, and deletes them. Exits with 1 when
 * anything differs.
 */
import { parseArgs } from "node:util";
import { type Difference, differences, show } from "../differences.ts";
import { normalised } from "../normal.ts";
import { openEmbedded, openReal, type Sending, type Server, type ServerResponse } from "../servers.ts";
import { conclude, count } from "../tally.ts";
import { generateSequence } from "./generate.ts";
import { knownDifferences } from "./known-differences.ts";
import { scenarios } from "./scenarios/index.ts";
import { play, type Sequence } from "./sequence.ts";
import { definitionPath, widgetDefinition } from "./widget.ts";

const { values } = parseArgs({
  options: {
    kubeconfig: { type: "string" },
    seed: { type: "string", default: "1" },
    count: { type: "string", default: "200" },
    only: { type: "string" },
    show: { type: "string", default: "10" },
    all: { type: "boolean", default: false },
  },
});
const kubeconfig = values.kubeconfig ?? process.env.KUBECONFIG;
if (!kubeconfig) throw new Error("say which server to compare with: --kubeconfig FILE");
const [seed, generated, most] = [Number(values.seed), Number(values.count), Number(values.show)];

interface Finding {
  readonly sequence: string;
  readonly step: number;
  readonly sending: Sending;
  readonly found: readonly Difference[];
}

await using real = openReal(kubeconfig);
await using ours = await openEmbedded();
const servers: readonly Server[] = [real, ours];
const run = `http-${process.pid}`;
const group = `${run}.example.com`;
const definition = widgetDefinition(group);
const widgets = `/apis/${group}/v1/widgets`;
const findings: Finding[] = [];
const excused = new Map<string, number>();
let requests = 0;

const wanted = [
  ...scenarios,
  ...Array.from({ length: generated }, (_, index) => generateSequence(seed + index)),
].filter(({ name }) => values.only === undefined || name.includes(values.only));

try {
  await Promise.all(servers.map(prepare));
  let next = 0;
  // Sequences wait for watches and for the disk more than they work: a few at a time.
  await Promise.all(
    Array.from({ length: 6 }, async () => {
      for (let index = next++; index < wanted.length; index = next++) {
        await compare(wanted[index] as Sequence, `${run}-${index}`);
      }
    }),
  );
} finally {
  for (const server of servers) await clean(server);
}

for (const { sequence, step, sending, found } of findings.slice(0, most)) {
  const body =
    sending.body === undefined
      ? ""
      : ` ${typeof sending.body === "string" ? sending.body : JSON.stringify(sending.body)}`;
  process.stdout.write(
    `${sequence} #${step} ${sending.method} ${sending.path} ${sending.contentType ?? ""} ${JSON.stringify(sending.headers ?? {})}${body.slice(0, 700)}\n`,
  );
  process.stdout.write(`${found.map((difference) => show(difference)).join("\n")}\n`);
}
conclude({ name: "http", compared: requests, differing: findings.length, known: excused });

async function prepare(server: Server): Promise<void> {
  await server.send({ method: "POST", path: definitionPath, body: definition });
  for (let attempt = 0; attempt < 200; attempt++) {
    const { status } = await server.send({
      method: "GET",
      path: widgets,
    });
    if (status === 200) break;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

async function compare(sequence: Sequence, namespace: string): Promise<void> {
  const [theirs, own] = await Promise.all(servers.map((server) => playIn(server, sequence, namespace)));
  if (!theirs || !own) return;
  for (const [step, answer] of theirs.entries()) {
    requests++;
    const sending = sequence.steps[step] as Sending;
    const found = apart(answer, own[step]).filter((difference) => {
      const known = !values.all && knownDifferences.find(({ covers }) => covers(sending, difference));
      if (known) count(excused, known.reason);
      return !known;
    });
    if (found.length > 0) findings.push({ sequence: sequence.name, step, sending, found });
  }
}

/** Finalizers would keep the definition indefinitely. */
async function clean(server: Server): Promise<void> {
  const { body } = await server.send({ method: "GET", path: widgets });
  for (const { metadata } of (body as { items: { metadata: { name: string; namespace: string } }[] }).items) {
    await server.send({
      method: "PATCH",
      path: `/apis/${group}/v1/namespaces/${metadata.namespace}/widgets/${metadata.name}`,
      contentType: "application/merge-patch+json",
      body: { metadata: { finalizers: null } },
    });
  }
  await server.send({ method: "DELETE", path: `${definitionPath}/${definition.metadata.name}` });
}

/**
 * Without a controller to empty the namespace, Services would keep their addresses until there are
 * none left.
 */
async function release(server: Server, namespace: string): Promise<void> {
  const services = `/api/v1/namespaces/${namespace}/services`;
  const { body } = await server.send({ method: "GET", path: services });
  for (const { metadata } of (body as { items: { metadata: { name: string } }[] }).items) {
    await server.send({
      method: "PATCH",
      path: `${services}/${metadata.name}`,
      contentType: "application/merge-patch+json",
      body: { metadata: { finalizers: null } },
    });
  }
  await server.send({ method: "DELETE", path: services });
}

/**
 * Where two answers part. Those of another status are about something else: their words say enough.
 */
function apart(theirs: unknown, own: unknown): Difference[] {
  const [left, right] = [theirs as ServerResponse, own as ServerResponse];
  if (left.status === right.status) return differences(theirs, own);
  const said = ({ body }: ServerResponse) => (body as { message?: string } | undefined)?.message ?? body;
  return [{ at: "status", real: [left.status, said(left)], ours: [right.status, said(right)] }];
}

async function playIn(server: Server, sequence: Sequence, namespace: string): Promise<unknown[]> {
  await server.send({ method: "POST", path: "/api/v1/namespaces", body: { metadata: { name: namespace } } });
  const accounts = `/api/v1/namespaces/${namespace}/serviceaccounts`;
  await server.send({ method: "POST", path: accounts, body: { metadata: { name: "default" } } });
  try {
    const answers = await play(server, sequence, { ns: namespace, group });
    return normalised(answers, JSON.stringify(sequence.steps));
  } finally {
    await server.send({ method: "DELETE", path: `/api/v1/namespaces/${namespace}` });
    await release(server, namespace);
  }
}
