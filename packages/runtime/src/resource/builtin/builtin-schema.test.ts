import { readFile } from "node:fs/promises";
import type { InputOf, ObjectOf } from "@windlass/client";
import {
  type ContainerInput,
  CronJob,
  Deployment,
  type DeploymentInput,
  type LabelSelectorInput,
  type PodTemplateSpec,
  type PodTemplateSpecInput,
} from "@windlass/kinds/builtin";
import { type BuiltinTypes, builtinTypes } from "@windlass/kinds/schemas";
import { expect, expectTypeOf, test } from "vitest";
import { z } from "zod";
import { child } from "../../reconcile/child.ts";
import { structuralSchema } from "../from-zod.ts";
import { cel, defineResource, listMap } from "../index.ts";
import { Problems } from "../refusal.ts";
import type { StructuralSchema } from "../structural.ts";
import { checkStructure } from "../structural-rules.ts";
import * as schemas from "./index.ts";
import { builtin, container, labelSelector, objectReference, podSpec, podTemplateSpec } from "./index.ts";

function structureOf(schema: z.ZodType): StructuralSchema {
  const problems = new Problems();
  const node = structuralSchema(schema, "spec", problems);
  checkStructure(node, "spec", problems);
  expect(problems.list).toEqual([]);
  return node;
}

const Workload = defineResource({
  group: "example.com",
  version: "v1",
  kind: "Workload",
  spec: z.object({
    template: podTemplateSpec(),
    sidecars: z.array(container()).check(listMap("name")).optional(),
    selector: labelSelector().optional(),
    jobTemplate: schemas.jobTemplateSpec().optional(),
  }),
});

test("the static type is the one of the built-in kinds", () => {
  expectTypeOf<
    Readonly<z.output<ReturnType<typeof podTemplateSpec>>>
  >().toEqualTypeOf<PodTemplateSpecInput>();
  expectTypeOf<Readonly<z.input<ReturnType<typeof podTemplateSpec>>>>().toEqualTypeOf<PodTemplateSpecInput>();
  expectTypeOf<Readonly<z.output<ReturnType<typeof labelSelector>>>>().toEqualTypeOf<LabelSelectorInput>();
  expectTypeOf<Readonly<z.output<ReturnType<typeof container>>>>().toEqualTypeOf<ContainerInput>();
  expectTypeOf(builtin("corev1.Container")).toEqualTypeOf<ReturnType<typeof container>>();
  expectTypeOf<"corev1.NoSuchType">().not.toExtend<Parameters<typeof builtin>[0]>();
});

test("a template that was read can be written to a built-in kind without a cast", () => {
  type Read = ObjectOf<typeof Workload>;
  expectTypeOf<Read["spec"]["template"]>().toExtend<DeploymentInput["spec"]["template"]>();
  expectTypeOf<InputOf<typeof Workload>["spec"]["template"]>().toExtend<PodTemplateSpecInput>();
  const app = Workload.make("web", { template: { spec: { containers: [{ name: "web", image: "nginx" }] } } });
  const matchLabels = { app: "web" };
  const children = (object: Read) => [
    child(Deployment, {
      metadata: { name: "web" },
      spec: {
        selector: object.spec.selector ?? { matchLabels },
        template: {
          ...object.spec.template,
          spec: {
            ...object.spec.template.spec,
            containers: [...object.spec.template.spec.containers, ...(object.spec.sidecars ?? [])],
          },
        },
      },
    }),
    ...(object.spec.jobTemplate === undefined
      ? []
      : [
          child(CronJob, {
            metadata: { name: "web" },
            spec: { schedule: "@daily", jobTemplate: object.spec.jobTemplate },
          }),
        ]),
  ];
  const template = { spec: { containers: [{ name: "web", image: "nginx" }] } };
  expect(children(app)).toMatchObject([{ kind: Deployment, object: { spec: { template } } }]);
});

test("values that do not fit do not compile", () => {
  type Template = InputOf<typeof Workload>["spec"]["template"];
  expectTypeOf<{ spec: { containers: [{ image: string }] } }>().not.toExtend<Template>();
  expectTypeOf<{ spec: { containers: []; restartPolicy: "Sometimes" } }>().not.toExtend<Template>();
  expectTypeOf<{ metadata: { labels: { a: string } } }>().not.toExtend<Template>();
});

test("quantities may be written as numbers; built-in kinds return strings", () => {
  type Limits = { readonly limits?: Readonly<Record<string, number | string>> | undefined };
  expectTypeOf<z.output<ReturnType<typeof schemas.resourceRequirements>>>().toExtend<Limits>();
  expectTypeOf<{ spec: { containers: { name: string; resources: { limits: { cpu: 1 } } }[] } }>().toExtend<
    DeploymentInput["spec"]["template"]
  >();
  expectTypeOf<PodTemplateSpec>().toExtend<PodTemplateSpecInput>();
  expectTypeOf<PodTemplateSpecInput>().not.toExtend<PodTemplateSpec>();
});

