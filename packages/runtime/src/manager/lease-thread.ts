import { writeSync } from "node:fs";
import { parentPort, workerData } from "node:worker_threads";
import { Client, openTransport } from "@windlass/client";
import { type Clock, systemClock, systemRandom } from "@windlass/clock";
import type { LeaseThreadData, LeaseThreadMessage } from "./compete.ts";
import { campaign } from "./elector.ts";
import { LeaseMemory, threadClock } from "./fence.ts";
import { Pulse, pulseReader } from "./stall.ts";

const {
  access,
  rules,
  lease: address,
  memory,
  pulse: pulseMemory,
  patienceMs,
} = workerData as LeaseThreadData;
const clock: Clock = { ...threadClock, schedule: systemClock.schedule };
const lease = new LeaseMemory(threadClock, memory);
const release = new AbortController();
const abandon = new AbortController();
const say = (message: LeaseThreadMessage) => parentPort?.postMessage(message);

parentPort?.on("message", () => release.abort(new Error("the campaign was ended")));

const pulse = new Pulse(pulseMemory);
const readPulse = pulseReader(pulse);
const watching = setInterval(
  () => {
    const line = readPulse();
    // What a thread logs goes through the main one, which is the one that is blocked.
    if (line !== undefined) writeSync(2, `${line}\n`);
    // Should the main thread wake after all, it finds its fence closed, and starts another of
    // these. Until then it is unknown whether its last writes have arrived, so the lease is not
    // released.
    if (pulse.missingMs(threadClock.monotonic()) > patienceMs)
      abandon.abort(new Error("the main thread stands still"));
  },
  Math.min(1_000, patienceMs),
);

await using client = new Client({
  transport: openTransport(access),
  userAgent: `windlass-lease/${rules.identity}`,
});
await campaign({
  client,
  clock,
  random: systemRandom,
  rules,
  lease: address,
  release: release.signal,
  abandon: abandon.signal,
  onState(state) {
    lease.follow(state);
    say({ type: "looked" });
  },
  onContact: (failure) => say({ type: "contact", failure }),
  onSlowRenewal: () => say({ type: "slowRenewal" }),
});
lease.letGo();
clearInterval(watching);
parentPort?.close();
