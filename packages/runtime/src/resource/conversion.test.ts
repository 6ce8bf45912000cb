import { apiVersionOf } from "@windlass/client";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { z } from "zod";
import { defineResource, lostInRoundTrip } from "./index.ts";

const common = { group: "example.com", kind: "WebApp" } as const;

const WebAppV2 = defineResource({
  ...common,
  version: "v2",
  spec: z.object({
    image: z.string(),
    scaling: z.object({ min: z.int().default(1), max: z.int().default(1) }).prefault({}),
    tier: z.string().optional(),
  }),
  status: z.object({ available: z.int().optional() }),
});

const tierAnnotation = "example.com/tier";

const WebApp = defineResource({
  ...common,
  version: "v1",
  deprecated: "example.com/v1 WebApp is deprecated; use example.com/v2",
  spec: z.object({ image: z.string(), replicas: z.int().default(1), maxReplicas: z.int().optional() }),
  status: z.object({ availableReplicas: z.int().optional() }),
}).withVersion(WebAppV2, {
  to: ({ metadata, spec, status }) => {
    const { [tierAnnotation]: tier, ...annotations } = metadata.annotations ?? {};
    return {
      ...(tier === undefined ? {} : { metadata: { annotations } }),
      spec: {
        image: spec.image,
        scaling: { min: spec.replicas, max: spec.maxReplicas ?? spec.replicas },
        ...(tier === undefined ? {} : { tier }),
      },
      ...(status === undefined
        ? {}
        : { status: { available: status.availableReplicas, conditions: status.conditions ?? [] } }),
    };
  },
  from: ({ metadata, spec, status }) => ({
    ...(spec.tier === undefined
      ? {}
      : { metadata: { annotations: { ...metadata.annotations, [tierAnnotation]: spec.tier } } }),
    spec: { image: spec.image, replicas: spec.scaling.min, maxReplicas: spec.scaling.max },
    ...(status === undefined
      ? {}
      : { status: { availableReplicas: status.available, conditions: status.conditions ?? [] } }),
  }),
});

test("an object is converted both ways, its metadata kept", () => {
  const v1 = WebApp.make(
    { name: "web", namespace: "shop", uid: "u1", labels: { a: "b" } },
    { image: "nginx", replicas: 3 },
  );
  const v2 = WebApp.convert(v1, "v2");
  expect(v2).toEqual({
    apiVersion: apiVersionOf(WebAppV2),
    kind: "WebApp",
    metadata: { name: "web", namespace: "shop", uid: "u1", labels: { a: "b" } },
    spec: { image: "nginx", scaling: { min: 3, max: 3 } },
  });
  expect(WebApp.convert(v2, "v1")).toMatchObject({
    apiVersion: "example.com/v1",
    spec: { replicas: 3, maxReplicas: 3 },
  });
});

test("conversion functions see defaults filled in, and what they leave out is defaulted", () => {
  const bare = {
    apiVersion: "example.com/v2",
    kind: "WebApp",
    metadata: { name: "web" },
    spec: { image: "nginx" },
  };
  expect(WebApp.convert(bare, "v1")).toMatchObject({ spec: { image: "nginx", replicas: 1, maxReplicas: 1 } });
});

test("an object already of the wanted version is returned as it is", () => {
  const v1 = WebApp.make("web", { image: "nginx" });
  expect(WebApp.convert(v1, "v1")).toBe(v1);
});

test("a status that a conversion leaves out stays where both versions have the same, and goes otherwise", () => {
  const status = z.object({ phase: z.enum(["Up", "Down"]).optional() });
  const other = (fields: z.ZodObject) =>
    defineResource({ ...common, version: "v2", spec: z.object({ picture: z.string() }), status: fields });
  const converted = (fields: z.ZodObject) =>
    defineResource({ ...common, version: "v1", spec: z.object({ image: z.string() }), status }).withVersion(
      other(fields),
      {
        to: ({ spec }) => ({ spec: { picture: spec.image } }),
        from: ({ spec }) => ({ spec: { image: String(spec.picture) } }),
      },
    );
  const same = converted(z.object({ phase: z.enum(["Up", "Down"]).optional() }));
  const up = same.make("web", { image: "nginx" }, { phase: "Up" });
  expect(same.convert(up, "v2")).toMatchObject({ status: { phase: "Up" } });
  expect(lostInRoundTrip(same, up, "v2")).toEqual([]);
  const another = converted(z.object({ phase: z.int().optional() }));
  expect(another.convert(up, "v2")).not.toHaveProperty("status");
  const emptied = defineResource({ ...common, version: "v1", spec: z.object({}), status }).withVersion(
    defineResource({ ...common, version: "v2", spec: z.object({}), status }),
    { to: () => ({ spec: {}, status: {} }), from: () => ({ spec: {} }) },
  );
  expect(emptied.convert(emptied.make("web", {}, { phase: "Up" }), "v2")).toHaveProperty("status", {});
});

