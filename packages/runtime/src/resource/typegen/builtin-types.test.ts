import type { RecordedGoTypes } from "@windlass/kinds/go-types";
import { expect, test } from "vitest";
import { generateBuiltinKinds } from "./builtin.ts";
import { generateBuiltinTypes } from "./builtin-types.ts";
import type { OpenApiDocument, OpenApiSchema } from "./openapi-schema.ts";

const noGoTypes: RecordedGoTypes = { major: 1, minor: 35, groups: {}, packages: {} };
const core = "io.k8s.api.core.v1";
const reference = (name: string): OpenApiSchema => ({ $ref: `#/components/schemas/${name}` });
const listOf = (name: string, ...keys: string[]): OpenApiSchema => ({
  type: "array",
  items: { default: {}, allOf: [reference(`${core}.${name}`)] },
  "x-kubernetes-list-type": "map",
  "x-kubernetes-list-map-keys": keys,
});

/** A kind `Box` with these fields, and the types that they are made of. */
function documentWith(
  fields: Readonly<Record<string, OpenApiSchema>>,
  types: Readonly<Record<string, OpenApiSchema>> = {},
): OpenApiDocument {
  const gvk = { group: "", version: "v1", kind: "Box" };
  const named = Object.entries(types).map(([name, schema]) => [`${core}.${name}`, schema]);
  return {
    paths: {
      "/api/v1/namespaces/{namespace}/boxes": {
        get: { "x-kubernetes-group-version-kind": gvk },
        post: { "x-kubernetes-group-version-kind": gvk },
      },
    },
    components: {
      schemas: {
        [`${core}.Box`]: {
          type: "object",
          description: "A box.",
          properties: {
            apiVersion: { type: "string" },
            kind: { type: "string" },
            metadata: { default: {}, allOf: [reference("io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta")] },
            ...fields,
          },
          "x-kubernetes-group-version-kind": [gvk],
        },
        "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta": {
          type: "object",
          properties: { name: { type: "string", description: "Its `name`.\nUnique." } },
        },
        "io.k8s.apimachinery.pkg.api.resource.Quantity": { oneOf: [{ type: "string" }, { type: "number" }] },
        ...Object.fromEntries(named),
      },
    },
  };
}

function modulesOf(document: OpenApiDocument): Map<string, string> {
  return new Map(generateBuiltinTypes([document], noGoTypes).map(({ name, text }) => [name, text]));
}

/** The lines of a type's notation. */
function linesOf(document: OpenApiDocument, type: string): string[] {
  const text = modulesOf(document).get("builtin-types") ?? "";
  const [, notation = ""] = new RegExp(`"corev1\\.${type}": \`\\n(.*?)\`,`, "s").exec(text) ?? [];
  return notation
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
}

test("a kind has its own apiVersion and kind, and requires metadata", () => {
  const document = documentWith({ size: { type: "integer", format: "int32" } });
  expect(linesOf(document, "Box")).toEqual([
    'apiVersion?: "v1"',
    'kind?: "Box"',
    "metadata: metav1.ObjectMeta",
    "size?: int32",
  ]);
});

test("each name maps to the type of what one may write", () => {
  const quantity = reference("io.k8s.apimachinery.pkg.api.resource.Quantity");
  const text = modulesOf(
    documentWith(
      { lid: reference(`${core}.Lid`), weight: reference(`${core}.Weight`) },
      {
        Lid: { type: "object", properties: { colour: { type: "string" } } },
        Weight: { type: "object", properties: { net: quantity } },
      },
    ),
  ).get("builtin-types");
  expect(text).toContain('import type { ObjectMetaInput } from "../object.ts";\n');
  expect(text).toContain('import type * as corev1 from "./core-v1.ts";\n');
  expect(text).toContain('  readonly "corev1.Box": corev1.BoxInput;\n');
  expect(text).toContain('  readonly "corev1.Lid": corev1.LidInput;\n');
  expect(text).toContain('  readonly "corev1.Weight": corev1.WeightInput;\n');
  expect(text).toContain('  readonly "metav1.ObjectMeta": ObjectMetaInput;\n');
});

test("what one writes has an Input type: a quantity may be a number, and a field undefined", () => {
  const document = documentWith(
    { weight: { default: {}, allOf: [reference(`${core}.Weight`)] } },
    {
      Weight: {
        type: "object",
        properties: { net: reference("io.k8s.apimachinery.pkg.api.resource.Quantity") },
      },
    },
  );
  const text = generateBuiltinKinds([document], noGoTypes).find(({ name }) => name === "core-v1")?.text;
  expect(text).toContain("export interface Weight {\n  readonly net?: string;\n}");
  expect(text).toContain("export interface WeightInput {\n  readonly net?: number | string | undefined;\n}");
  expect(text).toContain("  readonly metadata: NamespacedObjectMeta;\n  readonly weight?: Weight;\n");
  expect(text).toContain(
    "  readonly metadata: NamedMetaInput;\n  readonly weight?: WeightInput | undefined;\n",
  );
});

