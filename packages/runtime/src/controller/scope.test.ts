import type { AnyKind, ObjectKey } from "@windlass/client";
import { seededRandom } from "@windlass/clock";
import { expect, onTestFinished, test } from "vitest";
import { createCache } from "../cache/cache.ts";
import { ModelServer } from "../cache/model-server.fixture.ts";
import { namespaceSet } from "../cache/namespaces.ts";
import { Gadget, Widget } from "../cache/test-cache.fixture.ts";
import { ModelRun } from "../reconcile/model-run.fixture.ts";
import { type Controller, controller } from "./controller.ts";

/**
 * A manager whose cache reads from model servers, one for each kind, and which may be paused at
 * each.
 */
async function start(
  namespaces: ReturnType<typeof namespaceSet> | undefined,
  controllers: readonly Controller[],
) {
  const run = new ModelRun();
  const widgets = new ModelServer();
  const gadgets = new ModelServer();
  const held = new Map<AnyKind, Promise<void>>();
  const of = (kind: AnyKind) => (kind.plural === Widget.plural ? widgets : gadgets);
  const cache = createCache({
    source: {
      listBytes: (kind, options) => of(kind).listBytes(kind, options),
      async *watchLines(kind, options) {
        await held.get(kind);
        yield* of(kind).watchLines(kind, options);
      },
    },
    clock: run.clock,
    random: seededRandom(1),
  });
  for (const namespace of ["a", "b"]) widgets.put(namespace, "one", {}, { labels: { in: namespace } });
  run.manager = run.another({ cache, ...(namespaces ? { namespaces } : {}) });
  for (const one of controllers) run.manager.add(one);
  await run.manager.start();
  onTestFinished(() => run.manager.stop());
  await run.settle();
  const count = (metric: string) =>
    [...run.manager.registry.render().matchAll(new RegExp(`^${metric}\\{.*\\} (\\d+)$`, "gm"))]
      .map(([, value]) => Number(value))
      .reduce((sum, value) => sum + value, 0);
  return {
    run,
    widgets,
    held,
    /** What went wrong, as far as logs and metrics show it. */
    faults: () => ({
      lines: run.lines.filter(({ level }) => level === "error" || level === "warn"),
      panics: count("controller_runtime_reconcile_panics_total"),
      errors: count("controller_runtime_reconcile_errors_total"),
    }),
    retries: () => count("workqueue_retries_total"),
  };
}

const none = { lines: [], panics: 0, errors: 0 };

test("objects whose namespace leaves the set are let go, without a fault or a retry", async () => {
  const seen: string[] = [];
  const set = namespaceSet(["a", "b"]);
  const { run, faults, retries } = await start(set, [
    controller(Widget, { reconcile: ({ metadata }) => void seen.push(metadata.namespace ?? "") }),
  ]);
  expect(seen.toSorted()).toEqual(["a", "b"]);
  set.set(["a"]);
  await run.settle(600_000);
  expect(faults()).toEqual(none);
  expect(retries()).toBe(0);
  set.set(["a", "b"]);
  await run.settle();
  expect(seen).toHaveLength(3);
  expect(faults()).toEqual(none);
});

test("a reconcile whose namespace leaves the set while it runs ends without a fault or a retry", async () => {
  const set = namespaceSet(["a"]);
  const running = Promise.withResolvers<void>();
  const { run, faults, retries } = await start(set, [
    controller(Widget, {
      reads: [Gadget],
      reconcile: async (_widget, { cache, key }) => {
        await running.promise;
        cache.get(Gadget, key);
      },
    }),
  ]);
  set.set([]);
  running.resolve();
  await run.settle(600_000);
  expect(faults()).toEqual(none);
  expect(retries()).toBe(0);
});

test("a reconcile in a namespace that has just joined waits until all that it reads is listed", async () => {
  const seen: string[] = [];
  const set = namespaceSet(["a"]);
  const { run, held, faults } = await start(set, [
    controller(Widget, {
      reads: [Gadget],
      reconcile: ({ metadata }, { cache, key }) => {
        cache.get(Gadget, key);
        seen.push(metadata.namespace ?? "");
      },
    }),
  ]);
  const listed = Promise.withResolvers<void>();
  held.set(Gadget, listed.promise);
  set.set(["a", "b"]);
  await run.settle(1_000);
  expect(seen).toEqual(["a"]);
  listed.resolve();
  await run.settle(5_000);
  expect(seen).toEqual(["a", "b"]);
  expect(faults()).toEqual(none);
});

test("a controller sees the objects of its scope, whatever others watch of the kind", async () => {
  const seen: Record<string, string[]> = { a: [], all: [] };
  const everything: ObjectKey[] = ["a", "b"].map((namespace) => ({ namespace, name: "one" }));
  const counting = (name: string, scope?: { labelSelector: string }) =>
    controller(Widget, {
      name,
      ...(scope ? { scope } : {}),
      // Something outside asks for objects beyond the scope, too.
      sources: [({ enqueue }) => everything.forEach(enqueue)],
      reconcile: ({ metadata }, { cache }) => {
        const others = cache.list(Widget).map((one) => one.metadata.namespace);
        seen[name]?.push(`${metadata.namespace} of ${others.join()}`);
      },
    });
  const { faults } = await start(undefined, [counting("a", { labelSelector: "in=a" }), counting("all")]);
  expect(new Set(seen.a)).toEqual(new Set(["a of a"]));
  expect(new Set(seen.all)).toEqual(new Set(["a of a,b", "b of a,b"]));
  expect(faults()).toEqual(none);
});

test("a client asks the server about objects beyond the controller's scope", async () => {
  const found: (string | undefined)[] = [];
  const labelled = controller(Widget, {
    scope: { labelSelector: "in=a" },
    reconcile: async (_widget, { client }) => {
      found.push((await client.get(Widget, { namespace: "b", name: "one" })).metadata.namespace);
    },
  });
  const { run, widgets, faults } = await start(undefined, [labelled]);
  found.length = 0;
  run.lines.length = 0;
  run.cluster.put(Widget, { metadata: { namespace: "b", name: "one" } });
  widgets.put("a", "two", {}, { labels: { in: "a" } });
  await run.settle();
  expect(found).toContain("b");
  expect(faults().lines).toEqual([]);
});

test("an object that the server has otherwise under the same version is reconciled again, whatever the predicate", async () => {
  const seen: unknown[] = [];
  const scope = { namespace: "c" };
  const { run, widgets } = await start(undefined, [
    controller(Widget, {
      scope,
      predicate: ({ type }) => type === "added",
      reconcile: ({ text }) => void seen.push(text),
    }),
  ]);
  const backup = Number(widgets.revision);
  widgets.put("c", "two", { text: "first" });
  await run.settle();
  widgets.put("c", "two", { text: "lost" });
  widgets.tick();
  widgets.bookmark();
  await run.settle();
  widgets.restore(backup + 1);
  widgets.put("c", "two", { text: "other" });
  await run.settle(400_000);
  expect(seen).toEqual(["first", "other"]);
});
