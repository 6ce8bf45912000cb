import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { ManualClock } from "@windlass/clock";
import { expect, test, vi } from "vitest";
import { HotLoopDetector } from "./hot-loop.ts";
import { appController, key, ModelRun, running, WebApp } from "./model-run.fixture.ts";

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

async function isCollected(reference: WeakRef<object>): Promise<boolean> {
  for (let round = 0; round < 20 && reference.deref() !== undefined; round++) {
    await new Promise((resolve) => setImmediate(resolve));
    collectGarbage();
  }
  return reference.deref() === undefined;
}

test("nothing that a reconcile returned is kept", async () => {
  let returned: WeakRef<object> | undefined;
  const run = await running(
    appController({
      reconcile: () => {
        const detail = { large: "x".repeat(100) };
        returned = new WeakRef(detail);
        return { status: { detail } };
      },
    }),
  );
  if (!returned) throw new Error("it was not reconciled");
  expect(await isCollected(returned)).toBe(true);
  await run.manager.stop();
});

test("what is remembered of an object goes with it", async () => {
  const run = new ModelRun();
  const large = "x".repeat(100_000);
  // What the server makes of it differs, and that is remembered.
  run.cluster.normalise = (object) => {
    if (typeof object.status === "object" && object.status !== null)
      Object.assign(object.status, { url: `${large}${(object.metadata as { name: string }).name}` });
  };
  run.manager.add(appController({ reconcile: () => ({ status: { url: "http://web" } }) }));
  await run.manager.start();
  const names = Array.from({ length: 200 }, (_, index) => `app-${index}`);
  const heap = () => {
    collectGarbage();
    return process.memoryUsage().heapUsed;
  };
  const before = heap();
  for (const name of names) run.put({}, name);
  await run.settle();
  run.cluster.takeWrites();
  const meanwhile = heap();
  for (const name of names) run.cluster.remove(WebApp, { ...key, name });
  await run.settle();
  expect(meanwhile - before).toBeGreaterThan(names.length * large.length);
  expect(heap() - before).toBeLessThan((names.length * large.length) / 4);
  await run.manager.stop();
});

test("nothing is kept of objects that were written some time ago", async () => {
  const clock = new ManualClock();
  const loops = new HotLoopDetector({ clock });
  const heap = () => {
    collectGarbage();
    return process.memoryUsage().heapUsed;
  };
  const write = (name: string) =>
    loops.observe(
      { namespace: "default", name },
      1,
      [{ target: `App ${name}`, paths: () => ["spec"] }],
      [name],
    );
  write("first");
  const before = heap();
  const count = 5_000;
  for (let index = 0; index < count; index++) write(`app-${index}`);
  expect(heap() - before).toBeGreaterThan(count * 500);
  await clock.advance(61_000);
  write("last");
  expect(heap() - before).toBeLessThan(count * 100);
});

// Listeners of a signal that stays are linked to each other, so that each keeps the reconciles
// after it from the young generation's collector.
test("a reconcile leaves no listener on what outlives it, not even for its duration", async () => {
  let reconciles = 0;
  const run = new ModelRun();
  run.manager.add(
    appController({
      reconcile: () => {
        reconciles += 1;
        return {};
      },
    }),
  );
  await run.manager.start();
  const listen = vi.spyOn(EventTarget.prototype, "addEventListener");
  for (let index = 0; index < 100; index++) run.put({}, `app-${index}`);
  await run.settle();
  expect(reconciles).toBeGreaterThanOrEqual(100);
  // What goes on beside the reconciles, such as the manager's own waits, adds a few.
  expect(listen.mock.calls.length).toBeLessThan(reconciles / 5);
  listen.mockRestore();
  await run.manager.stop();
});
