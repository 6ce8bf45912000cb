import { ManualClock } from "@windlass/clock";
import { existing, testSource } from "@windlass/testing";
import { expect, test } from "vitest";
import { ElastiService, type ElastiServiceObject } from "../service/elasti-service.ts";
import { TriggerEvaluator } from "./evaluator.ts";
import { TriggerError } from "./number-source.ts";
import { Prometheus } from "./prometheus.ts";
import { recordedReleases } from "./recorded-releases.fixture.ts";
import { isNewNeed, withNeed } from "./wake-ahead.ts";

const minute = 60_000;
const hour = 60 * minute;
const requests = recordedReleases.map((time) => Date.parse(time));
const start = Date.UTC(2026, 8, 28);
const end = Date.UTC(2026, 9, 31);
/** The first week is for learning alone. */
const countedFrom = start + 7 * 24 * hour;

const wakeAhead = { lead: "2m", timeZone: "UTC" } as const;

/** A service as it is at a moment. */
function service(isAhead: boolean, history: readonly number[], wokenAt: number): ElastiServiceObject {
  const iso = (at: number) => new Date(at).toISOString();
  const metadata = {
    namespace: "shop",
    name: "hook",
    uid: "hook",
    resourceVersion: "1",
    creationTimestamp: iso(start),
  };
  const spec = {
    scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "hook" },
    service: "hook",
    cooldownPeriod: 900,
    minTargetReplicas: 1,
    onDelete: "Restore",
    triggers: [{ type: "traffic" }],
    ...(isAhead && { wakeAhead }),
  } as const;
  const status = { lastScaledUpTime: iso(wokenAt), neededTimes: history.map(iso) };
  return existing(ElastiService, { metadata, spec, status }).object;
}

/** Plays the requests to the evaluator that the operator runs, and follows what it asks for. */
async function play(isAhead: boolean) {
  const clock = new ManualClock(start);
  let history: readonly number[] = [];
  let wokenAt = start;
  let isAwake = true;
  let count = 0;
  let current = service(isAhead, history, wokenAt);
  const evaluator = new TriggerEvaluator({
    prometheus: new Prometheus(() => Promise.reject(new TriggerError("no server")), {}),
    fetchJson: () => Promise.reject(new TriggerError("no server")),
    countRequests: () => Promise.resolve({ requests: count, inFlight: 0, stamp: String(count) }),
    intervalMs: minute,
  });
  using _tried = testSource(evaluator.source, { clock, cache: () => [existing(ElastiService, current)] });
  const figures = { requests: 0, coldStarts: 0, awakeHours: 0 };
  let next = 0;
  for (let now = start; now < end; now += minute) {
    const isCounted = now >= countedFrom;
    for (let at = requests[next]; at !== undefined && at < now; at = requests[++next]) {
      count += 1;
      if (isCounted) figures.requests += 1;
      if (!isAwake && isCounted) figures.coldStarts += 1;
      // As the operator writes its status: the request that wakes, or the first one after a wake.
      if (!isAwake || isNewNeed(history, wokenAt, at)) history = withNeed(history, at);
      if (!isAwake) [isAwake, wokenAt] = [true, at];
      current = service(isAhead, history, wokenAt);
    }
    await clock.advance(minute);
    const wish = evaluator.wishOf(current);
    if (wish === "sleep") isAwake = false;
    else if (wish === "wake" && !isAwake) {
      [isAwake, wokenAt] = [true, clock.now()];
      current = service(isAhead, history, wokenAt);
    }
    if (isAwake && isCounted) figures.awakeHours += minute / hour;
  }
  return figures;
}

test("waking ahead spares cold starts of recorded requests, for a few more hours awake", {
  timeout: 60_000,
}, async () => {
  const without = await play(false);
  const ahead = await play(true);
  process.stdout.write(
    `recorded releases, ${without.requests} requests in ${(end - countedFrom) / hour} h: cold starts ` +
      `${without.coldStarts} → ${ahead.coldStarts}, awake ${without.awakeHours.toFixed(0)} h → ${ahead.awakeHours.toFixed(0)} h\n`,
  );
  expect(ahead.requests).toBe(without.requests);
  expect(ahead.coldStarts).toBeLessThan(without.coldStarts);
});
