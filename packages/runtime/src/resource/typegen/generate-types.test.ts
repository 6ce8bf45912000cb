import { execFile } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import type { RecordedGoTypes } from "@windlass/kinds/go-types";
import { expect, test } from "vitest";
import { z } from "zod";
import { defineResource, embeddedResource, intOrString, listMap } from "../index.ts";
import { generateBuiltinKinds } from "./builtin.ts";
import { type CrdSource, generateTypes } from "./generate-types.ts";
import type { OpenApiDocument, OpenApiSchema } from "./openapi-schema.ts";

const noGoTypes: RecordedGoTypes = { major: 1, minor: 35, groups: {}, packages: {} };
const root = join(import.meta.dirname, "../../../../..");

/** What the compiler says of these files, with the repository's packages in reach. */
async function compile(files: Readonly<Record<string, string>>): Promise<string> {
  const cache = join(root, "node_modules/.cache");
  await mkdir(cache, { recursive: true });
  const folder = await mkdtemp(join(cache, "generate-types-"));
  try {
    for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
    await writeFile(
      join(folder, "tsconfig.json"),
      JSON.stringify({
        extends: join(root, "tsconfig.json"),
        include: ["*.ts"],
        compilerOptions: { incremental: false },
      }),
    );
    const tsc = join(root, "node_modules/.bin/tsc");
    const said = promisify(execFile)(tsc, ["-p", folder, "--noEmit"]);
    return await said.then(
      ({ stdout }) => stdout,
      (error: unknown) => String((error as { stdout?: string }).stdout ?? error),
    );
  } finally {
    await rm(folder, { recursive: true });
  }
}

const Thing = defineResource({
  group: "example.com",
  version: "v1",
  kind: "Thing",
  spec: z.object({
    image: z.string(),
    replicas: z.int().default(1),
    mode: z.enum(["Fast", "Safe"]).default("Safe"),
    port: intOrString().optional(),
    nick: z.string().nullable().optional(),
    env: z
      .array(z.object({ name: z.string(), value: z.string().default("") }))
      .check(listMap("name"))
      .default([]),
    labels: z.record(z.string(), z.string()).optional(),
    extra: z.looseObject({ known: z.string().optional() }).optional(),
    anything: z.unknown().optional(),
    object: embeddedResource().optional(),
    "odd-name": z.boolean().optional(),
    plain: z.object({ a: z.int() }).optional(),
  }),
  status: z.object({ replicas: z.int().optional() }),
});

const crd = Thing.crd() as CrdSource;

test("a CRD becomes a kind, the type of its objects, and the type of what may be sent", () => {
  const text = generateTypes(crd);
  expect(text.split("\n")[0]).toBe(
    'import type { AnyObject, NamedMetaInput, NamespacedObjectMeta, ResourceKind } from "@windlass/client";',
  );
  expect(text.match(/import /g)).toHaveLength(1);
  expect(text).toContain(
    'export const Thing: ResourceKind<Thing, ThingInput, "Namespaced"> = { group: "example.com", version: "v1", kind: "Thing", plural: "things", scope: "Namespaced" };',
  );
  expect(text).toContain(
    "export interface ThingSpec {\n  readonly image: string;\n  readonly replicas: number;",
  );
  expect(text).toContain(
    "export interface ThingSpecInput {\n  readonly image: string;\n  readonly replicas?: number | undefined;",
  );
  expect(text).toContain('readonly mode: "Fast" | "Safe";');
  expect(text).toContain("readonly port?: number | string;");
  expect(text).toContain("readonly nick?: string | null;");
  expect(text).toContain("readonly labels?: Readonly<Record<string, string>>;");
  expect(text).toContain("readonly [field: string]: unknown;");
  expect(text).toContain("readonly object?: AnyObject;");
  expect(text).toContain('readonly "odd-name"?: boolean;');
  expect(text).toContain("readonly conditions?: readonly ThingStatusConditions[];");
  expect(text).toContain("readonly port?: number | string | undefined;");
  expect(text, "no second type where both sides are the same").not.toContain("ThingSpecPlainInput");
});

