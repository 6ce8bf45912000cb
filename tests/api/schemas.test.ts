import { readFile } from "node:fs/promises";
import { type AnyKind, isInvalid } from "@windlass/client";
import { goTypes } from "@windlass/kinds/go-types";
import { builtinTypes } from "@windlass/kinds/schemas";
import { cel, defineResource, immutable, listMap } from "@windlass/runtime";
import { Deployment, type PodTemplateSpecInput } from "@windlass/runtime/kinds";
import * as schemas from "@windlass/runtime/schemas";
import { type BuiltinTypes, builtin, container, podSpec, podTemplateSpec } from "@windlass/runtime/schemas";
import { startCluster, type TestCluster } from "@windlass/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { generateBuiltinTypes } from "../../packages/runtime/src/resource/typegen/builtin-types.ts";
import { fullTemplate } from "./full-template.ts";
import { projected } from "./projected.ts";

const group = "schemas.windlass.dev";
const Workload = defineResource({
  group,
  version: "v1",
  kind: "Workload",
  spec: z.object({ template: podTemplateSpec() }),
});

/** The same kind for objects that do not fit it. */
const untyped: AnyKind = Workload;

let cluster: TestCluster;
let namespace: string;

beforeAll(async () => {
  cluster = await startCluster();
  namespace = await cluster.createNamespace();
  await cluster.install(Workload);
}, 90_000);
afterAll(() => cluster.close(), 60_000);

/** As it goes over the wire: no `undefined`. */
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

test("the generated types are those that the server publishes", async () => {
  const index = (await cluster.client.json({ path: "/openapi/v3" })) as {
    paths: Record<string, { serverRelativeURL: string }>;
  };
  const paths = Object.entries(index.paths).filter(([path]) => /^apis?\/(.+\/)?v\d+$/.test(path));
  const documents = await Promise.all(
    paths.map(async ([, { serverRelativeURL: path }]) => await cluster.client.json({ path })),
  );
  const [types] = generateBuiltinTypes(documents as Parameters<typeof generateBuiltinTypes>[0], goTypes);
  const generated = "../../packages/kinds/src/generated/builtin-types.ts";
  expect(types?.text === (await readFile(new URL(generated, import.meta.url), "utf8"))).toBe(true);
});

test("every type can be a field of a CRD", { timeout: 60_000 }, async () => {
  const inside = new Set(
    Object.values(builtinTypes).flatMap((text) => text.match(/\b[a-z]+v\d+\.\w+/g) ?? []),
  );
  const outermost = Object.keys(builtinTypes).filter((name): name is keyof BuiltinTypes => !inside.has(name));
  // A request has at most three megabytes, and the ten kinds with a Pod template inside take
  // seventy kilobytes each.
  const halves = [outermost.slice(0, outermost.length / 2), outermost.slice(outermost.length / 2)];
  for (const [index, names] of halves.entries()) {
    const fields = names.map((name) => [name.replace(".", ""), builtin(name).optional()] as const);
    await cluster.install(
      defineResource({
        group,
        version: "v1",
        kind: `Everything${index}`,
        plural: `everything${index}`,
        spec: z.object(Object.fromEntries(fields)),
      }),
    );
  }
});

test("every named schema can be a field of a CRD", { timeout: 60_000 }, async () => {
  const { builtin: _builtin, conditionSchema, ...named } = schemas;
  const fields = Object.entries(named).map(([name, make]) => [name, make().optional()] as const);
  const Named = defineResource({
    group,
    version: "v1",
    kind: "Named",
    plural: "named",
    spec: z.object({ ...Object.fromEntries(fields), conditions: z.array(conditionSchema).optional() }),
  });
  await cluster.install(Named);
});

const deployment = (name: string) => ({
  metadata: { namespace, name },
  spec: { replicas: 0, selector: { matchLabels: { app: "web" } }, template: fullTemplate },
});

test("a full Pod template is stored as it was written, like the one of a Deployment", async () => {
  const stored = await cluster.client.create(
    Workload,
    { metadata: { namespace, name: "whole" }, spec: { template: fullTemplate } },
    { fieldValidation: "Strict" },
  );
  expect(plain(stored.spec.template)).toEqual(plain(fullTemplate));
  const built = await cluster.client.create(Deployment, deployment("whole"), { fieldValidation: "Strict" });
  expect(projected(built.spec.template, fullTemplate)).toEqual(plain(stored.spec.template));
  // What was read can be written to the built-in kind without a change.
  const again = await cluster.client.create(Deployment, {
    ...deployment("again"),
    spec: { ...deployment("again").spec, template: stored.spec.template },
  });
  expect(again.spec.template).toEqual(built.spec.template);
});

test("unknown fields and nulls in a template are dropped", async () => {
  const odd = {
    metadata: { labels: { app: "web" }, creationTimestamp: null, colour: "red" },
    spec: { containers: [{ name: "web", ports: [{ containerPort: 80 }], colour: "red", image: null }] },
  };
  const object = { metadata: { namespace, name: "odd" }, spec: { template: odd } };
  await cluster.client.create(untyped, object);
  const stored = await cluster.client.get(Workload, object.metadata);
  expect(stored.spec.template).toEqual({
    metadata: { labels: { app: "web" } },
    spec: { containers: [{ name: "web", ports: [{ containerPort: 80, protocol: "TCP" }] }] },
  });
  const strict = cluster.client.create(untyped, object, { fieldValidation: "Strict" });
  await expect(strict).rejects.toThrow('unknown field "spec.template.metadata.colour"');
});

