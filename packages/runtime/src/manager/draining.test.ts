import { expect, test } from "vitest";
import { appController, ModelRun } from "../reconcile/model-run.fixture.ts";
import type { Runnable, Stage } from "./runnable.ts";

/** A server that says what happens to it, and drains until it is let go. */
function server(stage: Stage, seen: string[], drained = async (): Promise<void> => undefined): Runnable {
  return {
    name: `${stage} server`,
    stage,
    start: () => () => void seen.push(`stop ${stage} server`),
    drain: () => {
      seen.push(`drain ${stage} server`);
      return drained();
    },
  };
}

function store(seen: string[]): Runnable {
  return { name: "store", stage: "everywhere", start: () => () => void seen.push("stop store") };
}

/** A manager that has been found ready by a probe, or not. */
async function started(runnables: readonly Runnable[], { isReady }: { readonly isReady: boolean }) {
  const run = new ModelRun({ health: { port: 0, host: "127.0.0.1" } });
  for (const one of runnables) run.manager.add(one);
  await run.manager.start();
  const path = isReady ? "/readyz" : "/readyz/manager";
  expect((await fetch(`http://127.0.0.1:${run.manager.ports.health}${path}`)).status).toBe(200);
  return run;
}

test("a server drains from the moment of the stop, and what it may need outlives that", async () => {
  const seen: string[] = [];
  const { promise: drained, resolve: done } = Promise.withResolvers<void>();
  const run = await started([server("webhook", seen, () => drained), store(seen)], { isReady: true });
  const stopped = run.manager.stop();
  expect(seen).toEqual(["drain webhook server"]);
  await run.settle(10_000);
  expect(seen).toEqual(["drain webhook server"]);
  const probe = await fetch(`http://127.0.0.1:${run.manager.ports.health}/readyz`);
  expect(await probe.text()).toContain("[-]manager failed: stopping");
  done();
  await stopped;
  expect(seen).toEqual(["drain webhook server", "stop store", "stop webhook server"]);
});

test("reconciles under way end while servers drain", async () => {
  const seen: string[] = [];
  const { promise: reconciled, resolve } = Promise.withResolvers<void>();
  const run = new ModelRun({ health: { port: 0, host: "127.0.0.1" } });
  run.manager.add(server("everywhere", seen)).add(
    appController({
      reconcile: async () => {
        await reconciled;
        seen.push("reconciled");
      },
    }),
  );
  run.put();
  await run.manager.start();
  await run.settle();
  await fetch(`http://127.0.0.1:${run.manager.ports.health}/readyz`);
  const stopped = run.manager.stop();
  expect(seen).toEqual(["drain everywhere server"]);
  resolve();
  await stopped;
  expect(seen).toEqual(["drain everywhere server", "reconciled", "stop everywhere server"]);
});

test("a process that no probe found ready has no clients to drain", async () => {
  const seen: string[] = [];
  const run = await started([server("webhook", seen)], { isReady: false });
  await run.manager.stop();
  expect(seen).toEqual(["stop webhook server"]);
});

test("a process that was only peeked at has no clients to drain", async () => {
  const seen: string[] = [];
  const run = await started([server("webhook", seen)], { isReady: false });
  const probe = await fetch(`http://127.0.0.1:${run.manager.ports.health}/readyz?peek`);
  expect(probe.status).toBe(200);
  await run.manager.stop();
  expect(seen).toEqual(["stop webhook server"]);
});

test("what runs while leading stops at once", async () => {
  const seen: string[] = [];
  const run = await started([server("leader", seen)], { isReady: true });
  await run.manager.stop();
  expect(seen).toEqual(["stop leader server"]);
});

test("a server that fails to drain, or never does, is still stopped", async () => {
  const seen: string[] = [];
  const failing = server("webhook", seen, () => Promise.reject(new Error("the door is stuck")));
  const run = await started([failing], { isReady: true });
  await run.manager.stop();
  expect(seen).toEqual(["drain webhook server", "stop webhook server"]);
  const [line] = run.lines.filter(({ level }) => level === "error");
  expect(line).toMatchObject({
    message: "webhook server did not stop cleanly",
    fields: { error: "the door is stuck" },
  });

  const endless = server("webhook", [], () => new Promise(() => undefined));
  const other = await started([endless], { isReady: true });
  const stopped = other.manager.stop();
  await other.settle(30_000);
  await stopped;
});
