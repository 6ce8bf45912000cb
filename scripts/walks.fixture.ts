/**
 * Takes the two walks of ARCHITECTURE.md and prints, as JSON, the source files whose functions were
 * called: from an event of a watch to the patch of a status, and from a PATCH request to its
 * answer. Runs in a process of its own, on the sources, over sockets.
 */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { Session } from "node:inspector/promises";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { setTimeout } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { connect } from "@windlass/client";
import { ControlPlane } from "@windlass/control-plane";
import { manager, silentLogger } from "@windlass/runtime";
import { ConfigMap, CustomResourceDefinition, Deployment } from "@windlass/runtime/kinds";
import { waitFor, waitForCondition } from "@windlass/testing";
import { WebApp, webapp } from "../operators/webapp/src/index.ts";

/** The files below the folders in which at least one function with a name was called meanwhile. */
export interface Walks {
  readonly eventToWrite: readonly string[];
  readonly request: readonly string[];
}

const root = join(import.meta.dirname, "..");

async function filesOf(folders: readonly string[], walk: () => Promise<void>): Promise<string[]> {
  const session = new Session();
  session.connect();
  await session.post("Profiler.enable");
  await session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });
  await session.post("Profiler.takePreciseCoverage");
  await walk();
  const { result } = await session.post("Profiler.takePreciseCoverage");
  session.disconnect();
  const called = result.filter(({ functions }) =>
    functions.some(({ functionName, ranges }) => functionName !== "" && (ranges[0]?.count ?? 0) > 0),
  );
  const files = called.flatMap(({ url }) =>
    url.startsWith("file:") ? [relative(root, fileURLToPath(url)).replaceAll("\\", "/")] : [],
  );
  return [...new Set(files)].filter((file) => folders.some((folder) => file.startsWith(folder))).toSorted();
}

const folder = await mkdtemp(join(tmpdir(), "windlass-walks-"));
try {
  await using plane = await ControlPlane.start();
  await plane.listen();
  const kubeconfig = join(folder, "kubeconfig");
  await writeFile(kubeconfig, await plane.kubeconfig(), { mode: 0o600 });
  await using client = await connect({ kubeconfig, fieldManager: "walks" });

  const becomeReady = plane.node.on("*", "never-ready");
  await client.create(CustomResourceDefinition, WebApp.crd({ conversion: "None" }));
  const name = `${WebApp.plural}.${WebApp.group}`;
  await waitForCondition(client, CustomResourceDefinition, { name }, "Established");
  await using operator = manager({
    kubeconfig,
    leaderElection: { name: "webapp-operator", namespace: "default" },
    log: silentLogger,
    health: false,
    metrics: { port: 0 },
  }).add(webapp);
  await operator.start();
  const key = { namespace: "default", name: "shop" };
  await client.create(WebApp, { metadata: key, spec: { image: "nginx:1.29" } });
  await waitFor(client, Deployment, key, (one) => one.status?.unavailableReplicas === 1);
  await waitFor(client, WebApp, key, (one) => one.status?.phase === "WaitingForPods");

  // Asked without a client, whose files are part of the walk.
  const inside = plane.connect();
  const path = `/apis/${WebApp.group}/${WebApp.version}/namespaces/default/${WebApp.plural}/shop`;
  const isAvailable = async () => {
    const { body } = await inside.request({ method: "GET", path, headers: {} });
    return Buffer.concat(await Array.fromAsync(body)).includes('"availableReplicas":1');
  };
  const sources = ["packages/runtime/src/", "packages/client/src/", "operators/webapp/src/"];
  const eventToWrite = await filesOf(sources, async () => {
    becomeReady();
    while (!(await isAvailable())) await setTimeout(5);
  });

  await client.create(ConfigMap, { metadata: { namespace: "default", name: "settings" }, data: { a: "1" } });
  const change = (data: Record<string, string>) =>
    client.patch(ConfigMap, { namespace: "default", name: "settings" }, { type: "merge", patch: { data } });
  // Code that is loaded at the first write is not part of every walk.
  await change({ b: "2" });
  await operator.stop();
  await plane.settle();
  const request = await filesOf(["packages/control-plane/src/"], async () => {
    await change({ c: "3" });
  });
  process.stdout.write(JSON.stringify({ eventToWrite, request } satisfies Walks));
} finally {
  await rm(folder, { recursive: true, force: true });
}