test("parsing drops unknown fields and fills in the keys of lists", () => {
  const parsed = podTemplateSpec().parse({
    metadata: { labels: { app: "web" }, colour: "red" },
    spec: {
      containers: [
        {
          name: "web",
          colour: "red",
          ports: [{ containerPort: 80 }, { containerPort: 53, protocol: "UDP" }],
          resources: { limits: { cpu: 1, memory: "1.5Gi" } },
          readinessProbe: { httpGet: { port: "http" } },
        },
      ],
      imagePullSecrets: [{}],
    },
  });
  expect(parsed).toEqual({
    metadata: { labels: { app: "web" } },
    spec: {
      containers: [
        {
          name: "web",
          ports: [
            { containerPort: 80, protocol: "TCP" },
            { containerPort: 53, protocol: "UDP" },
          ],
          resources: { limits: { cpu: 1, memory: "1.5Gi" } },
          readinessProbe: { httpGet: { port: "http" } },
        },
      ],
      imagePullSecrets: [{ name: "" }],
    },
  });
});

test.for([
  ["a field of the wrong type", { containers: [{ name: 1 }] }, ["containers", 0, "name"]],
  ["a value outside the enum", { containers: [], dnsPolicy: "Sometimes" }, ["dnsPolicy"]],
  ["a required field that is missing", { containers: [{ image: "nginx" }] }, ["containers", 0, "name"]],
  ["two items with one key", { containers: [{ name: "a" }, { name: "a" }] }, ["containers"]],
  ["a malformed quantity", { containers: [], overhead: { cpu: "much" } }, ["overhead", "cpu"]],
] as const)("%s is refused, and the field is named", ([, spec, path]) => {
  expect(
    podSpec()
      .safeParse(spec)
      .error?.issues.map((issue) => issue.path),
  ).toEqual([path]);
});

test("the structural schema has the types, formats, keys and merge types of the API", () => {
  const pod = structureOf(podSpec()).properties ?? {};
  expect(pod.containers).toMatchObject({
    type: "array",
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": ["name"],
    items: { type: "object", required: ["name"] },
  });
  const fields = pod.containers?.items?.properties ?? {};
  expect(fields.ports).toEqual({
    type: "array",
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": ["containerPort", "protocol"],
    items: {
      type: "object",
      required: ["containerPort"],
      properties: {
        containerPort: { type: "integer", format: "int32" },
        hostIP: { type: "string" },
        hostPort: { type: "integer", format: "int32" },
        name: { type: "string" },
        protocol: { type: "string", enum: ["SCTP", "TCP", "UDP"], default: "TCP" },
      },
    },
  });
  expect(fields.command).toEqual({
    type: "array",
    items: { type: "string" },
    "x-kubernetes-list-type": "atomic",
  });
  expect(fields.imagePullPolicy, "no default").toEqual({
    type: "string",
    enum: ["Always", "IfNotPresent", "Never"],
  });
  expect(fields.restartPolicy, "no enum where Kubernetes publishes none").toEqual({ type: "string" });
  expect(fields.resources?.properties?.limits).toEqual({
    type: "object",
    additionalProperties: { "x-kubernetes-int-or-string": true, pattern: expect.any(String) },
  });
  expect(fields.livenessProbe?.properties?.httpGet?.properties?.port).toEqual({
    "x-kubernetes-int-or-string": true,
  });
  expect(pod.terminationGracePeriodSeconds).toEqual({ type: "integer", format: "int64" });
  expect(pod.nodeSelector).toEqual({
    type: "object",
    additionalProperties: { type: "string" },
    "x-kubernetes-map-type": "atomic",
  });
  expect(structureOf(labelSelector())).toMatchObject({ type: "object", "x-kubernetes-map-type": "atomic" });
  const secret = structureOf(builtin("corev1.Secret")).properties ?? {};
  expect(secret.kind).toEqual({ type: "string", enum: ["Secret"] });
  expect(secret.data?.additionalProperties).toEqual({ type: "string", pattern: expect.any(String) });
  const revision = structureOf(builtin("appsv1.ControllerRevision")).properties ?? {};
  expect(revision.data).toEqual({ type: "object", "x-kubernetes-preserve-unknown-fields": true });
});

test("the metadata of a template keeps every field", () => {
  const metadata = structureOf(podTemplateSpec()).properties?.metadata;
  expect(Object.keys(metadata?.properties ?? {})).toEqual([
    "annotations",
    "creationTimestamp",
    "deletionGracePeriodSeconds",
    "deletionTimestamp",
    "finalizers",
    "generateName",
    "generation",
    "labels",
    "managedFields",
    "name",
    "namespace",
    "ownerReferences",
    "resourceVersion",
    "selfLink",
    "uid",
  ]);
  expect(metadata?.properties?.finalizers?.["x-kubernetes-list-type"]).toBe("set");
});