test("an undefined version, and a kind of another group, are refused by name", () => {
  const v1 = WebApp.make("web", { image: "nginx" });
  expect(() => WebApp.convert(v1, "v3")).toThrow("cannot convert WebApp to v3: there are v1, v2");
  expect(() => WebApp.convert({ ...v1, kind: "Other" }, "v2")).toThrow("cannot convert example.com/v1 Other");
  expect(() => WebApp.convert({ ...v1, apiVersion: "example.com/v9" }, "v2")).toThrow(
    "example.com/v9 WebApp",
  );
});

test("the CRD has both versions, one stored, and says where they are converted", () => {
  const { spec } = WebApp.crd({
    conversion: { service: { namespace: "system", name: "webhook" }, caBundle: "Q0E=" },
  });
  expect(
    spec.versions.map(({ name, served, storage, deprecated }) => ({ name, served, storage, deprecated })),
  ).toEqual([
    { name: "v1", served: true, storage: true, deprecated: true },
    { name: "v2", served: true, storage: false, deprecated: undefined },
  ]);
  expect(spec.conversion).toEqual({
    strategy: "Webhook",
    webhook: {
      conversionReviewVersions: ["v1"],
      clientConfig: {
        service: { namespace: "system", name: "webhook", path: "/convert" },
        caBundle: "Q0E=",
      },
    },
  });
  expect(WebApp.crd({ conversion: "None" }).spec.conversion).toEqual({ strategy: "None" });
});

test("a CRD of several versions that does not say where they are converted is refused", () => {
  expect(() => WebApp.crd()).toThrow("conversion: the kind has several versions");
  expect(() => WebApp.crd({ conversion: { url: "http://x" } })).toThrow(
    'conversion.url: "http://x" must start with https://',
  );
});

test("a fault in another version's schema is refused under that version's name", () => {
  const Bad = defineResource({ ...common, version: "v4", spec: z.object({ when: z.date() }) });
  const Both = WebApp.withVersion(Bad, {
    to: () => ({ spec: { when: new Date(0) } }),
    from: () => ({ spec: { image: "x" } }),
  });
  expect(() => Both.crd({ conversion: "None" })).toThrow(/WebApp \(example\.com\/v4\)[\s\S]*spec\.when/);
});

test("versions of another kind, and versions given twice, are refused", () => {
  const Other = defineResource({ ...common, kind: "Other", version: "v3", spec: z.object({}) });
  const ways = { to: () => ({ spec: {} }), from: () => ({ spec: { image: "" } }) };
  expect(() => WebApp.withVersion(Other, ways)).toThrow("kind: version v3 has Other, and v1 has WebApp");
  const Again = defineResource({ ...common, version: "v2", spec: z.object({}) });
  expect(() => WebApp.withVersion(Again, ways)).toThrow("version: v2 is there already");
});

test("any object of the newer version survives the way to the stored one and back", () => {
  const tier = fc.option(fc.string(), { nil: undefined });
  fc.assert(
    fc.property(fc.string(), fc.nat(), fc.nat(), tier, (image, min, max, name) => {
      const spec = { image, scaling: { min, max }, ...(name === undefined ? {} : { tier: name }) };
      const object = WebAppV2.make({ name: "web", annotations: { a: "b" } }, spec);
      expect(lostInRoundTrip(WebApp, object, "v1")).toEqual([]);
    }),
  );
});

test("what a round trip loses is reported by path", () => {
  const Lossy = defineResource({
    ...common,
    version: "v1",
    spec: z.object({ image: z.string() }),
  }).withVersion(WebAppV2, {
    to: ({ spec }) => ({ spec: { image: spec.image } }),
    from: ({ spec }) => ({ spec: { image: spec.image } }),
  });
  const object = WebAppV2.make("web", { image: "nginx", scaling: { max: 7 }, tier: "gold" });
  expect(lostInRoundTrip(Lossy, object, "v1")).toEqual([
    "spec.scaling.max: 7 became 1",
    'spec.tier: "gold" became absent',
  ]);
});
