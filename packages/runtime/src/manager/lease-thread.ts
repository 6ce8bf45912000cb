import { writeSync } from "node:fs";
import { parentPort, workerData } from "node:worker_threads";
import { Client, openTransport } from "@windlass/client";
import { type Clock, systemClock, systemRandom } from "@windlass/clock";
import { campaign } from "./elector.ts";
import { LeaseFence, threadClock } from "./fence.ts";
import type { LeaseThreadData, LeaseThreadMessage } from "./leadership.ts";
import { Pulse, pulseReader } from "./stall.ts";

const { access, rules, lease, fence: memory, pulse: pulseMemory, patienceMs } = workerData as LeaseThreadData;
const clock: Clock = { ...threadClock, schedule: systemClock.schedule };
const fence = new LeaseFence(threadClock, memory);
const stop = new AbortController();
const say = (message: LeaseThreadMessage) => parentPort?.postMessage(message);

parentPort?.on("message", () => stop.abort(new Error("the campaign was ended")));

const pulse = new Pulse(pulseMemory);
const readPulse = pulseReader(pulse);
const watching = setInterval(
  () => {
    const line = readPulse();
    // What a thread logs goes through the main one, which is the very one that stands still.
    if (line !== undefined) writeSync(2, `${line}\n`);
    // Should the main thread wake after all, it finds its fence closed, and starts another of these.
    if (pulse.missingMs(threadClock.monotonic()) > patienceMs)
      stop.abort(new Error("the main thread stands still"));
  },
  Math.min(1_000, patienceMs),
);

await using client = new Client({
  transport: openTransport(access),
  userAgent: `windlass-lease/${rules.identity}`,
});
let wasLeading = false;
await campaign({
  client,
  clock,
  random: systemRandom,
  rules,
  lease,
  signal: stop.signal,
  onState(state) {
    const isLeading = state.at === "leading";
    if (isLeading) fence.openUntil(state.until);
    else fence.close();
    if (isLeading !== wasLeading) say({ type: "state", isLeading });
    wasLeading = isLeading;
  },
  onContact: (failure) => say({ type: "contact", failure }),
  onSlowRenewal: () => say({ type: "slowRenewal" }),
});
clearInterval(watching);
parentPort?.close();
