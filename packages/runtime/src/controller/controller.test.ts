import type { ObjectMeta } from "@windlass/client";
import { ManualClock, seededRandom } from "@windlass/clock";
import { ConfigMap, Deployment, Pod } from "@windlass/kinds/builtin";
import { describe, expect, test } from "vitest";
import { createCache } from "../cache/index.ts";
import { ModelServer } from "../cache/model-server.fixture.ts";
import { Gadget, Widget } from "../cache/test-cache.fixture.ts";
import { keyOf } from "../reconcile/client.ts";
import {
  appController,
  deploymentFor,
  key,
  ModelRun,
  running,
  WebApp,
} from "../reconcile/model-run.fixture.ts";
import { controller } from "./controller.ts";
import { indexed } from "./indexes.ts";
import { allOf, generationChanged, labelsChanged, not } from "./predicate.ts";
import { every } from "./source.ts";
import { watch } from "./watch.ts";

function counting(options: Partial<Parameters<typeof appController>[0]> = {}) {
  const names: string[] = [];
  const what = appController({ reconcile: (app) => void names.push(app.metadata.name), ...options });
  return { names, what };
}

describe("what asks for a reconcile", () => {
  test("spec, labels, annotations and deletion do; a pure status change does not", async () => {
    const { names, what } = counting();
    const run = await running(what);
    names.length = 0;
    run.cluster.put(WebApp, { ...run.app, status: { url: "x" } });
    await run.settle();
    expect(names).toEqual([]);
    run.cluster.put(WebApp, { ...run.app, metadata: { ...run.app?.metadata, labels: { a: "b" } } });
    await run.settle();
    run.cluster.put(WebApp, {
      ...run.app,
      metadata: { ...run.app?.metadata, annotations: { a: "b" } },
    });
    await run.settle();
    run.put({ image: "other" });
    await run.settle();
    expect(names).toEqual(["web", "web", "web"]);
    await run.manager.stop();
  });

  test("predicates compose", async () => {
    const { names, what } = counting({ predicate: allOf(generationChanged, not(labelsChanged)) });
    const run = await running(what);
    // An addition passes both, and so its negation none.
    expect(names).toEqual([]);
    run.put({ image: "other" });
    await run.settle();
    expect(names).toEqual(["web"]);
    await run.manager.stop();
  });

  test("an owned child asks for its owner, by group and kind whatever the version", async () => {
    const { names, what } = counting({ owns: [ConfigMap] });
    const run = await running(what);
    names.length = 0;
    const owner = { kind: "WebApp", name: "web", uid: run.app?.metadata.uid, controller: true };
    const child = (name: string, apiVersion: string, more: object = {}) =>
      run.cluster.put(ConfigMap, {
        metadata: { ...key, name, ownerReferences: [{ ...owner, apiVersion, ...more }] },
      });
    child("a", "example.com/v1beta1");
    await run.settle();
    expect(names).toEqual(["web"]);
    child("b", "other.com/v1");
    child("c", "example.com/v1", { controller: false });
    await run.settle();
    expect(names).toEqual(["web"]);
    await run.manager.stop();
  });

  test("a watched object asks for those that its old and its new state map to", async () => {
    const { names, what } = counting({
      watches: [
        watch(ConfigMap, (map) => (map.data?.app ? { namespace: "default", name: map.data.app } : undefined)),
      ],
    });
    const run = await running(what);
    run.put({}, "other");
    const link = (app: string) =>
      run.cluster.put(ConfigMap, { metadata: { namespace: "default", name: "link" }, data: { app } });
    link("web");
    await run.settle();
    names.length = 0;
    link("other");
    await run.settle();
    expect(names.toSorted()).toEqual(["other", "web"]);
    await run.manager.stop();
  });

  test("a mapping that throws costs its own change alone", async () => {
    const { names, what } = counting({
      watches: [
        watch(ConfigMap, () => {
          throw new Error("bad mapping");
        }),
      ],
    });
    const run = await running(what);
    run.cluster.put(ConfigMap, { metadata: { namespace: "default", name: "link" } });
    run.put({ image: "other" });
    await run.settle();
    expect(names.at(-1)).toBe("web");
    expect(run.lines.some(({ fields }) => fields.error === "bad mapping")).toBe(true);
    await run.manager.stop();
  });

  test("sources outside Kubernetes do: iterables, functions, timers", async () => {
    async function* keys() {
      await Promise.resolve();
      yield key;
    }
    let fail = 2;
    const { names, what } = counting({
      sources: [
        keys(),
        ({ enqueue }) => {
          if (fail-- > 0) throw new Error("not yet");
          enqueue({ ...key, name: "web" });
        },
        every(60_000),
      ],
    });
    const run = new ModelRun();
    run.put();
    run.manager.add(what);
    await run.manager.start();
    await run.settle(100);
    const atStart = names.length;
    await run.settle(5_000);
    expect(names.length).toBe(atStart + 1);
    expect(run.lines.filter(({ message }) => message.startsWith("a source failed"))).toHaveLength(2);
    await run.settle(120_000);
    expect(names.length).toBe(atStart + 3);
    await run.manager.stop();
    await run.settle(600_000);
    expect(names.length).toBe(atStart + 3);
  });

  test("all objects are reconciled again about every ten hours, without a list", async () => {
    const { names, what } = counting();
    const run = await running(what);
    names.length = 0;
    await run.settle(8.9 * 3_600_000);
    expect(names).toEqual([]);
    await run.settle(2.2 * 3_600_000);
    expect(names).toEqual(["web"]);
    await run.manager.stop();
  });
});