test.for([
  ["a number as a name", { containers: [{ name: 1 }] }, "containers[0].name: Invalid value"],
  ["a missing name", { containers: [{ image: "nginx" }] }, "containers[0].name: Required value"],
  [
    "an unknown restart policy",
    { containers: [], restartPolicy: "Sometimes" },
    "restartPolicy: Unsupported value",
  ],
  [
    "two containers of one name",
    { containers: [{ name: "a" }, { name: "a" }] },
    "containers[1]: Duplicate value",
  ],
  ["a malformed quantity", { containers: [], overhead: { cpu: "much" } }, "overhead.cpu: Invalid value"],
  [
    "a port that is neither a number nor a name",
    { containers: [{ name: "a", livenessProbe: { tcpSocket: { port: true } } }] },
    "containers[0].livenessProbe.tcpSocket.port: Invalid value",
  ],
  ["a template without a spec", undefined, "spec: Required value"],
] as const)("%s is refused, and the field is named", async ([, spec, fault]) => {
  const object = { metadata: { namespace, name: "bad" }, spec: { template: { metadata: {}, spec } } };
  const refused = cluster.client.create(untyped, object);
  await expect(refused).rejects.toSatisfy(isInvalid);
  await expect(refused).rejects.toThrow(`spec.template.${spec === undefined ? "" : "spec."}${fault}`);
});

test.for([
  ["a fraction without quotes as a quantity", { resources: { requests: { cpu: 0.5 } } }],
  ["an empty string for an enum", { imagePullPolicy: "" }],
  ["null as an item of a list", { command: [null] }],
  ["two variables of one name", { env: [{ name: "A" }, { name: "A" }] }],
  ["a missing field whose zero value is valid", { lifecycle: { preStop: { sleep: {} } } }],
] as const)("%s is accepted in a Deployment and refused in a schema", async ([, fields]) => {
  const { metadata, spec } = deployment("accepted");
  const containers = [{ name: "web", image: "nginx:1.29", ...fields }];
  const odd = { metadata: spec.template.metadata, spec: { containers } };
  const accepted = { metadata, spec: { ...spec, template: odd } };
  await cluster.client.create<AnyKind>(Deployment, accepted, { dryRun: true });
  const refused = cluster.client.create(untyped, { metadata, spec: { template: odd } }, { dryRun: true });
  await expect(refused).rejects.toThrow("spec.template.spec.containers[0].");
  expect(podTemplateSpec().safeParse(odd).success).toBe(false);
});

test("server-side apply merges the containers of a template by name, and their ports by number and protocol", async () => {
  const key = { namespace, name: "merged" };
  const apply = (fieldManager: string, ...containers: PodTemplateSpecInput["spec"]["containers"]) =>
    cluster.client.apply(
      Workload,
      { metadata: key, spec: { template: { spec: { containers } } } },
      { fieldManager },
    );
  await apply("one", { name: "a", image: "nginx:1.29", ports: [{ containerPort: 80 }] });
  await apply("two", { name: "b", image: "redis:7" });
  const merged = await apply("three", { name: "a", ports: [{ containerPort: 53, protocol: "UDP" }] });
  expect(merged.spec.template.spec.containers).toEqual([
    {
      name: "a",
      image: "nginx:1.29",
      ports: [
        { containerPort: 80, protocol: "TCP" },
        { containerPort: 53, protocol: "UDP" },
      ],
    },
    { name: "b", image: "redis:7" },
  ]);
  const without = await apply("one", { name: "a", image: "nginx:1.30" });
  expect(without.spec.template.spec.containers[0]).toEqual({
    name: "a",
    image: "nginx:1.30",
    ports: [{ containerPort: 53, protocol: "UDP" }],
  });
});

test("the server accepts rules that iterate over one list of a template", {
  timeout: 60_000,
}, async () => {
  const images = cel("self.template.spec.containers.all(c, has(c.image))", "every container needs an image");
  const labelled = cel("has(self.metadata) && 'app' in self.metadata.labels");
  const Ruled = defineResource({
    group,
    version: "v1",
    kind: "Ruled",
    plural: "ruled",
    spec: z
      .object({
        template: podTemplateSpec().check(labelled),
        fixed: podTemplateSpec().check(immutable()).optional(),
        sidecars: z.array(container().check(immutable())).check(listMap("name")).optional(),
      })
      .check(images),
  });
  await cluster.install(Ruled);
  const metadata = { namespace, name: "ruled" };
  const spec = { metadata: { labels: { app: "web" } }, spec: { containers: [{ name: "web" }] } };
  const refused = cluster.client.create(Ruled, { metadata, spec: { template: spec } });
  await expect(refused).rejects.toThrow("every container needs an image");
});

test("the server accepts a rule with nested iterations only where the lists have bounds", {
  timeout: 60_000,
}, async () => {
  const rule = cel("self.containers.all(c, !has(c.env) || c.env.all(e, e.name != 'X'))", "X is reserved");
  const kindOf = (kind: string, spec: z.ZodType) =>
    defineResource({ group, version: "v1", kind, plural: kind.toLowerCase(), spec: z.object({ pod: spec }) });
  await expect(cluster.install(kindOf("Unbounded", podSpec().check(rule)))).rejects.toThrow(
    "estimated rule cost exceeds budget",
  );
  const env = z.array(schemas.envVar()).max(64).check(listMap("name")).optional();
  const containers = z.array(container().extend({ env })).max(16).check(listMap("name"));
  await cluster.install(kindOf("Bounded", podSpec().extend({ containers }).check(rule)));
});
