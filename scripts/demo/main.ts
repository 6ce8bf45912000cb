/**
 * `npm start`: a control plane, the operators and their samples in one process, with what happens
 * shown as it happens. `npm start -- --exit-when-ready` ends once every sample is Ready.
 */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { ControlPlane } from "@windlass/control-plane";
import { buildbarnDemo } from "./buildbarn.ts";
import { buildkitDemo } from "./buildkit.ts";
import { elastiDemo } from "./elasti.ts";
import { type DemoPart, Stage } from "./stage.ts";
import { webappDemo } from "./webapp.ts";

const parts: readonly DemoPart[] = [webappDemo, buildkitDemo, elastiDemo, buildbarnDemo];

const usage = `Usage: npm start [-- [options] [OPERATOR ...]]

Starts an embedded Kubernetes control plane, runs the operators on it, applies their samples and shows what happens.

${parts.map(({ name, summary }) => `  ${name.padEnd(19)} ${summary}`).join("\n")}

  --exit-when-ready   end once every sample is Ready
  --port N            the API server's port (default: any free one)
  --help              show this
`;

const { values: flags, positionals } = parseArgs({
  allowPositionals: true,
  options: { "exit-when-ready": { type: "boolean" }, port: { type: "string" }, help: { type: "boolean" } },
});
if (flags.help) {
  process.stdout.write(usage);
  process.exit(0);
}
const unknown = positionals.filter((name) => !parts.some((part) => part.name === name));
if (unknown.length > 0) {
  const names = parts.map(({ name }) => name).join(", ");
  process.stderr.write(`there is no operator ${unknown.join(", ")}; there are: ${names}\n`);
  process.exit(2);
}
const chosen = parts.filter(({ name }) => positionals.length === 0 || positionals.includes(name));

const stop = new AbortController();
/** An error inside the control plane ends the demo: it would scroll by unread. */
const onPanic = (error: unknown, where: string) => {
  process.stderr.write(`${where}: ${error instanceof Error ? error.stack : String(error)}\n`);
  process.exitCode = 1;
  stop.abort();
};
const plane = await ControlPlane.start({ onPanic });
await plane.listen(flags.port === undefined ? {} : { port: Number(flags.port) });
const folder = join(import.meta.dirname, "..", "..", ".windlass");
const kubeconfig = join(folder, "kubeconfig");
await mkdir(folder, { recursive: true });
await writeFile(kubeconfig, await plane.kubeconfig(), { mode: 0o600 });

const stage = new Stage(plane, stop.signal);
stage.say("control plane", `up at ${await plane.listen()}`);
stage.say("control plane", `export KUBECONFIG=${kubeconfig}   to look around with kubectl`);
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => stop.abort());

// Each has a client of its own: what the server serves is asked for after the part has installed
// its kinds.
const running = await Promise.all(chosen.map((part) => part.start(stage.on(plane))));
const allReady = Promise.all(running.map(({ ready }) => ready)).then(() => {
  process.stdout.write(`ready in ${Math.round(stage.elapsedMs)} ms\n`);
  if (flags["exit-when-ready"]) stop.abort();
});
const allStopped = Promise.all(running.map(({ stopped }) => stopped));
// Interrupted before everything is ready: there is nothing to wait for any more.
await Promise.race([allReady, allStopped]);
await allStopped;
await plane.close();
