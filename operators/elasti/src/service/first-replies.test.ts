import { ManualClock } from "@windlass/clock";
import { expect, test } from "vitest";
import { firstReplies } from "./first-replies.ts";

const silent = new Promise<string>(() => undefined);
const missing = () => "missing";

test("all answers are returned as soon as they are there", async () => {
  const clock = new ManualClock();
  const asked = [Promise.resolve("a"), Promise.resolve("b")];
  expect(await firstReplies(asked, missing, { clock, graceMs: 100 })).toEqual(["a", "b"]);
  expect(await firstReplies([], missing, { clock, graceMs: 100 })).toEqual([]);
});

test("one that does not answer is waited for only for a moment after another has answered", async () => {
  const clock = new ManualClock();
  const slow = Promise.withResolvers<string>();
  let replies: readonly string[] | undefined;
  void firstReplies([silent, slow.promise], missing, { clock, graceMs: 100 }).then((all) => {
    replies = all;
  });
  await clock.advance(1_000);
  expect(replies).toBeUndefined();
  slow.resolve("b");
  await clock.advance(99);
  expect(replies).toBeUndefined();
  await clock.advance(1);
  expect(replies).toEqual(["missing", "b"]);
});