test("a field may be granular although its type is atomic", () => {
  const volume = structureOf(builtin("corev1.PersistentVolumeSpec")).properties ?? {};
  expect(volume.claimRef?.["x-kubernetes-map-type"]).toBe("granular");
  expect(structureOf(objectReference())["x-kubernetes-map-type"]).toBe("atomic");
});

test("a list whose keys may be missing is atomic, since a CRD cannot merge it by key", () => {
  const { secrets } = structureOf(builtin("corev1.ServiceAccount")).properties ?? {};
  expect(secrets?.["x-kubernetes-list-type"]).toBe("atomic");
});

test("a recursive type keeps everything below its first level", () => {
  const { properties, not } = structureOf(builtin("apiextensionsv1.JSONSchemaProps")).properties ?? {};
  const kept = { type: "object", "x-kubernetes-preserve-unknown-fields": true };
  expect(not).toEqual(kept);
  expect(properties?.additionalProperties).toEqual(kept);
  const schema = { properties: { a: { items: { type: "string", unheard: 1 } } } };
  expect(builtin("apiextensionsv1.JSONSchemaProps").parse(schema)).toEqual(schema);
});

test("every type has a structural schema", () => {
  const inside = new Set(
    Object.values(builtinTypes).flatMap((text) => text.match(/\b[a-z]+v\d+\.\w+/g) ?? []),
  );
  const outermost = Object.keys(builtinTypes).filter((name): name is keyof BuiltinTypes => !inside.has(name));
  expect(inside.size + outermost.length).toBeGreaterThan(450);
  for (const name of outermost) structureOf(builtin(name));
});

test("each function makes the schema of the type it is named after", () => {
  const others = new Set([
    "builtin",
    "conditionSchema",
    "duration",
    "embeddedResource",
    "intOrString",
    "quantity",
  ]);
  const named = Object.entries(schemas).filter(([name]) => !others.has(name)) as [string, () => z.ZodType][];
  expect(named.length).toBeGreaterThan(50);
  for (const [name, make] of named) {
    const types = Object.keys(builtinTypes).filter(
      (type) => type.replace(/^.*\./, "").toLowerCase() === name.toLowerCase(),
    ) as (keyof BuiltinTypes)[];
    expect(
      types.map((type) => structureOf(builtin(type))),
      name,
    ).toContainEqual(structureOf(make()));
  }
});

test("schemas can be defaulted, described, picked from and extended", () => {
  const spec = z.object({
    resources: schemas
      .resourceRequirements()
      .default({ requests: { cpu: "100m" } })
      .describe("What it needs"),
    container: container().omit({ name: true }).partial().optional(),
    tiered: container()
      .extend({ tier: z.enum(["gold", "silver"]) })
      .optional(),
    target: objectReference().pick({ kind: true, name: true }).required().optional(),
    few: podSpec()
      .extend({ containers: z.array(container()).max(8).check(listMap("name")) })
      .check(cel("self.containers.all(c, has(c.image))"))
      .optional(),
  });
  const node = structureOf(spec).properties ?? {};
  expect(node.resources).toMatchObject({
    description: "What it needs",
    default: { requests: { cpu: "100m" } },
  });
  expect(node.container?.properties).not.toHaveProperty("name");
  expect(node.tiered).toMatchObject({ required: ["name", "tier"] });
  expect(node.target).toMatchObject({ required: ["kind", "name"] });
  expect(node.few?.properties?.containers).toMatchObject({ maxItems: 8 });
  expect(spec.parse({})).toEqual({ resources: { requests: { cpu: "100m" } } });
  expectTypeOf<z.output<typeof spec>["tiered"]>().toExtend<{ name: string; tier: string } | undefined>();
});

test("three Pod templates fit into the annotation that kubectl apply makes", () => {
  expect(JSON.stringify(structureOf(podTemplateSpec())).length).toBeLessThan(262_144 / 3);
});

test("an unknown type is refused", () => {
  expect(() => builtin("corev1.Nothing" as "corev1.Pod")).toThrow('Kubernetes has no type "corev1.Nothing"');
});

test("the main entry point does not load the schemas", async () => {
  const loaded = new Set<string>();
  const follow = async (file: URL): Promise<void> => {
    if (loaded.has(file.href)) return;
    loaded.add(file.href);
    const text = await readFile(file, "utf8");
    const imports = text.matchAll(/^(?:import|export)\s+(?!type\b)[^;]*?from "(\.[^"]+)"/gm);
    await Promise.all([...imports].map(([, path = ""]) => follow(new URL(path, file))));
  };
  await follow(new URL("../../index.ts", import.meta.url));
  expect(loaded.size).toBeGreaterThan(100);
  expect([...loaded].filter((file) => /\/builtin/.test(file))).toEqual([]);
});
