/**
 * A control plane whose disk fills up and is made room on again: `node full-disk.fixture.ts
 * FOLDER`, where the folder is a small disk of its own. Prints a report as JSON.
 */
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ControlPlane } from "../control-plane.ts";
import type { InProcessTransport } from "../in-process.ts";

/** What clients saw. */
export interface Report {
  /** Names of objects whose creation was acknowledged, in order. */
  readonly created: readonly string[];
  readonly refusal: { readonly status: number; readonly body: { readonly message: string } };
  /** The status of a read of the object that was refused. */
  readonly refusedRead: number;
  readonly versions: {
    readonly beforeRefusal: number;
    readonly afterRefusal: number;
    readonly afterRestart: number;
  };
  readonly listed: readonly string[];
  readonly watched: readonly string[];
  readonly afterRestart: readonly string[];
  readonly panics: readonly string[];
}

interface Response {
  readonly metadata: { readonly name: string; readonly resourceVersion: string };
  readonly items: readonly Response[];
  readonly message: string;
}

const [folder = ""] = process.argv.slice(2);
const path = "/api/v1/namespaces/default/configmaps";
const text = "x".repeat(100_000);
const panics: string[] = [];

function start(): Promise<ControlPlane> {
  const onPanic = (error: unknown) => panics.push(String(error));
  return ControlPlane.start({ data: join(folder, "state"), controllers: "none", onPanic });
}

async function send(transport: InProcessTransport, method: string, at: string, body?: object) {
  const headers = { "content-type": "application/json" };
  const content = body === undefined ? {} : { body: JSON.stringify(body) };
  const answer = await transport.request({ method, path: at, headers, ...content });
  const chunks = await Array.fromAsync(answer.body);
  return { status: answer.status, body: JSON.parse(Buffer.concat(chunks).toString()) as Response };
}

async function list(
  transport: InProcessTransport,
): Promise<{ readonly names: string[]; readonly version: number }> {
  const { body } = await send(transport, "GET", path);
  return {
    names: body.items.map(({ metadata }) => metadata.name),
    version: Number(body.metadata.resourceVersion),
  };
}

async function watch(transport: InProcessTransport, watched: string[]): Promise<void> {
  const { body } = await transport.request({ method: "GET", path: `${path}?watch=1`, headers: {} });
  for await (const chunk of body) {
    for (const [, name = ""] of Buffer.from(chunk)
      .toString()
      .matchAll(/"name":"(cm-\d+)"/g))
      watched.push(name);
  }
}

writeFileSync(join(folder, "ballast"), Buffer.alloc(7_000_000));
const plane = await start();
const transport = plane.connect();
const watched: string[] = [];
const watching = watch(transport, watched);
const created: string[] = [];
const create = (index: number) => {
  const name = `cm-${index}`;
  return send(transport, "POST", path, { metadata: { name }, data: { text } });
};
let refusal = { status: 0, body: { message: "" } };
let next = 0;
let beforeRefusal = 0;
for (; next < 1_000; next++) {
  beforeRefusal = (await list(transport)).version;
  const answer = await create(next);
  if (answer.status !== 201) {
    refusal = answer;
    break;
  }
  created.push(answer.body.metadata.name);
}
const afterRefusal = (await list(transport)).version;
const refusedRead = (await send(transport, "GET", `${path}/cm-${next}`)).status;
rmSync(join(folder, "ballast"));
const again = await create(next + 1);
if (again.status === 201) created.push(again.body.metadata.name);
const { names: listed } = await list(transport);
await plane.close();
await watching;
const second = await start();
const { names, version: afterRestart } = await list(second.connect());
await second.close();
const report: Report = {
  created,
  refusal,
  refusedRead,
  versions: { beforeRefusal, afterRefusal, afterRestart },
  listed,
  watched,
  afterRestart: names,
  panics,
};
process.stdout.write(JSON.stringify(report));