describe("concurrency", () => {
  test("reconciles as many objects at a time as allowed, and none twice at a time", async () => {
    let now = 0;
    let most = 0;
    const busy = new Set<string>();
    let doubles = 0;
    const what = appController({
      concurrency: 3,
      reconcile: async (app, { clock }) => {
        now += 1;
        most = Math.max(most, now);
        if (busy.has(app.metadata.name)) doubles += 1;
        busy.add(app.metadata.name);
        await new Promise<void>((resolve) => clock.schedule(100, resolve));
        busy.delete(app.metadata.name);
        now -= 1;
      },
    });
    const run = new ModelRun();
    run.manager.add(what);
    await run.manager.start();
    for (let index = 0; index < 10; index += 1) run.put({}, `app-${index}`);
    await run.settle(50);
    for (let index = 0; index < 10; index += 1) run.put({ image: "again" }, `app-${index}`);
    await run.settle(5_000);
    expect(most).toBe(3);
    expect(doubles).toBe(0);
    await run.manager.stop();
  });

  test("an event comes before what was there at the start", async () => {
    const order: string[] = [];
    const what = appController({
      reconcile: async (app, { clock }) => {
        order.push(app.metadata.name);
        await new Promise<void>((resolve) => clock.schedule(10, resolve));
      },
    });
    const run = new ModelRun();
    for (let index = 0; index < 20; index += 1) run.put({}, `old-${index}`);
    run.manager.add(what);
    await run.manager.start();
    await run.settle(15);
    run.put({}, "new");
    await run.settle(1_000);
    expect(order.indexOf("new")).toBeLessThan(5);
    expect(order).toHaveLength(21);
    await run.manager.stop();
  });
});

