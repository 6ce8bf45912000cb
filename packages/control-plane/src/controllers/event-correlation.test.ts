import fc from "fast-check";
import { expect, test } from "vitest";
import { eventCorrelator, type Saying } from "./event-correlation.ts";

const saying = (message: string, about = "pod"): Saying => ({
  about,
  fieldPath: "",
  type: "Normal",
  reason: "Created",
  message,
});

test("what is said again is counted", () => {
  const correlate = eventCorrelator();
  const first = correlate(saying("hello"), 0);
  expect(first).toMatchObject({ at: "new", message: "hello", count: 1 });
  if (first.at === "new") first.remember("pod.1");
  expect(correlate(saying("hello"), 1)).toMatchObject({ at: "again", name: "pod.1", count: 2 });
  expect(correlate(saying("hello", "other"), 1)).toMatchObject({ at: "new" });
});

test("the tenth different message of one reason shares an event with those that follow it", () => {
  const correlate = eventCorrelator();
  for (let number = 1; number < 10; number++) {
    expect(correlate(saying(`m${number}`), 0)).toMatchObject({ at: "new", message: `m${number}` });
  }
  const tenth = correlate(saying("m10"), 0);
  expect(tenth).toMatchObject({ at: "new", message: "(combined from similar events): m10" });
  if (tenth.at === "new") tenth.remember("combined");
  expect(correlate(saying("m11"), 0)).toMatchObject({
    at: "again",
    name: "combined",
    message: "(combined from similar events): m11",
    count: 2,
  });
  expect(correlate(saying("m12"), 600_001)).toMatchObject({ at: "new", message: "m12" });
});

test("an object is talked about 25 times at once, then once every five minutes", () => {
  const correlate = eventCorrelator();
  const told = (nowMs: number) => correlate(saying("again"), nowMs).at !== "dropped";
  expect(Array.from({ length: 40 }, () => told(0)).filter(Boolean)).toHaveLength(25);
  expect(told(299_000)).toBe(false);
  expect(told(301_000)).toBe(true);
  expect(told(301_000)).toBe(false);
});

test("the count of an event never goes down, whatever else is said", () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.nat(14), fc.nat(400_000)), { maxLength: 60 }), (sayings) => {
      const correlate = eventCorrelator();
      const counts = new Map<string, number>();
      let now = 0;
      for (const [message, later] of sayings) {
        now += later;
        const made = correlate(saying(String(message)), now);
        if (made.at === "dropped") continue;
        const name = made.at === "again" ? made.name : `event-${counts.size}`;
        expect(made.count).toBeGreaterThan(counts.get(name) ?? 0);
        counts.set(name, made.count);
        if (made.at === "new") made.remember(name);
      }
    }),
  );
});
