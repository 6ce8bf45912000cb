import { expect, test } from "vitest";
import { listeningIn, type Reply, TrafficWatch } from "./traffic-watch.ts";

const reply = (address: string, requests: number, instance = "1", port = 8013): Reply => ({
  address,
  port,
  report: {
    namespace: "shop",
    service: "web",
    step: 1,
    instance,
    requests,
    held: 0,
    inFlight: 0,
    isListening: true,
    upstreamConnections: 0,
  },
});

test("a request that comes to any replica after a sleep has begun is noticed", () => {
  const watch = new TrafficWatch();
  expect(watch.hasMore("shop/web", 1, [reply("a", 5), reply("b", 7)])).toBe(false);
  expect(watch.hasMore("shop/web", 1, [reply("a", 5), reply("b", 7)])).toBe(false);
  expect(watch.hasMore("shop/web", 1, [reply("a", 6), reply("b", 7)])).toBe(true);
  // The next attempt begins with what there is.
  expect(watch.hasMore("shop/web", 2, [reply("a", 6), reply("b", 7)])).toBe(false);
});

test("a replica that restarts, and so counts from zero again, hides no request", () => {
  const watch = new TrafficWatch();
  watch.hasMore("shop/web", 1, [reply("a", 500), reply("b", 7)]);
  expect(watch.hasMore("shop/web", 1, [reply("a", 0, "2"), reply("b", 7)])).toBe(false);
  expect(watch.hasMore("shop/web", 1, [reply("a", 0, "2"), reply("b", 8)])).toBe(true);
  expect(watch.hasMore("shop/web", 1, [reply("a", 1, "2"), reply("b", 7)])).toBe(true);
});

test("a replica that does not answer at first is compared with its first answer", () => {
  const watch = new TrafficWatch();
  watch.hasMore("shop/web", 1, [{ address: "a", port: 8013, report: undefined }]);
  expect(watch.hasMore("shop/web", 1, [reply("a", 5)])).toBe(false);
  expect(watch.hasMore("shop/web", 1, [reply("a", 6)])).toBe(true);
});

test("the processes of a replica count each for itself", () => {
  const watch = new TrafficWatch();
  const both = (first: number, second: number) => [reply("a", first), reply("a", second, "2", 8014)];
  expect(watch.hasMore("shop/web", 1, both(500, 3))).toBe(false);
  expect(watch.hasMore("shop/web", 1, both(500, 4))).toBe(true);
  expect(watch.hasMore("shop/web", 1, [reply("a", 500)])).toBe(false);
});

test("a replica takes connections as soon as one of its processes listens", () => {
  const silent = ({ report, ...of }: Reply): Reply => ({
    ...of,
    report: report && { ...report, isListening: false },
  });
  const [first, second] = [reply("a", 0), reply("a", 0, "2", 8014)];
  expect(listeningIn([first, silent(second)])).toEqual(new Map([["a", true]]));
  expect(listeningIn([silent(first), second])).toEqual(new Map([["a", true]]));
  expect(listeningIn([silent(first), silent(second)])).toEqual(new Map([["a", false]]));
  // Not known: the other does not answer.
  expect(listeningIn([{ ...first, report: undefined }])).toEqual(new Map());
});
