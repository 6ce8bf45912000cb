import { differences, show } from "../differences.ts";
import { conclude, count } from "../tally.ts";
import { answerCases } from "./answer-cases.ts";
import { certificateCases } from "./certificate-cases.ts";
import { authority, type HookCase, host, open, seen } from "./hard-to-reach.ts";
import { normal } from "./normal.ts";
import { openEmbedded, openReal, type Server } from "./servers.ts";
import { transportCases } from "./transport-cases.ts";

/**
 * Webhooks that are hard to reach, on a real API server and on the embedded one: certificates of
 * every kind, redirects, and servers that speak something else. Compares the answers, and what
 * arrives at the webhooks.
 *
 *   KUBECONFIG=FILE node tests/differential/admission/transport.ts [part of a case's name]
 */
const configurations = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations";
const kubeconfig = process.env.KUBECONFIG;
if (kubeconfig === undefined) throw new Error("KUBECONFIG must name the kubeconfig of a bare API server");
const servers = [openReal(kubeconfig), await openEmbedded()];
const namespace = `transport-${process.pid}`;
const wanted = [...transportCases, ...certificateCases, ...answerCases].filter(({ name }) =>
  name.includes(process.argv[2] ?? ""),
);

/** Ports of this run, and times, are replaced. */
function settled(value: unknown): unknown {
  return JSON.parse(
    JSON.stringify(normal(value))
      .replaceAll(/(127\.0\.0\.1|localhost|\[::1\]):\d{4,5}/g, "$1:PORT")
      .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/g, "TIME"),
  ) as unknown;
}

/** Objects with this label are sent to the webhook of a case. */
const label = "case";
const configurationOf = (index: number) => `${namespace}-${index}`;

/** Configures all webhooks at once. @returns what refused each that was refused */
async function prepare(server: Server): Promise<ReadonlyMap<HookCase, unknown>> {
  await server.send({
    method: "POST",
    path: "/api/v1/namespaces",
    body: { metadata: { name: namespace } },
  });
  const refused = new Map<HookCase, unknown>();
  for (const [index, one] of wanted.entries()) {
    const port = await one.serve();
    const { trust: caBundle = authority.certificate, host: dialled = host, path = "/hook" } = one;
    const { status, body } = await server.send({
      method: "POST",
      path: configurations,
      body: {
        metadata: { name: configurationOf(index) },
        webhooks: [
          {
            name: "hook.example.com",
            clientConfig: {
              url: `https://${dialled}:${port}${path}`,
              ...(caBundle === "" ? {} : { caBundle: Buffer.from(caBundle).toString("base64") }),
            },
            rules: [
              { apiGroups: [""], apiVersions: ["v1"], resources: ["configmaps"], operations: ["CREATE"] },
            ],
            namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": namespace } },
            objectSelector: { matchLabels: { [label]: `${index}` } },
            sideEffects: "None",
            admissionReviewVersions: ["v1"],
            timeoutSeconds: one.timeoutSeconds ?? 5,
          },
        ],
      },
    });
    if (status !== 201) refused.set(one, settled(body));
  }
  await server.settle();
  return refused;
}

async function play(server: Server, index: number): Promise<unknown> {
  seen.length = 0;
  const { status, body } = await server.send({
    method: "POST",
    path: `/api/v1/namespaces/${namespace}/configmaps?dryRun=All`,
    body: { metadata: { name: "x", labels: { [label]: `${index}` } } },
  });
  return { status, body: status === 201 ? "created" : settled(body), seen: [...seen] };
}

async function clean(server: Server): Promise<void> {
  for (const index of wanted.keys())
    await server.send({ method: "DELETE", path: `${configurations}/${configurationOf(index)}` });
  await server.send({ method: "DELETE", path: `/api/v1/namespaces/${namespace}` });
}

let compared = 0;
let differing = 0;
const known = new Map<string, number>();
try {
  const [real, ours] = servers as [Server, Server];
  const refused = [await prepare(real), await prepare(ours)] as const;
  for (const [index, one] of wanted.entries()) {
    const [theirs, own] = [refused[0].get(one), refused[1].get(one)];
    const answers = [theirs ?? (await play(real, index)), own ?? (await play(ours, index))] as const;
    compared++;
    const found = differences(...answers);
    if (found.length === 0) continue;
    // Other words are let pass, and nothing else.
    if (one.known !== undefined && found.every(({ at }) => at.endsWith("message"))) {
      count(known, one.known);
      continue;
    }
    differing++;
    process.stdout.write(`${one.name}\n${found.map((each) => show(each)).join("\n")}\n`);
  }
} finally {
  for (const server of servers) {
    await clean(server);
    await server.close();
  }
  for (const each of open.splice(0)) each.close();
}
conclude({ name: "admission/transport", compared, differing, known });
