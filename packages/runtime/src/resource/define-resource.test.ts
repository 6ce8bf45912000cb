import type { AnyKind, InputOf, ObjectOf, ResourceKind } from "@windlass/client";
import { expect, expectTypeOf, test } from "vitest";
import { z } from "zod";
import { type Condition, defineResource, listMap, quantity, type Resource } from "./index.ts";

const WebApp = defineResource({
  group: "example.com",
  version: "v1",
  kind: "WebApp",
  spec: z.object({
    image: z.string().min(1).describe("Container image to run"),
    replicas: z.int().min(0).max(100).default(1),
    env: z
      .array(z.object({ name: z.string(), value: z.string().default("") }))
      .check(listMap("name"))
      .default([]),
    probe: z.object({ path: z.string().default("/healthz") }).prefault({}),
    host: z.string().optional(),
  }),
  status: z.object({ availableReplicas: z.int().optional() }),
  printerColumns: [{ name: "Available", jsonPath: ".status.availableReplicas", type: "integer" }],
});

test("a defined kind addresses itself like a built-in one", () => {
  expect(WebApp).toMatchObject({
    group: "example.com",
    version: "v1",
    kind: "WebApp",
    plural: "webapps",
    singular: "webapp",
    scope: "Namespaced",
    versions: ["v1"],
  });
  const any: AnyKind = WebApp;
  const resource: Resource = WebApp;
  expect(any).toBe(resource);
});

test("what one writes leaves defaults out; what one reads has them", () => {
  type Read = ObjectOf<typeof WebApp>;
  type Write = InputOf<typeof WebApp>;
  expectTypeOf<Read["spec"]["replicas"]>().toEqualTypeOf<number>();
  expectTypeOf<Write["spec"]["replicas"]>().toEqualTypeOf<number | undefined>();
  expectTypeOf<Read["spec"]["probe"]["path"]>().toEqualTypeOf<string>();
  expectTypeOf<Write["spec"]["probe"]>().toEqualTypeOf<{ readonly path?: string | undefined } | undefined>();
  expectTypeOf<Read["spec"]["env"][number]["value"]>().toEqualTypeOf<string>();
  expectTypeOf<Read["metadata"]["name"]>().toEqualTypeOf<string>();
  expectTypeOf<Write["metadata"]["name"]>().toEqualTypeOf<string>();
  const least: Write = { metadata: { name: "web" }, spec: { image: "nginx:1.29" } };
  expect(least.spec.image).toBe("nginx:1.29");
});

test("a status has conditions and the observed generation beside its own fields, and may be absent", () => {
  type Status = NonNullable<ObjectOf<typeof WebApp>["status"]>;
  expectTypeOf<Status["conditions"]>().toEqualTypeOf<readonly Condition[] | undefined>();
  expectTypeOf<Status["observedGeneration"]>().toEqualTypeOf<number | undefined>();
  expectTypeOf<Status["availableReplicas"]>().toEqualTypeOf<number | undefined>();
  expectTypeOf<undefined>().toExtend<ObjectOf<typeof WebApp>["status"]>();
});

test("what was read may be written back, and is readonly", () => {
  expectTypeOf<ObjectOf<typeof WebApp>>().toExtend<InputOf<typeof WebApp>>();
  expectTypeOf<ObjectOf<typeof WebApp>["spec"]["env"]>().toExtend<readonly unknown[]>();
  expectTypeOf<ObjectOf<typeof WebApp>["spec"]["env"]>().not.toExtend<unknown[]>();
});

test("a kind without a status schema has no status", () => {
  const Policy = defineResource({
    group: "example.com",
    version: "v1",
    kind: "Policy",
    scope: "Cluster",
    spec: z.object({ limit: quantity().optional() }).prefault({}),
  });
  expectTypeOf<ObjectOf<typeof Policy>>().not.toHaveProperty("status");
  expectTypeOf<InputOf<typeof Policy>["spec"]>().extract<undefined>().toEqualTypeOf<undefined>();
  expectTypeOf<ObjectOf<typeof Policy>["spec"]["limit"]>().toEqualTypeOf<string | number | undefined>();
  expect(Policy.plural).toBe("policies");
  expect(Policy.crd().spec.versions[0]?.subresources).toBeUndefined();
  expect(Policy.crd().spec.scope).toBe("Cluster");
});

test("kinds of different types are different types", () => {
  expectTypeOf<typeof WebApp>().toExtend<ResourceKind<ObjectOf<typeof WebApp>, InputOf<typeof WebApp>>>();
  expectTypeOf<typeof WebApp>().not.toExtend<ResourceKind<ObjectOf<typeof WebApp> & { extra: 1 }>>();
});

test("make gives the object as the server would return it", () => {
  expect(WebApp.make("web", { image: "nginx:1.29", env: [{ name: "A" }] })).toEqual({
    apiVersion: "example.com/v1",
    kind: "WebApp",
    metadata: { namespace: "default", name: "web" },
    spec: { image: "nginx:1.29", replicas: 1, env: [{ name: "A", value: "" }], probe: { path: "/healthz" } },
  });
});

test("make refuses a spec that does not fit, and names the field", () => {
  expect(() => WebApp.make("web", { image: "nginx", replicas: 101 })).toThrow(
    "WebApp (example.com/v1): spec.replicas: ",
  );
  expect(() => WebApp.make("web", { image: "nginx", env: [{ name: "A" }, { name: "A" }] })).toThrow(
    "spec.env: two items have the same name",
  );
});

test("is tells objects of the kind and version from others", () => {
  expect(WebApp.is(WebApp.make("web", { image: "nginx" }))).toBe(true);
  expect(WebApp.is({ apiVersion: "example.com/v2", kind: "WebApp", metadata: { name: "web" } })).toBe(false);
  expect(WebApp.is({ apiVersion: "example.com/v1", kind: "Other", metadata: { name: "web" } })).toBe(false);
  expect(WebApp.is(null)).toBe(false);
});

test("a field named __proto__ stays data", () => {
  const Odd = defineResource({
    group: "example.com",
    version: "v1",
    kind: "Odd",
    spec: z.object({ labels: z.record(z.string(), z.string()).default({}) }),
  });
  const made = Odd.make("odd", { labels: JSON.parse('{"__proto__":"x"}') as Record<string, string> });
  expect(Object.keys(made.spec.labels)).toEqual(["__proto__"]);
  expect(Object.getPrototypeOf(made.spec.labels)).toBe(Object.prototype);
});

test("make takes the status that a reconciler returned: its conditions are stamped", () => {
  const ready = { type: "Ready", status: "True", reason: "Up", message: "" } as const;
  const creationTimestamp = "2026-01-01T00:00:00Z";
  const made = WebApp.make({ name: "web", creationTimestamp }, { image: "nginx" }, { conditions: [ready] });
  expect(made.status?.conditions).toEqual([{ ...ready, lastTransitionTime: creationTimestamp }]);
  const stamped = { ...ready, lastTransitionTime: "2026-02-02T00:00:00Z" };
  const conditions = [stamped, { ...ready, type: "Other" }];
  expect(WebApp.make("web", { image: "nginx" }, { conditions }).status?.conditions).toEqual([
    stamped,
    { ...ready, type: "Other", lastTransitionTime: "1970-01-01T00:00:00Z" },
  ]);
});
