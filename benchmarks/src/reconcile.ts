import { spawn } from "node:child_process";
import { join } from "node:path";
import { startBinaries } from "@windlass/testing";
import { inParallel, openLoader } from "./load.ts";
import { bundle } from "./ours.ts";
import { findPeer, median, runPeer } from "./peer.ts";
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
/**
 * A short run is mostly code that is not compiled yet; a long one is what an operator does all day.
 */
const runs = [
  { seconds: 8, rounds: 3 },
  { seconds: 60, rounds: 3 },
] as const;
const dispatchSeconds = 4;

export const needs = [findAssets, () => findPeer()];

/**
 * From event to reconcile. Both controllers do the same, each in a process of its own, and the same
 * driver (the peer's) changes the objects over a connection of its own.
 */
export async function run(): Promise<Result> {
  const assets = findAssets();
  const peer = await findPeer();
  const ours = await bundle(join(import.meta.dirname, "reconcile-child.ts"), "reconcile-child");
  const server = await startBinaries(assets);
  try {
    const kubeconfig = await server.kubeconfig();
    const common = ["--kubeconfig", kubeconfig, "--objects", objects, "--workers", workers].map(String);
    const driven = async (side: Side, seconds: number, flags: readonly string[]): Promise<Figures> => {
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
    const rows: Row[] = [];
    for (const { seconds, rounds } of runs) {
      const steady = await both(rounds, (side) => driven(side, seconds, ["--rate", String(rate)]));
      const saturated = await both(rounds, (side) => driven(side, seconds, []));
      rows.push(...steadyRows(steady, seconds), ...saturatedRows(saturated, seconds));
    }
    const dispatch = await both(1, async (side) => {
      if (side === "ours") return await dispatchOfOurs(ours, kubeconfig);
      const flags = [...common, "--seconds", String(dispatchSeconds), "--noop", "--local"];
      const { cpu_seconds, controller } = (await runPeer(peer, ["reconcile", ...flags])) as PeerFigures;
      return { ...controller, cpu_seconds };
    });
    return {
      name: "reconcile",
      peer: "controller-runtime",
      rows: [
        ...rows,
        row("dispatch alone", "/s", "more", dispatch, (one) => one.reconciles_per_second),
        row("dispatch alone, per second of CPU", "/s", "more", dispatch, perCpuSecond),
      ],
      notes: [
        `${objects} objects, ${workers} workers, one patch per event. Latency is from just before the driver's request until a reconcile reads its change.`,
        `Runs of ${runs[0].seconds} s are medians of ${runs[0].rounds}, those of ${runs[1].seconds} s of ${runs[1].rounds}, taken in turn.`,
        "Server and driver run on the same cores; saturated, the server is the limit. Dispatch: the peer's workers run on all cores, ours on one.",
      ],
    };
  } finally {
    await server.close();
  }
}

type Side = "ours" | "peer";
type Both = Readonly<Record<Side, readonly Figures[]>>;

function steadyRows(figures: Both, seconds: number): Row[] {
  const at = `at ${rate}/s for ${seconds} s`;
  return [
    row(`event to reconcile ${at}, p50`, "ms", "less", figures, (one) => one.latency_ms.p50),
    row(`event to reconcile ${at}, p99`, "ms", "less", figures, (one) => one.latency_ms.p99),
    row(`CPU ${at}`, "s", "less", figures, (one) => one.cpu_seconds),
  ];
}

function saturatedRows(figures: Both, seconds: number): Row[] {
  const saturated = `saturated for ${seconds} s`;
  const cpuPerPatch = (one: Figures) => one.cpu_seconds / (one.writes_per_second * seconds);
  return [
    row(`${saturated}: reconciles`, "/s", "more", figures, (one) => one.reconciles_per_second),
    row(`${saturated}: patches`, "/s", "more", figures, (one) => one.writes_per_second),
    row(`${saturated}: CPU per 1,000 patches`, "s", "less", figures, (one) => cpuPerPatch(one) * 1_000),
  ];
}

function row(
  what: string,
  unit: string,
  better: Row["better"],
  { ours, peer }: Both,
  pick: (one: Figures) => number,
): Row {
  return { what, unit, ours: median(ours.map(pick)), peer: median(peer.map(pick)), better };
}

function perCpuSecond({ reconciles_per_second, cpu_seconds }: Figures): number {
  return (reconciles_per_second * dispatchSeconds) / cpu_seconds;
}

async function both(rounds: number, measure: (side: Side) => Promise<Figures>): Promise<Both> {
  const figures: Record<Side, Figures[]> = { ours: [], peer: [] };
  for (let round = 0; round < rounds; round++)
    for (const side of ["ours", "peer"] as const) figures[side].push(await measure(side));
  return figures;
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
