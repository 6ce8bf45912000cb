import { afterEach, beforeEach, expect, test } from "vitest";
import { StandInScheduler } from "../../testing/stand-in-scheduler.ts";
import { BuildQueue, type Queue } from "./build-queue.ts";

const queue: Queue = {
  instanceNamePrefix: "",
  platform: [{ name: "OSFamily", value: "linux" }],
  sizeClass: 0,
};
const soon = () => AbortSignal.timeout(5_000);

let scheduler: StandInScheduler;
beforeEach(async () => {
  scheduler = await StandInScheduler.start(queue);
});
afterEach(() => scheduler[Symbol.asyncDispose]());

test("threads are counted by pod, with what they run", async () => {
  using builds = new BuildQueue(scheduler.address);
  scheduler.join("worker-a", 2);
  scheduler.join("worker-b", 2);
  scheduler.enqueue(9);
  scheduler.complete("worker-b", 2);
  expect(await builds.look(queue, 100, soon())).toEqual({
    exists: true,
    queued: 3,
    pods: [
      { name: "worker-a", threads: 2, executing: 2, isDrained: false },
      { name: "worker-b", threads: 2, executing: 2, isDrained: false },
    ],
    drains: [],
  });
});

test("all workers of all queues are drained, also those that come later, and undrained", async () => {
  using builds = new BuildQueue(scheduler.address);
  scheduler.join("worker-a", 2);
  scheduler.enqueue(2);
  expect(await builds.drainAll(soon())).toBe(2);
  scheduler.enqueue(3);
  scheduler.join("worker-b", 2);
  scheduler.complete("worker-a");
  expect(await builds.drainAll(soon())).toBe(0);
  const { queued, drains, pods } = await builds.look(queue, 100, soon());
  expect([queued, drains, pods.every(({ isDrained }) => isDrained)]).toEqual([3, [], true]);
  await builds.undrainAll(soon());
  await builds.undrainAll(soon());
  expect(scheduler.queued).toBe(0);
});

test("a long queue is counted page by page, and no further than asked", async () => {
  using builds = new BuildQueue(scheduler.address);
  scheduler.enqueue(1_234);
  expect(await builds.look(queue, 10_000, soon())).toMatchObject({ queued: 1_234 });
  expect(await builds.look(queue, 700, soon())).toMatchObject({ queued: 700 });
});

test("pods beyond a page are all found", async () => {
  using builds = new BuildQueue(scheduler.address);
  for (let index = 0; index < 200; index++) scheduler.join(`worker-${String(index).padStart(3, "0")}`, 8);
  const { pods } = await builds.look(queue, 1, soon());
  expect(pods).toHaveLength(200);
  expect(pods.every(({ threads }) => threads === 8)).toBe(true);
});

test.for([
  ["size class", { ...queue, sizeClass: 1 }],
  ["instance name prefix", { ...queue, instanceNamePrefix: "large" }],
  ["platform", { ...queue, platform: [...queue.platform, { name: "arch", value: "arm64" }] }],
  ["value of a property", { ...queue, platform: [{ name: "OSFamily", value: "windows" }] }],
] as const)("another %s is another queue", async ([, other]) => {
  using builds = new BuildQueue(scheduler.address);
  scheduler.enqueue(3);
  expect(await builds.look(other, 100, soon())).toEqual({ exists: false, queued: 0, pods: [], drains: [] });
});

test("a drained pod gets no new actions, until that is taken back; which may be done twice", async () => {
  using builds = new BuildQueue(scheduler.address);
  scheduler.join("worker-a", 1);
  await builds.drain(queue, "worker-a", soon());
  scheduler.enqueue(1);
  expect(await builds.look(queue, 100, soon())).toMatchObject({
    queued: 1,
    drains: ["worker-a"],
    pods: [{ executing: 0, isDrained: true }],
  });
  await builds.undrain(queue, "worker-a", soon());
  await builds.undrain(queue, "worker-a", soon());
  expect(await builds.look(queue, 100, soon())).toMatchObject({
    queued: 0,
    drains: [],
    pods: [{ executing: 1 }],
  });
});

test("a scheduler that is not there is an error with a code", async () => {
  using builds = new BuildQueue("127.0.0.1:1");
  await expect(builds.look(queue, 1, soon())).rejects.toMatchObject({ code: "UNAVAILABLE" });
});
