/**
 * `npm start`: a control plane, the operators and their samples in one process, with what happens shown as it happens.
 * `npm start -- --exit-when-ready` ends once every sample is Ready.
 */
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { type AnyKind, Client, type ObjectOf } from "@windlass/client";
import { ControlPlane } from "@windlass/control-plane";
import { type Logger, manager } from "@windlass/runtime";
import { CustomResourceDefinition, Deployment, Pod } from "@windlass/runtime/kinds";
import { Policy, WebApp, webapp, webhooks } from "@windlass/webapp";
import { loadAll } from "js-yaml";

const usage = `Usage: npm start [-- options]

Starts an embedded Kubernetes control plane, runs the operators on it, applies their samples and shows what happens.

  --exit-when-ready   end once every sample is Ready
  --port N            the API server's port (default: any free one)
  --help              show this
`;

const began = performance.now();
const { values: flags } = parseArgs({
  options: { "exit-when-ready": { type: "boolean" }, port: { type: "string" }, help: { type: "boolean" } },
});
if (flags.help) {
  process.stdout.write(usage);
  process.exit(0);
}

const root = join(import.meta.dirname, "..");
const plane = await ControlPlane.start();
await plane.listen(flags.port === undefined ? {} : { port: Number(flags.port) });
const kubeconfig = join(root, ".windlass", "kubeconfig");
await mkdir(join(root, ".windlass"), { recursive: true });
await writeFile(kubeconfig, await plane.kubeconfig(), { mode: 0o600 });
say("control plane", `up at ${await plane.listen()}`);
say("control plane", `export KUBECONFIG=${kubeconfig}   to look around with kubectl`);

const client = new Client({ transport: plane.connect(), fieldManager: "windlass-demo" });
const admission = webhooks(Policy.parse(process.env), { port: false, install: true });
await client.apply(CustomResourceDefinition, WebApp.crd({ conversion: admission.conversion() }));
say("crd", `${WebApp.plural}.${WebApp.group} installed`);
plane.bindService("default", "webapp-operator-webhook", 443, admission.handle);

const stop = new AbortController();
const running = manager({
  client: new Client({ transport: plane.connect(), fieldManager: "webapp-operator" }),
  leaderElection: { name: "webapp-operator", namespace: "default" },
  health: false,
  metrics: false,
  log: quiet(),
})
  .add(webapp)
  .add(admission)
  .run({ signal: stop.signal });

const samples = await readSamples(join(root, "operators", "webapp", "config", "samples"));
const waiting = new Set(samples.map(({ metadata }) => metadata.name));
const shown = [
  follow(Deployment, describeDeployment),
  follow(Pod, describePod),
  follow(WebApp, describeWebApp),
];
for (const sample of samples) {
  await client.apply(
    { ...WebApp, version: sample.apiVersion.split("/")[1] ?? "" },
    { ...sample, metadata: { ...sample.metadata, namespace: "default" } },
  );
  say("sample", `webapp/${sample.metadata.name} applied`);
}
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => stop.abort());
await Promise.all([running, ...shown]);
await plane.close();

/** Says one line when an object appears, changes in what `describe` says of it, or goes. */
async function follow<K extends AnyKind>(kind: K, describe: (object: ObjectOf<K>) => string): Promise<void> {
  const last = new Map<string, string>();
  try {
    for await (const event of client.watch(kind, { signal: stop.signal })) {
      if (event.type === "BOOKMARK" || event.type === "ERROR") continue;
      const { name } = event.object.metadata;
      const words = event.type === "DELETED" ? "deleted" : describe(event.object);
      if (last.get(name) === words) continue;
      last.set(name, words);
      say(kind.kind.toLowerCase(), `${name}: ${words}`);
    }
  } catch (error) {
    if (!stop.signal.aborted) throw error;
  }
}

function describeWebApp(app: ObjectOf<typeof WebApp>): string {
  const ready = app.status?.conditions?.find(({ type }) => type === "Ready");
  if (ready?.status === "True") isReady(app.metadata.name);
  return ready === undefined ? "new" : `${app.status?.phase}: ${ready.message}`;
}

function describeDeployment({ spec, status }: ObjectOf<typeof Deployment>): string {
  return `${status?.availableReplicas ?? 0} of ${spec?.replicas ?? 0} available`;
}

function describePod({ status }: ObjectOf<typeof Pod>): string {
  return `${status?.phase ?? "Pending"}${status?.podIP ? ` at ${status.podIP}` : ""}`;
}

function isReady(name: string): void {
  if (!waiting.delete(name) || waiting.size > 0) return;
  // The line that says so comes first.
  setImmediate(() => {
    process.stdout.write(`ready in ${Math.round(performance.now() - began)} ms\n`);
    if (flags["exit-when-ready"]) stop.abort();
  });
}

type Sample = {
  readonly apiVersion: string;
  readonly metadata: { readonly name: string };
  readonly spec: { readonly image: string; readonly replicas?: number };
};

async function readSamples(folder: string): Promise<Sample[]> {
  const files = (await readdir(folder)).filter((file) => file.endsWith(".yaml")).sort();
  const texts = await Promise.all(files.map((file) => readFile(join(folder, file), "utf8")));
  return texts.flatMap((text) => loadAll(text) as Sample[]);
}

function say(what: string, words: string): void {
  const seconds = ((performance.now() - began) / 1_000).toFixed(3).padStart(7);
  process.stdout.write(`${seconds}  ${what.padEnd(14)} ${words}\n`);
}

/** The demo speaks for itself; of the manager's log only what went wrong is shown. */
function quiet(): Logger {
  const nothing = () => undefined;
  const loud = (...words: unknown[]) => {
    process.stderr.write(
      `${words.map((word) => (typeof word === "string" ? word : JSON.stringify(word))).join(" ")}\n`,
    );
  };
  const log: Logger = { debug: nothing, info: nothing, warn: loud, error: loud, child: () => log };
  return log;
}
