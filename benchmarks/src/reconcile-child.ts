/**
 * The controller that `cr-bench reconcile --role controller` runs, on Windlass: copies `data.tick`
 * of ConfigMaps to an annotation. Started by reconcile.ts, in a process of its own, while the
 * peer's driver writes the ticks.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { ObjectKey } from "@windlass/client";
import { controller, manager, silentLogger } from "@windlass/runtime";
import { ConfigMap } from "@windlass/runtime/kinds";

const input = JSON.parse(process.argv[2] ?? "{}") as {
  kubeconfig: string;
  workers: number;
  seconds: number;
  /** Dispatch alone: every reconcile asks for the next one of its object, and none writes. */
  local: boolean;
};
const seenKey = "bench/seen";

let reconciles = 0;
let writes = 0;
const seen = new Map<string, number>();
const latencies: number[] = [];
const { promise: ticking, resolve: ticked } = Promise.withResolvers<void>();
let again: ((key: ObjectKey) => void) | undefined;

const bench = controller(ConfigMap, {
  name: "bench",
  concurrency: input.workers,
  scope: { namespace: "default", labelSelector: "bench=reconcile" },
  sources: [
    ({ enqueue }) => {
      if (input.local) again = enqueue;
    },
  ],
  async reconcile({ metadata, data }, { client, key }) {
    reconciles += 1;
    if (again) {
      again(key);
      return;
    }
    const tick = data?.tick ?? "0";
    observe(metadata.name, Number(tick) / 1e6);
    if (metadata.annotations?.[seenKey] === tick) return;
    const patch = { metadata: { annotations: { [seenKey]: tick } } };
    await client.patch(ConfigMap, key, { type: "merge", patch });
    writes += 1;
  },
});

const running = manager({
  kubeconfig: input.kubeconfig,
  health: false,
  metrics: false,
  log: silentLogger,
}).add(bench);
await running.start();
process.stderr.write("started\n");
if (input.local) await sleep(500);
else await ticking;

const before = { reconciles, writes };
const cpu = process.cpuUsage();
const began = performance.now();
await sleep(input.seconds * 1_000);
const seconds = (performance.now() - began) / 1_000;
const { user, system } = process.cpuUsage(cpu);
const result = {
  reconciles_per_second: (reconciles - before.reconciles) / seconds,
  writes_per_second: (writes - before.writes) / seconds,
  cpu_seconds: (user + system) / 1e6,
};
await quiet();
latencies.sort((a, b) => a - b);
const at = (share: number) => latencies[Math.floor(latencies.length * share)] ?? 0;
process.stdout.write(JSON.stringify({ ...result, latency_ms: { p50: at(0.5), p99: at(0.99) } }));
process.exit(0);

/** The latency of a tick, once per object and tick. */
function observe(name: string, tickMs: number): void {
  if (tickMs <= (seen.get(name) ?? 0)) return;
  seen.set(name, tickMs);
  latencies.push(performance.timeOrigin + performance.now() - tickMs);
  ticked();
}

/** The driver waits for its last ticks. */
async function quiet(): Promise<void> {
  if (input.local) return;
  for (let last = -1; last !== reconciles; ) {
    last = reconciles;
    await sleep(1_000);
  }
}
