import type { ObjectKey } from "@windlass/client";
import { ConfigMap, Deployment, Node, Pod } from "@windlass/kinds/builtin";
import { describe, expect, test } from "vitest";
import { key, ModelRun, running, WebApp } from "../reconcile/model-run.fixture.ts";
import { controller } from "./controller.ts";
import { byLabel, byOwner, byReference, type ReferenceMapping, referenceText, watch } from "./watch.ts";

const metadata = { namespace: "shops", name: "web-1" };

test("byLabel names the object in the same namespace", () => {
  const map = byLabel("example.com/app");
  expect(map({ metadata: { ...metadata, labels: { "example.com/app": "web" } } })).toEqual({
    namespace: "shops",
    name: "web",
  });
  expect(map({ metadata: { ...metadata, labels: { "example.com/app": "" } } })).toBeUndefined();
  expect(map({ metadata })).toBeUndefined();
});

test("byLabel takes no label for one that the object has not, whatever its name", () => {
  const object = { metadata: { name: "a", namespace: "default", labels: {} } };
  for (const label of ["constructor", "toString", "hasOwnProperty"]) {
    expect(byLabel(label)(object)).toBeUndefined();
    expect(
      byLabel("app", { namespace: label })({ metadata: { name: "a", labels: { app: "a" } } }),
    ).toBeUndefined();
    expect(byLabel(label)({ metadata: { ...object.metadata, labels: { [label]: "web" } } })).toEqual({
      namespace: "default",
      name: "web",
    });
  }
});

test("byLabel names the object in the namespace of another label, and none where that is missing", () => {
  const map = byLabel("example.com/app", { namespace: "example.com/app-namespace" });
  const labels = { "example.com/app": "web" };
  expect(
    map({ metadata: { name: "a", labels: { ...labels, "example.com/app-namespace": "shops" } } }),
  ).toEqual({ namespace: "shops", name: "web" });
  expect(map({ metadata: { ...metadata, labels } })).toBeUndefined();
});

test("byOwner names the owners of a kind, in whatever version and whether they control it or not", () => {
  const ownerReferences = [
    { apiVersion: "apps/v1", kind: "Deployment", name: "a", uid: "1", controller: true },
    { apiVersion: "apps/v1beta1", kind: "Deployment", name: "b", uid: "2" },
    { apiVersion: "other/v1", kind: "Deployment", name: "c", uid: "3" },
  ];
  expect(byOwner(Deployment)({ metadata: { ...metadata, ownerReferences } })).toEqual([
    { namespace: "shops", name: "a" },
    { namespace: "shops", name: "b" },
  ]);
  const Fleet = { ...Deployment, scope: "Cluster" as const };
  expect(byOwner(Fleet)({ metadata: { ...metadata, ownerReferences } })).toEqual([
    { name: "a" },
    { name: "b" },
  ]);
});