test("the generated text compiles, takes what the server takes, and refuses what it refuses", async () => {
  const uses = `
    import type { CreateOf, InputOf, ObjectOf } from "@windlass/client";
    import { Thing } from "./thing.ts";
    export const good: CreateOf<typeof Thing> = { metadata: { namespace: "b", generateName: "a-" }, spec: { image: "x", env: [{ name: "A" }], nick: undefined } };
    export const filled = (thing: ObjectOf<typeof Thing>): number => thing.spec.replicas + thing.spec.env.length;
    export const bad: InputOf<typeof Thing> = { metadata: { name: "a" }, spec: { image: 1 } };`;
  const said = await compile({ "thing.ts": generateTypes(crd), "uses.ts": uses });
  expect(
    said
      .trim()
      .split("\n")
      .filter((line) => line.includes("error")),
  ).toEqual([expect.stringMatching(/uses\.ts\(6,.*Type 'number' is not assignable to type 'string'/)]);
});

test("of several versions the one that Kubernetes prefers is taken, or the one asked for", () => {
  const version = (name: string, served = true) => ({
    name,
    served,
    schema: { openAPIV3Schema: { type: "object" } },
  });
  const spec = {
    ...crd.spec,
    versions: [version("v1alpha1"), version("v1"), version("v2beta1"), version("v3", false)],
  };
  expect(generateTypes({ ...crd, spec })).toContain('version: "v1",');
  expect(generateTypes({ ...crd, spec }, { version: "v2beta1" })).toContain('version: "v2beta1",');
  expect(() => generateTypes({ ...crd, spec }, { version: "v9" })).toThrow(
    "Thing has no version v9: there are v1alpha1, v1, v2beta1, v3",
  );
});

test("names in a hostile CRD cannot break out of the text", async () => {
  const hostile: OpenApiSchema = {
    type: "object",
    properties: {
      '"; evil()': { type: "string", enum: ['"); evil("', "`x`"] },
      __proto__x: { type: "object", properties: { constructor: { type: "string" } } },
      "a b": { type: "object", properties: { c: { type: "string" } } },
      ab: { type: "object", properties: { c: { type: "string" } } },
    },
  };
  const spec = {
    group: "odds.example.com",
    scope: "Cluster",
    names: { kind: "Odd-Kind", plural: "odds" },
    versions: [
      { name: "v1", schema: { openAPIV3Schema: { type: "object", properties: { spec: hostile } } } },
    ],
  };
  const kind = "CustomResourceDefinition";
  expect(await compile({ "odd.ts": generateTypes({ kind, spec }) })).toBe("");
  const group = 'x"; evil()';
  expect(() => generateTypes({ kind, spec: { ...spec, group } })).toThrow("spec.group: must be a domain");
});

test("a source without kinds is refused", () => {
  expect(() => generateTypes({})).toThrow("no kind to generate types for");
});

test("kinds with the names of TypeScript's own types compile", async () => {
  const files = ["Record", "Readonly"].map((kind) => {
    const names = { ...crd.spec.names, kind };
    return [`${kind}.ts`, generateTypes({ ...crd, spec: { ...crd.spec, names } })];
  });
  expect(await compile(Object.fromEntries(files))).toBe("");
}, 60_000);

test("a definition that no server would take is refused by path", () => {
  const fault = (spec: object) => () => generateTypes({ ...crd, spec: { ...crd.spec, ...spec } });
  const named = (names: object) => fault({ names: { ...crd.spec.names, ...names } });
  expect(named({ kind: "../Thing" })).toThrow('of "../Thing": spec.names.kind: must be letters');
  expect(named({ kind: "9Things" })).toThrow("spec.names.kind: must be letters");
  expect(named({ kind: "ResourceKind" })).toThrow("spec.names.kind: is the name of a type");
  expect(named({ plural: undefined })).toThrow("spec.names.plural");
  expect(fault({ group: 7 })).toThrow("spec.group: must be a domain name");
  expect(fault({ versions: [] })).toThrow("spec.versions: must list at least one version");
  expect(fault({ versions: [{ name: "v1", served: false }] })).toThrow("spec.versions: none is served");
  const schema = { openAPIV3Schema: { properties: { spec: { additionalProperties: null } } } };
  expect(fault({ versions: [{ name: "v1", schema }] })).toThrow(
    "spec.versions[0].schema.openAPIV3Schema.properties.spec.additionalProperties: must be a schema",
  );
});

const gvk = (kind: string) => [{ group: "apps", version: "v1", kind }];
const reference = (name: string) => ({ $ref: `#/components/schemas/${name}` });
const operation = (kind: string) => {
  const what = { "x-kubernetes-group-version-kind": gvk(kind)[0] };
  return { get: what, post: what };
};

const document: OpenApiDocument = {
  openapi: "3.0.0",
  paths: {
    "/apis/apps/v1/deployments": operation("Deployment"),
    "/apis/apps/v1/namespaces/{namespace}/deployments": operation("Deployment"),
    "/apis/apps/v1/namespaces/{namespace}/deployments/{name}/scale": operation("Scale"),
    "/apis/apps/v1/watch/deployments": operation("Deployment"),
  },
  components: {
    schemas: {
      "io.k8s.api.apps.v1.Deployment": {
        type: "object",
        properties: {
          apiVersion: { type: "string" },
          metadata: { default: {}, allOf: [reference("io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta")] },
          spec: { default: {}, allOf: [reference("io.k8s.api.apps.v1.DeploymentSpec")] },
          status: { default: {}, allOf: [reference("io.k8s.api.apps.v1.DeploymentSpec")] },
        },
        "x-kubernetes-group-version-kind": gvk("Deployment"),
      },
      "io.k8s.api.apps.v1.DeploymentSpec": {
        type: "object",
        required: ["template"],
        properties: {
          template: { default: {}, allOf: [reference("io.k8s.api.core.v1.PodTemplateSpec")] },
          at: reference("io.k8s.apimachinery.pkg.apis.meta.v1.Time"),
          surge: reference("io.k8s.apimachinery.pkg.util.intstr.IntOrString"),
        },
      },
      "io.k8s.api.core.v1.PodTemplateSpec": {
        type: "object",
        properties: { metadata: reference("io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta") },
      },
      "io.k8s.api.core.v1.Unreached": { type: "object", properties: { a: { type: "string" } } },
    },
  },
};

test("built-in kinds are split by group version, import each other, and leave out what no kind reaches", () => {
  const modules = new Map(generateBuiltinKinds([document], noGoTypes).map(({ name, text }) => [name, text]));
  expect([...modules.keys()]).toEqual(["apps-v1", "core-v1"]);
  const apps = modules.get("apps-v1") ?? "";
  expect(apps).toContain('import type { PodTemplateSpec, PodTemplateSpecInput } from "./core-v1.ts";');
  expect(apps).toContain('plural: "deployments", scope: "Namespaced"');
  expect(apps).toContain("readonly template: PodTemplateSpec;");
  expect(apps).toContain("readonly at?: string;");
  expect(apps).toContain("readonly surge?: number | string;");
  expect(apps).toContain("  readonly spec: DeploymentSpec;\n  readonly status?: DeploymentSpec;");
  expect(modules.get("core-v1")).not.toContain("Unreached");
  expect(modules.get("core-v1")).toContain("readonly metadata?: ObjectMetaInput;");
});

test("a document of a CRD's group serves like the CRD itself", () => {
  const name = "com.example.v1.Thing";
  const schema = crd.spec.versions[0]?.schema?.openAPIV3Schema as OpenApiSchema;
  const kind = { group: "example.com", version: "v1", kind: "Thing" };
  const text = generateTypes({
    paths: {
      "/apis/example.com/v1/namespaces/{namespace}/things": {
        get: { "x-kubernetes-group-version-kind": kind },
      },
    },
    components: { schemas: { [name]: { ...schema, "x-kubernetes-group-version-kind": [kind] } } },
  });
  expect(text).toBe(generateTypes(crd));
});

test("objects need a name, but for reviews: those can be created and not read, and are answered in their status", () => {
  const kinds = ["Binding", "CodeReview", "TokenReview"] as const;
  const of = (kind: string) => ({ group: "", version: "v1", kind });
  const [module] = generateBuiltinKinds(
    [
      {
        paths: Object.fromEntries(
          kinds.map((kind) => {
            const what = { "x-kubernetes-group-version-kind": of(kind) };
            const item = kind === "CodeReview" ? { get: what, post: what } : { post: what };
            return [`/api/v1/${kind.toLowerCase()}s`, item];
          }),
        ),
        components: {
          schemas: Object.fromEntries(
            kinds.map((kind) => [
              `io.k8s.api.core.v1.${kind}`,
              {
                type: "object",
                properties: kind === "Binding" ? {} : { status: { type: "string" } },
                "x-kubernetes-group-version-kind": [of(kind)],
              },
            ]),
          ),
        },
      },
    ],
    noGoTypes,
  );
  const inputOf = (kind: string) =>
    new RegExp(`export interface ${kind}Input \\{.*?(metadata[^;]*);`, "s").exec(module?.text ?? "")?.[1];
  expect(kinds.map(inputOf)).toEqual([
    "metadata: ClusterMetaInput",
    "metadata: ClusterMetaInput",
    "metadata?: ObjectMetaInput | undefined",
  ]);
});
