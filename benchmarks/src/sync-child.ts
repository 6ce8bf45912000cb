/** Fills a cache once and prints what it cost. Started by sync.ts, in a process of its own. */
import { readFileSync } from "node:fs";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import { type AnyKind, connect } from "@windlass/client";
import { createCache } from "@windlass/runtime";

const { kubeconfig, kind, metadataOnly } = JSON.parse(process.argv[2] ?? "{}") as {
  kubeconfig: string;
  kind: AnyKind;
  metadataOnly: boolean;
};
const sampleMs = 1;

const client = await connect({ kubeconfig });
const cache = createCache({ source: client });
// The peer has asked for the server's resources by now, so its connection and all that it takes are
// there too.
await client.text({ path: "/version" });
await settle();
const baseline = resident();

const stalls = monitorEventLoopDelay({ resolution: sampleMs });
stalls.enable();
const cpu = process.cpuUsage();
const began = performance.now();
const informer = cache.informer(kind, metadataOnly ? { metadataOnly } : {});
await informer.synced;
const wallSeconds = (performance.now() - began) / 1_000;
const { user, system } = process.cpuUsage(cpu);
stalls.disable();
const peak = memory("VmHWM");
await sleep(1_000);
await settle();
const objects = cache.stats()[0]?.items ?? 0;
process.stdout.write(
  JSON.stringify({
    objects,
    wall_seconds: wallSeconds,
    cpu_seconds: (user + system) / 1e6,
    bytes_per_object: (resident() - baseline) / objects,
    baseline_rss_bytes: baseline,
    peak_rss_bytes: peak,
    longest_stall_ms: stalls.max / 1e6 - sampleMs,
  }),
);
await cache.stop();
await client.close();

async function settle(): Promise<void> {
  for (let round = 0; round < 2; round++) {
    globalThis.gc?.({ type: "major", execution: "sync", flavor: "last-resort" });
    await sleep(10);
  }
}

function resident(): number {
  return memory("VmRSS");
}

function memory(line: "VmRSS" | "VmHWM"): number {
  const status = readFileSync("/proc/self/status", "utf8");
  return Number(new RegExp(`${line}:\\s+(\\d+)`).exec(status)?.[1] ?? 0) * 1024;
}
