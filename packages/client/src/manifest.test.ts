import { expect, test } from "vitest";
import { asManifest } from "./index.ts";

const manifest = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" }, data: { a: "b" } };

test("a document that says its kind and its name is a manifest, with all its fields", () => {
  expect(asManifest(manifest, "a.yaml")).toBe(manifest);
});

test.for([
  null,
  undefined,
  "v1",
  [],
  { ...manifest, apiVersion: 1 },
  { ...manifest, kind: undefined },
  { ...manifest, metadata: null },
  { ...manifest, metadata: {} },
  { ...manifest, metadata: { name: 1 } },
])("%j is none, and the error says where it is from", (document) => {
  expect(() => asManifest(document, "a.yaml")).toThrow(
    new TypeError("a.yaml: a manifest needs apiVersion, kind and metadata.name"),
  );
});
