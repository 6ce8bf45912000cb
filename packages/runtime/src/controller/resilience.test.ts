import type { ObjectKey } from "@windlass/client";
import { ConfigMap } from "@windlass/kinds/builtin";
import { describe, expect, test } from "vitest";
import { appController, key, ModelRun, running } from "../reconcile/model-run.fixture.ts";
import { noTracing } from "../reconcile/tracing.ts";
import type { Source } from "./source.ts";
import { watch } from "./watch.ts";

const hour = 3_600_000;

async function* silence(): AsyncGenerator<ObjectKey> {
  await new Promise(() => undefined);
  yield key;
}

/** A controller of the test's kind that reports the objects it reconciles. */
function counting(options: Partial<Parameters<typeof appController>[0]> = {}) {
  const names: string[] = [];
  const what = appController({ reconcile: (app) => void names.push(app.metadata.name), ...options });
  return { names, what };
}

describe("what a user's code throws", () => {
  test("in a predicate costs nothing: the change counts", async () => {
    const { names, what } = counting({
      predicate: () => {
        throw new Error("bad predicate");
      },
    });
    const run = await running(what);
    expect(names).toEqual(["web"]);
    run.put({ image: "other" });
    await run.settle();
    expect(names).toEqual(["web", "web"]);
    const told = run.lines.filter(({ fields }) => fields.error === "bad predicate");
    expect(told.map(({ message }) => message)).toEqual([
      "the predicate of WebApp threw for WebApp default/web; the change counts",
    ]);
    await run.manager.stop();
  });

  test("an error in a mapping is logged with the object, once for all of them, and the others are mapped", async () => {
    const { names, what } = counting({
      watches: [
        watch(ConfigMap, ({ metadata }) => {
          if (metadata.name.startsWith("odd")) throw new Error("bad mapping");
          return key;
        }),
      ],
    });
    const run = await running(what);
    names.length = 0;
    for (const name of ["odd", "odder", "even"])
      run.cluster.put(ConfigMap, { metadata: { namespace: "default", name } });
    await run.settle();
    expect(names).toEqual(["web"]);
    const told = run.lines.filter(({ fields }) => fields.error === "bad mapping");
    expect(told).toMatchObject([
      {
        message: "the mapping of ConfigMap threw for ConfigMap default/odd; the change is lost to it",
        fields: {
          controller: "webapp",
          object: "ConfigMap default/odd",
          stack: expect.stringContaining("at "),
        },
      },
    ]);
    await run.settle(60_000);
    run.cluster.put(ConfigMap, { metadata: { namespace: "default", name: "oddest" } });
    expect(run.lines.filter(({ fields }) => fields.error === "bad mapping")[1]?.fields.count).toBe(3);
    await run.manager.stop();
  });

  test("around a reconcile, as a tracer may, is counted and ends no worker", async () => {
    const { names, what } = counting();
    let faults = 2;
    const run = await running(what, {
      tracing: {
        ...noTracing,
        reconcile: (attributes, waitedMs, pass) => {
          if (faults-- > 0) throw new Error("bad tracer");
          return noTracing.reconcile(attributes, waitedMs, pass);
        },
      },
    });
    expect(names).toEqual(["web"]);
    expect(run.manager.registry.render()).toContain(
      'controller_runtime_reconcile_panics_total{controller="webapp"} 2',
    );
    await run.manager.stop();
  });
});

describe("a source outside Kubernetes", () => {
  test("a source is ended with its controller: by its signal, and by what it returned", async () => {
    const seen: string[] = [];
    const { names, what } = counting({
      sources: [
        ({ signal, enqueue }) => {
          seen.push("connected");
          signal.addEventListener("abort", () => seen.push("aborted"));
          enqueue(key);
          return () => void seen.push("disconnected");
        },
      ],
    });
    const run = await running(what);
    expect(names).toContain("web");
    expect(seen).toEqual(["connected"]);
    await run.manager.stop();
    expect(seen.toSorted()).toEqual(["aborted", "connected", "disconnected"]);
  });

  test.each([
    ["an iterable that waits for its next key", (): Source => silence()],
    ["a function that does not return", (): Source => () => new Promise<void>(() => undefined)],
    [
      "a way to stop that throws",
      (): Source => () => () => {
        throw new Error("it is stuck");
      },
    ],
  ])("does not hold up the end of its controller: %s", async (_what, source) => {
    const { names, what } = counting({ sources: [source()] });
    const run = await running(what);
    expect(names).toEqual(["web"]);
    await run.manager.stop();
    run.put({ image: "other" });
    await run.settle();
    expect(names).toEqual(["web"]);
    expect(run.lines.filter(({ level }) => level === "error")).toEqual([]);
  });

  test("that gives keys is closed with its controller", async () => {
    let isClosed = false;
    const keys: AsyncIterableIterator<ObjectKey> = {
      next: () => new Promise<never>(() => undefined),
      async return() {
        isClosed = true;
        return { done: true, value: undefined };
      },
      [Symbol.asyncIterator]: () => keys,
    };
    const { what } = counting({ sources: [() => keys] });
    const run = await running(what);
    await run.manager.stop();
    expect(isClosed).toBe(true);
  });

  test("may ask for every object at once", async () => {
    let all = (): void => undefined;
    const { names, what } = counting({
      sources: [
        ({ enqueueAll }) => {
          all = enqueueAll;
        },
      ],
    });
    const run = await running(what);
    run.put({}, "second");
    await run.settle();
    names.length = 0;
    all();
    await run.settle();
    expect(names.toSorted()).toEqual(["second", "web"]);
    await run.manager.stop();
  });
});

test("the time between two looks at every object varies by a tenth, so that they spread out", async () => {
  const at: number[] = [];
  const run = new ModelRun();
  run.manager.add(
    appController({ resync: 10 * hour, reconcile: (_app, { clock }) => void at.push(clock.monotonic()) }),
  );
  await run.manager.start();
  run.put();
  for (let passed = 0; passed < 60; passed++) await run.settle(hour);
  const waits = at.slice(1).map((time, index) => (time - (at[index] ?? 0)) / hour);
  expect(waits.length).toBeGreaterThanOrEqual(5);
  expect(new Set(waits.map((wait) => Math.round(wait * 1000))).size).toBe(waits.length);
  for (const wait of waits.slice(1)) {
    expect(wait).toBeGreaterThanOrEqual(9);
    expect(wait).toBeLessThanOrEqual(11);
  }
  await run.manager.stop();
});