describe("byReference", () => {
  test("reconciles those who refer to a changed object, by name or key, and follows a moved reference", async () => {
    const looks: string[] = [];
    const run = await running(
      controller(WebApp, {
        watches: [
          watch(
            ConfigMap,
            byReference(WebApp, ({ spec }) => spec.args),
          ),
          watch(
            Pod,
            byReference(WebApp, ({ spec }) => ({ namespace: "pods", name: spec.image })),
          ),
        ],
        reconcile: ({ metadata: { name } }) => {
          looks.push(name);
        },
      }),
    );
    run.put({ args: ["settings", "colours"], image: "one" });
    await run.settle();
    looks.length = 0;
    const change = async (kind: typeof ConfigMap | typeof Pod, namespace: string, name: string) => {
      looks.length = 0;
      run.cluster.put(kind, { metadata: { namespace, name } } as Parameters<typeof run.cluster.put>[1]);
      await run.settle();
      return looks.length;
    };
    expect(await change(ConfigMap, key.namespace, "colours")).toBe(1);
    expect(await change(ConfigMap, "elsewhere", "colours")).toBe(0);
    expect(await change(Pod, "pods", "one")).toBe(1);
    expect(await change(Pod, key.namespace, "one")).toBe(0);
    run.put({ args: ["settings"], image: "one" });
    await run.settle();
    expect(await change(ConfigMap, key.namespace, "colours")).toBe(0);
    await run.manager.stop();
  });

  test("finds the objects of a kind without namespaces by their name", async () => {
    const looks: string[] = [];
    const run = await running(
      controller(WebApp, {
        watches: [
          watch(
            Node,
            byReference(WebApp, ({ spec }) => spec.image),
          ),
        ],
        reconcile: ({ metadata: { name } }) => void looks.push(name),
      }),
    );
    run.put({ image: "node-1" });
    await run.settle();
    looks.length = 0;
    run.cluster.put(Node, { metadata: { name: "node-1" } });
    run.cluster.put(Node, { metadata: { name: "node-2" } });
    await run.settle();
    expect(looks).toEqual(["web"]);
    await run.manager.stop();
  });

  test("has no key for a name alone, where the kind that is referred to needs a namespace", () => {
    expect(referenceText(Node, { namespace: "default", name: "a" })).toBe("a");
    expect(() => referenceText(ConfigMap, { name: "settings" })).toThrow(
      "the reference to ConfigMap settings needs a namespace: { namespace, name }",
    );
  });

  test("takes the controller's own kind alone", () => {
    const mapping: ReferenceMapping = byReference(Deployment, () => "settings");
    expect(() =>
      controller(WebApp, { watches: [watch(ConfigMap, mapping)], reconcile: () => undefined }),
    ).toThrow("controller webapp: byReference takes the controller's own kind, WebApp, not Deployment");
  });
});

describe("a key that a mapping or a source gives", () => {
  test("has no namespace where the kind has none: one object is never reconciled twice at a time", async () => {
    const Fleet = { ...WebApp, kind: "Fleet", plural: "fleets", scope: "Cluster" as const };
    const run = new ModelRun();
    run.cluster.put(Fleet, { metadata: { name: "fleet" } });
    const keys: unknown[] = [];
    let now = 0;
    let most = 0;
    const what = controller(Fleet, {
      concurrency: 4,
      watches: [watch(Pod, byLabel("fleet"))],
      sources: [({ enqueue }) => enqueue({ namespace: "shops", name: "fleet" })],
      reconcile: async (_fleet, { key: found, clock }) => {
        keys.push(found);
        most = Math.max(most, ++now);
        await new Promise<void>((resolve) => clock.schedule(100, resolve));
        now -= 1;
      },
    });
    run.manager.add(what);
    await run.manager.start();
    run.cluster.put(Pod, { metadata: { ...metadata, labels: { fleet: "fleet" } } });
    await run.settle(5_000);
    expect(keys.length).toBeGreaterThan(1);
    expect(new Set(keys.map((one) => JSON.stringify(one)))).toEqual(new Set(['{"name":"fleet"}']));
    expect(most).toBe(1);
    await run.manager.stop();
  });

  test("a watch needs a namespace where the kind has one, and the log reports it", async () => {
    const looks: string[] = [];
    // What the compiler knows nothing of; a key that never has a namespace does not compile.
    const found: ObjectKey = { name: key.name };
    const run = await running(
      controller(WebApp, {
        watches: [watch(Pod, () => found)],
        reconcile: ({ metadata: { name } }) => void looks.push(name),
      }),
    );
    looks.length = 0;
    run.cluster.put(Pod, { metadata });
    await run.settle();
    expect(looks).toEqual([]);
    expect(run.lines).toContainEqual(
      expect.objectContaining({
        message: "the mapping of Pod threw for Pod shops/web-1; the change is lost to it",
        fields: expect.objectContaining({
          error: "the key of WebApp web needs a namespace: the kind is namespaced",
        }),
      }),
    );
    await run.manager.stop();
  });
});
