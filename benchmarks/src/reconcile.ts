import { spawn } from "node:child_process";
import { join } from "node:path";
import { startBinaries } from "@windlass/testing";
import { inParallel, openLoader } from "./load.ts";
import { bundle } from "./ours.ts";
import { findPeer, runPeer } from "./peer.ts";
import { findAssets } from "./real-server.ts";
import type { Result, Row } from "./table.ts";

interface Figures {
  readonly reconciles_per_second: number;
  readonly writes_per_second: number;
  readonly cpu_seconds: number;
  readonly latency_ms: { readonly p50: number; readonly p99: number };
}

interface PeerFigures {
  readonly cpu_seconds: number;
  readonly controller: Omit<Figures, "cpu_seconds">;
}

const objects = 500;
const workers = 4;
const rate = 200;
const seconds = 8;
const dispatchSeconds = 4;

/**
 * From event to reconcile. Both controllers do the same, each in a process of its own, and the same driver (the peer's) changes the objects
 * over a connection of its own.
 */
export async function run(): Promise<Result> {
  const assets = findAssets();
  const peer = await findPeer();
  const ours = await bundle(join(import.meta.dirname, "reconcile-child.ts"), "reconcile-child");
  const server = await startBinaries(assets);
  try {
    const kubeconfig = await server.kubeconfig();
    const common = ["--kubeconfig", kubeconfig, "--objects", objects, "--workers", workers].map(String);
    const driven = async (side: "ours" | "peer", flags: readonly string[]): Promise<Figures> => {
      const shared = ["reconcile", ...common, "--seconds", String(seconds), ...flags];
      const input = JSON.stringify({ kubeconfig, workers, seconds, local: false });
      const controller =
        side === "ours"
          ? printed(process.execPath, [ours, input], { NODE_ENV: "production" })
          : printed(peer, [...shared, "--role", "controller"], {});
      await runPeer(peer, [...shared, "--role", "driver"]);
      const result = JSON.parse(await controller) as Figures | PeerFigures;
      return "controller" in result ? { ...result.controller, cpu_seconds: result.cpu_seconds } : result;
    };
    const steady = await both((side) => driven(side, ["--rate", String(rate)]));
    const saturated = await both((side) => driven(side, []));
    const dispatch = await both(async (side) => {
      if (side === "ours") return await dispatchOfOurs(ours, kubeconfig);
      const flags = [...common, "--seconds", String(dispatchSeconds), "--noop", "--local"];
      const { cpu_seconds, controller } = (await runPeer(peer, ["reconcile", ...flags])) as PeerFigures;
      return { ...controller, cpu_seconds };
    });
    const row = (
      what: string,
      unit: string,
      better: Row["better"],
      of: { ours: Figures; peer: Figures },
      pick: (one: Figures) => number,
    ): Row => ({
      what,
      unit,
      ours: pick(of.ours),
      peer: pick(of.peer),
      better,
    });
    return {
      name: "reconcile",
      peer: "controller-runtime",
      rows: [
        row(`event to reconcile at ${rate}/s, p50`, "ms", "less", steady, (one) => one.latency_ms.p50),
        row(`event to reconcile at ${rate}/s, p99`, "ms", "less", steady, (one) => one.latency_ms.p99),
        row(`CPU of ${seconds} s at ${rate}/s`, "s", "less", steady, (one) => one.cpu_seconds),
        row("saturated: reconciles", "/s", "more", saturated, (one) => one.reconciles_per_second),
        row("saturated: patches", "/s", "more", saturated, (one) => one.writes_per_second),
        row(
          "saturated: CPU per 1,000 patches",
          "s",
          "less",
          saturated,
          (one) => (one.cpu_seconds / (one.writes_per_second * seconds)) * 1_000,
        ),
        row("dispatch alone", "/s", "more", dispatch, (one) => one.reconciles_per_second),
        row("dispatch alone, per second of CPU", "/s", "more", dispatch, perCpuSecond),
      ],
      notes: [
        `${objects} objects, ${workers} workers, one patch per event. Latency is from just before the driver's request until a reconcile reads its change.`,
        "Server and driver run on the same cores; saturated, the server is the limit. Dispatch: the peer's workers run on all cores, ours on one.",
      ],
    };
  } finally {
    await server.close();
  }
}

function perCpuSecond({ reconciles_per_second, cpu_seconds }: Figures): number {
  return (reconciles_per_second * dispatchSeconds) / cpu_seconds;
}

async function both(
  measure: (side: "ours" | "peer") => Promise<Figures>,
): Promise<{ ours: Figures; peer: Figures }> {
  return { ours: await measure("ours"), peer: await measure("peer") };
}

/** Every reconcile asks for the next one of its object: the server only has to have the objects. */
async function dispatchOfOurs(program: string, kubeconfig: string): Promise<Figures> {
  const loader = await openLoader(kubeconfig, 8);
  const path = "/api/v1/namespaces/default/configmaps";
  const labels = { bench: "reconcile" };
  try {
    await inParallel(objects, 8, async (index) => {
      const object = { metadata: { name: `bench-dispatch-${index}`, labels }, data: { tick: "0" } };
      await loader.send("POST", path, JSON.stringify(object));
    });
    const input = JSON.stringify({ kubeconfig, workers, seconds: dispatchSeconds, local: true });
    return JSON.parse(
      await printed(process.execPath, [program, input], { NODE_ENV: "production" }),
    ) as Figures;
  } finally {
    await loader.send("DELETE", `${path}?labelSelector=bench%3Dreconcile`);
    loader.close();
  }
}

/** Runs a program beside others. @returns what it printed */
function printed(program: string, args: readonly string[], environment: NodeJS.ProcessEnv): Promise<string> {
  const child = spawn(program, args, {
    stdio: ["ignore", "pipe", "ignore"],
    env: { ...process.env, ...environment },
  });
  let text = "";
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
    text += chunk;
  });
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) =>
      code === 0 ? resolve(text) : reject(new Error(`${program} ended with ${code}`)),
    );
  });
}
