import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { ManualClock, seededRandom } from "@windlass/clock";
import { expect, test } from "vitest";
import { createQueue, type NamespacedKey } from "./queue.ts";

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

test("no key is held once it is idle, by whatever way it became so", async () => {
  const clock = new ManualClock();
  const queue = createQueue<NamespacedKey>({ clock, random: seededRandom(1) });
  const references = Array.from({ length: 200 }, (_, index) => {
    const key = { namespace: `n${index % 7}`, name: `k${index}` };
    queue.add(key, { priority: index % 5, after: index % 3 });
    return new WeakRef(key);
  });
  await clock.advance(10);
  for (let taken = queue.tryTake(), count = 0; taken; taken = queue.tryTake(), count++) {
    if (count % 4 === 1) taken.retry();
    else if (count % 4 === 2) taken.retryAfter(count % 8);
    else taken.done();
  }
  await clock.advance(60_000);
  for (let taken = queue.tryTake(); taken; taken = queue.tryTake()) taken.done();
  for (let round = 0; round < 20 && references.some((one) => one.deref() !== undefined); round++) {
    await new Promise((resolve) => setImmediate(resolve));
    collectGarbage();
  }
  expect(references.filter((reference) => reference.deref() !== undefined)).toEqual([]);
  expect(queue.depth + queue.delayed + queue.running).toBe(0);
});