describe("an index", () => {
  const imageOf = (app: { readonly spec: { readonly image: string } }) => [app.spec.image];
  const appLabel = ({ metadata }: { readonly metadata: ObjectMeta }) => [metadata.labels?.app ?? ""];
  const pod = (app: string) => ({ metadata: { namespace: "default", name: `${app}-1`, labels: { app } } });

  test.each([
    ["watches", { watches: [watch(Pod, () => undefined, { indexes: { app: appLabel } })] }],
    ["reads", { reads: [indexed(Pod, { app: appLabel })] }],
    ["owns", { owns: [indexed(Pod, { app: appLabel })] }],
  ])("of a kind that a controller %s finds its objects in a reconcile", async (_how, options) => {
    const found: string[] = [];
    const run = new ModelRun();
    run.manager.add(
      appController({
        ...options,
        reconcile: (app, { cache }) =>
          void found.push(...cache.byIndex(Pod, "app", app.metadata.name).map((one) => one.metadata.name)),
      }),
    );
    for (const app of ["web", "other"]) run.cluster.put(Pod, pod(app));
    await run.manager.start();
    run.put();
    await run.settle();
    expect(found).toEqual(["web-1"]);
    await run.manager.stop();
  });

  test("of the controller's own kind serves the mapping of another", async () => {
    const { names, what } = counting({
      indexes: { image: imageOf },
      watches: [
        watch(ConfigMap, (map, { cache }) =>
          cache.byIndex(WebApp, "image", map.metadata.name).map((app) => keyOf(app)),
        ),
      ],
    });
    const run = await running(what);
    run.put({ image: "other" }, "second");
    await run.settle();
    names.length = 0;
    run.cluster.put(ConfigMap, { metadata: { ...key, name: "other" } });
    await run.settle();
    expect(names).toEqual(["second"]);
    await run.manager.stop();
  });

  test("answers though another controller's wider informer does", async () => {
    const server = new ModelServer();
    const clock = new ManualClock();
    const cache = createCache({ source: server, clock, random: seededRandom(1) });
    const run = new ModelRun({ cache, clock });
    const found: number[] = [];
    run.manager.add(
      controller(Gadget, {
        watches: [
          watch(Widget, () => undefined, { indexes: { app: appLabel }, scope: { labelSelector: "app" } }),
        ],
        reconcile: (_gadget, context) => void found.push(context.cache.byIndex(Widget, "app", "web").length),
      }),
    );
    run.manager.add(controller(Widget, { reconcile: () => undefined }));
    // The model has the same objects of every kind.
    server.put("default", "web", {}, { labels: { app: "web" } });
    const started = run.manager.start();
    await clock.advance(1_000);
    await started;
    await clock.advance(1_000);
    expect(found).toEqual([1]);
    await run.manager.stop();
  });

  test("of one name and two functions is refused, within a controller and between two", () => {
    const one = indexed(Pod, { app: appLabel });
    const another = indexed(Pod, { app: () => [] });
    const reconcile = () => undefined;
    expect(() => controller(WebApp, { reconcile, reads: [one, another] })).toThrow(
      'controller webapp: Pod has an index "app" already',
    );
    const run = new ModelRun();
    run.manager.add(controller(WebApp, { reconcile, reads: [one] }));
    run.manager.add(controller(WebApp, { reconcile, name: "same", owns: [one] }));
    expect(() => run.manager.add(controller(WebApp, { reconcile, name: "b", owns: [another] }))).toThrow(
      "declared by controller webapp with another function",
    );
  });
});

describe("a declaration that cannot be right", () => {
  const reconcile = () => undefined;
  test.each([
    [() => controller(WebApp, { reconcile, name: "Web App" }), 'controller name "Web App"'],
    [() => controller(WebApp, { reconcile, concurrency: 0 }), "concurrency (0)"],
    [() => controller(WebApp, { reconcile, timeout: -1 }), "timeout (-1)"],
    [() => controller(WebApp, { reconcile, finalizer: "cleanup" }), 'finalizer "cleanup" must be qualified'],
    [() => every(0), "every: the interval must be above 0"],
  ])("is refused with the option named", (declare, message) => {
    expect(declare).toThrow(message);
  });

  test("is also two controllers of one name in a manager", () => {
    const run = new ModelRun();
    const what = appController({
      owns: [Deployment],
      reconcile: (app) => ({ children: [deploymentFor(app)] }),
    });
    run.manager.add(what);
    expect(() => run.manager.add(what)).toThrow('already a controller named "webapp"');
  });
});