test("only keys of lists get their default", () => {
  const document = documentWith(
    { ports: listOf("Port", "number", "protocol"), spare: { type: "string", default: "none" } },
    {
      Port: {
        type: "object",
        required: ["number"],
        properties: {
          number: { type: "integer", format: "int32", default: 0 },
          protocol: { type: "string", default: "TCP" },
          note: { type: "string", default: "" },
        },
      },
    },
  );
  expect(linesOf(document, "Box")).toContain("ports?: corev1.Port[] by number,protocol");
  expect(linesOf(document, "Box")).toContain("spare?: string");
  expect(linesOf(document, "Port")).toEqual(["number: int32", 'protocol?: string = "TCP"', "note?: string"]);
});

test("a list whose key may be missing is atomic", () => {
  const document = documentWith(
    { owners: listOf("Owner", "name") },
    { Owner: { type: "object", properties: { name: { type: "string" } } } },
  );
  expect(linesOf(document, "Box")).toContain("owners?: corev1.Owner[] atomic");
});

test("a reference that closes a cycle becomes an object of any fields", () => {
  const document = documentWith(
    { part: reference(`${core}.Part`) },
    {
      Part: { type: "object", properties: { next: reference(`${core}.Joint`) } },
      Joint: { type: "object", properties: { parts: { type: "array", items: reference(`${core}.Part`) } } },
    },
  );
  expect(linesOf(document, "Part")).toEqual(["next?: object"]);
  expect(linesOf(document, "Joint")).toEqual(["parts?: object[]"]);
});

test("list markers on bytes are ignored, granular is printed only where the type is atomic", () => {
  const document = documentWith(
    {
      seal: { type: "string", format: "byte", "x-kubernetes-list-type": "atomic" },
      labels: {
        type: "object",
        additionalProperties: { type: "string" },
        "x-kubernetes-map-type": "granular",
      },
      selector: {
        type: "object",
        additionalProperties: { type: "string" },
        "x-kubernetes-map-type": "atomic",
      },
      whole: reference(`${core}.Whole`),
      parts: { allOf: [reference(`${core}.Whole`)], "x-kubernetes-map-type": "granular" },
    },
    { Whole: { type: "object", properties: {}, "x-kubernetes-map-type": "atomic" } },
  );
  expect(linesOf(document, "Box").slice(3)).toEqual([
    "seal?: byte",
    "labels?: map<string>",
    "selector?: map<string> atomic",
    "whole?: corev1.Whole",
    "parts?: corev1.Whole granular",
  ]);
  expect(linesOf(document, "Whole")).toEqual(["atomic"]);
});

test("a format that the notation has no word for is refused, with the field", () => {
  const document = documentWith({ when: { type: "string", format: "fortnight" } });
  expect(() => generateBuiltinTypes([document], noGoTypes)).toThrow(`${core}.Box.when: no notation for`);
});

test("what Go writes as null may be null, unless the server refuses it", () => {
  const list = { type: "array", items: { type: "string" } };
  const time = reference("io.k8s.apimachinery.pkg.apis.meta.v1.Time");
  const fields = { containers: list, names: list, seenAt: time, sentAt: time, owner: { type: "string" } };
  const document = documentWith(
    { spec: { allOf: [reference(`${core}.PodSpec`)] } },
    { PodSpec: { type: "object", properties: fields, required: ["containers", "names"] } },
  );
  const types: RecordedGoTypes = {
    ...noGoTypes,
    packages: {
      "core.v1": {
        types: {
          PodSpec: [
            ["containers", "[]string", "", 1],
            ["names", "Names", "", 2],
            ["seenAt", "meta.v1.Time", "o", 3],
            ["sentAt", "meta.v1.Time", "oz", 4],
            ["owner", "*string", "o", 5],
          ],
          Names: "[]string",
        },
        wrapped: [],
      },
    },
  };
  const kinds = generateBuiltinKinds([document], types).find(({ name }) => name === "core-v1")?.text ?? "";
  const [, read = ""] = /export interface PodSpec \{\n(.*?)\n\}/s.exec(kinds) ?? [];
  expect(read.split("\n").map((line) => line.trim())).toEqual([
    "readonly containers: readonly string[];",
    "readonly names: readonly string[] | null;",
    "readonly seenAt?: string | null;",
    "readonly sentAt?: string;",
    "readonly owner?: string;",
  ]);
  expect(kinds).toContain("readonly seenAt?: string | null | undefined;");
  const text = generateBuiltinTypes([document], types)[0]?.text ?? "";
  expect(text).toContain("names: string[] | null\n");
  expect(text).toContain("seenAt?: date-time | null\n");
});
