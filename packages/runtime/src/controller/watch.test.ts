import { ConfigMap, Deployment, Pod } from "@windlass/kinds/builtin";
import { describe, expect, test } from "vitest";
import { key, running, WebApp } from "../reconcile/model-run.fixture.ts";
import { controller } from "./controller.ts";
import { byLabel, byOwner, byReference, watch } from "./watch.ts";

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
});
