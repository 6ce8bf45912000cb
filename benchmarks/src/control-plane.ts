import { type ChildProcess, spawn } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { request } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { ControlPlane } from "@windlass/control-plane";
import { startBinaries } from "@windlass/testing";
import { buildPackages } from "../../scripts/packaging/build.ts";
import { sourcePackages } from "../../scripts/packaging/source-packages.ts";
import { inParallel, type Loader, openLoader } from "./load.ts";
import { findAssets } from "./real-server.ts";
import type { Result, Row } from "./table.ts";

const creates = 10_000;
const clients = 16;
const watchers = 1_000;
const watchedEvents = 20;
const program = fileURLToPath(import.meta.resolve("@windlass/control-plane/bin"));

export const needs = [findAssets];

/**
 * The embedded API server beside a real one (etcd without fsync, as test environments run it), each
 * in processes of its own.
 */
export async function run(): Promise<Result> {
  const assets = findAssets();
  // As it is published: from its sources it starts in twice the time, and takes a fifth more
  // memory.
  await buildPackages(await sourcePackages());
  const folder = await mkdtemp(join(tmpdir(), "windlass-bench-"));
  try {
    const startUps: number[] = [];
    // The first starts fill Node's compile cache, which stays.
    for (let i = 0; i < 2; i++) await startOnce(folder);
    for (let i = 0; i < 9; i++) startUps.push(await startOnce(folder));
    const embedded = await launch(folder);
    const empty = await residentBytes(embedded.child.pid ?? 0);
    const ours = await load(embedded.kubeconfig);
    const fanOut = await watch(embedded.kubeconfig);
    await end(embedded.child);
    const inProcess = await startInProcess();

    const began = performance.now();
    const real = await startBinaries(assets);
    const realStart = performance.now() - began;
    try {
      const theirs = await load(await real.kubeconfig());
      const theirFanOut = await watch(await real.kubeconfig());
      const rows: Row[] = [
        {
          what: "ready, from process start",
          unit: "ms",
          ours: median(startUps),
          peer: realStart,
          better: "less",
        },
        { what: "ready, in a process that has it loaded", unit: "ms", ours: inProcess, better: "less" },
        { what: "resident memory, empty", unit: "MiB", ours: empty / 2 ** 20, better: "less" },
        {
          what: `${creates} ConfigMaps created by ${clients} clients`,
          unit: "/s",
          ours: ours.created,
          peer: theirs.created,
          better: "more",
        },
        { what: "get, 16 clients", unit: "/s", ours: ours.got, peer: theirs.got, better: "more" },
        {
          what: "merge patch, 16 clients",
          unit: "/s",
          ours: ours.patched,
          peer: theirs.patched,
          better: "more",
        },
        {
          what: "server-side apply, 16 clients",
          unit: "/s",
          ours: ours.applied,
          peer: theirs.applied,
          better: "more",
        },
        {
          what: `events to ${watchers} watchers`,
          unit: "/s",
          ours: fanOut,
          peer: theirFanOut,
          better: "more",
        },
      ];
      return { name: "control-plane", peer: "kube-apiserver", rows };
    } finally {
      await real.close();
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

interface Launched {
  readonly child: ChildProcess;
  readonly kubeconfig: string;
}

async function launch(folder: string): Promise<Launched> {
  const kubeconfig = join(folder, "kubeconfig");
  const child = spawn(process.execPath, [program, "--kubeconfig", kubeconfig], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  await new Promise<void>((resolve, reject) => {
    child.once("exit", (code) => reject(new Error(`the control plane ended with ${code}`)));
    child.stdout?.setEncoding("utf8").on("data", (text: string) => {
      if (text.includes("ready in")) resolve();
    });
  });
  return { child, kubeconfig };
}

async function startOnce(folder: string): Promise<number> {
  const began = performance.now();
  const { child } = await launch(folder);
  const took = performance.now() - began;
  await end(child);
  return took;
}

async function startInProcess(): Promise<number> {
  const times: number[] = [];
  for (let i = 0; i < 5; i++) {
    const began = performance.now();
    const plane = await ControlPlane.start();
    await plane.listen();
    times.push(performance.now() - began);
    await plane.close();
  }
  return median(times);
}

async function end(child: ChildProcess): Promise<void> {
  const gone = new Promise<void>((resolve) => {
    child.removeAllListeners("exit");
    child.once("exit", () => resolve());
  });
  child.kill("SIGTERM");
  await gone;
}

async function residentBytes(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, "utf8");
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) * 1024;
}

const path = "/api/v1/namespaces/default/configmaps";

async function load(
  kubeconfig: string,
): Promise<{ created: number; got: number; patched: number; applied: number }> {
  const loader = await openLoader(kubeconfig, clients);
  const data = Object.fromEntries(Array.from({ length: 10 }, (_, index) => [`key${index}`, "x".repeat(100)]));
  const object = (name: string) =>
    JSON.stringify({ apiVersion: "v1", kind: "ConfigMap", metadata: { name }, data });
  const expectStatus = async (sent: Promise<number>, wanted: number) => {
    const status = await sent;
    if (status !== wanted) throw new Error(`expected ${wanted}, got ${status}`);
  };
  const rate = async (count: number, task: (loader: Loader, index: number) => Promise<void>) =>
    count / (await inParallel(count, clients, (index) => task(loader, index)));
  try {
    await rate(500, (to, index) => expectStatus(to.send("POST", path, object(`warm-${index}`)), 201));
    return {
      created: await rate(creates, (to, index) =>
        expectStatus(to.send("POST", path, object(`cm-${index}`)), 201),
      ),
      got: await rate(4_000, (to, index) => expectStatus(to.send("GET", `${path}/cm-${index}`), 200)),
      patched: await rate(2_000, (to, index) =>
        expectStatus(
          to.send(
            "PATCH",
            `${path}/cm-${index}`,
            JSON.stringify({ data: { patched: String(index) } }),
            "application/merge-patch+json",
          ),
          200,
        ),
      ),
      applied: await rate(2_000, (to, index) =>
        expectStatus(
          to.send(
            "PATCH",
            `${path}/applied-${index % 1_000}?fieldManager=bench&force=true`,
            object(`applied-${index % 1_000}`),
            "application/apply-patch+yaml",
          ),
          index < 1_000 ? 201 : 200,
        ),
      ),
    };
  } finally {
    loader.close();
  }
}

/**
 * So many watchers, each of which must see every event in order. @returns events delivered per
 * second, all watchers together
 */
async function watch(kubeconfig: string): Promise<number> {
  const loader = await openLoader(kubeconfig, 1);
  const streams = await Promise.all(Array.from({ length: watchers }, () => follow(kubeconfig)));
  const began = performance.now();
  for (let index = 0; index < watchedEvents; index++) {
    await loader.send(
      "POST",
      "/api/v1/namespaces/kube-public/configmaps",
      JSON.stringify({ metadata: { name: `event-${index}` } }),
    );
  }
  await Promise.all(streams.map(({ done }) => done));
  const seconds = (performance.now() - began) / 1_000;
  for (const { close } of streams) close();
  loader.close();
  return (watchers * watchedEvents) / seconds;
}

async function follow(kubeconfig: string): Promise<{ done: Promise<void>; close: () => void }> {
  const { server, ...tls } = await import("./load.ts").then(({ credentials }) => credentials(kubeconfig));
  const { hostname, port } = new URL(server);
  return new Promise((resolve, reject) => {
    const outgoing = request(
      {
        ...tls,
        host: hostname,
        port,
        path: "/api/v1/namespaces/kube-public/configmaps?watch=true&resourceVersion=0",
        agent: false,
      },
      (incoming) => {
        let rest = "";
        let next = 0;
        const done = new Promise<void>((finish, fail) => {
          incoming.setEncoding("utf8").on("data", (chunk: string) => {
            rest += chunk;
            const lines = rest.split("\n");
            rest = lines.pop() ?? "";
            for (const line of lines) {
              const name = /"name":"event-(\d+)"/.exec(line)?.[1];
              if (name === undefined) continue;
              if (Number(name) !== next) fail(new Error(`saw event ${name}, expected ${next}`));
              if (++next === watchedEvents) finish();
            }
          });
        });
        incoming.once("error", () => undefined);
        resolve({ done, close: () => outgoing.destroy() });
      },
    );
    outgoing.once("error", reject);
    outgoing.end();
  });
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}
