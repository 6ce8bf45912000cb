import { expect, test } from "vitest";
import { z } from "zod";
import { cel, defineResource } from "./index.ts";

const WebApp = defineResource({
  group: "example.com",
  version: "v1",
  kind: "WebApp",
  shortNames: ["wa"],
  categories: ["all"],
  description: "A web application",
  spec: z
    .object({
      image: z.string().min(1).describe("Container image to run"),
      replicas: z.int32().min(0).max(100).default(1),
    })
    .check(cel("self.replicas > 0 || self.image != ''", "no replicas")),
  status: z.object({ replicas: z.int().optional(), selector: z.string().optional() }),
  printerColumns: [
    { name: "Image", jsonPath: ".spec.image" },
    {
      name: "Replicas",
      jsonPath: ".status.replicas",
      type: "integer",
      priority: 1,
      description: "How many run",
    },
  ],
  scale: { labelSelectorPath: ".status.selector" },
  selectableFields: [".spec.image"],
  validations: [
    { rule: "self.metadata.name.size() <= 63", message: "the name must have at most 63 characters" },
  ],
});

test("a definition becomes a whole CRD", () => {
  const crd = WebApp.crd({ labels: { app: "webapp" }, annotations: { note: "x" } });
  const [version] = crd.spec.versions;
  expect({ ...crd, spec: { ...crd.spec, versions: [] } }).toEqual({
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: "webapps.example.com", labels: { app: "webapp" }, annotations: { note: "x" } },
    spec: {
      group: "example.com",
      names: {
        kind: "WebApp",
        listKind: "WebAppList",
        plural: "webapps",
        singular: "webapp",
        shortNames: ["wa"],
        categories: ["all"],
      },
      scope: "Namespaced",
      versions: [],
    },
  });
  expect({ ...version, schema: undefined }).toEqual({
    name: "v1",
    served: true,
    storage: true,
    schema: undefined,
    subresources: {
      status: {},
      scale: {
        specReplicasPath: ".spec.replicas",
        statusReplicasPath: ".status.replicas",
        labelSelectorPath: ".status.selector",
      },
    },
    additionalPrinterColumns: [
      { name: "Image", jsonPath: ".spec.image", type: "string" },
      {
        name: "Replicas",
        jsonPath: ".status.replicas",
        type: "integer",
        priority: 1,
        description: "How many run",
      },
    ],
    selectableFields: [{ jsonPath: ".spec.image" }],
  });
});

test("the schema describes the whole object, spec required", () => {
  const schema = WebApp.crd().spec.versions[0]?.schema?.openAPIV3Schema;
  expect(schema).toMatchObject({
    type: "object",
    description: "A web application",
    required: ["spec"],
    "x-kubernetes-validations": [{ rule: "self.metadata.name.size() <= 63" }],
    properties: {
      apiVersion: { type: "string" },
      kind: { type: "string" },
      metadata: { type: "object" },
      spec: {
        type: "object",
        required: ["image"],
        properties: {
          image: { type: "string", minLength: 1, description: "Container image to run" },
          replicas: { type: "integer", format: "int32", minimum: 0, maximum: 100, default: 1 },
        },
        "x-kubernetes-validations": [
          { rule: "self.replicas > 0 || self.image != ''", message: "no replicas" },
        ],
      },
    },
  });
});

test("a status has conditions, distinguished by type, and the observed generation", () => {
  const status = WebApp.crd().spec.versions[0]?.schema?.openAPIV3Schema?.properties?.status;
  expect(status?.properties?.observedGeneration).toMatchObject({ type: "integer", format: "int64" });
  expect(status?.properties?.conditions).toMatchObject({
    type: "array",
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": ["type"],
    items: {
      required: ["type", "status", "reason", "message", "lastTransitionTime"],
      properties: {
        status: { enum: ["True", "False", "Unknown"] },
        reason: { minLength: 1, maxLength: 1024 },
      },
    },
  });
  expect(status?.required).toBeUndefined();
});

test("a status may bring conditions of its own", () => {
  const Own = defineResource({
    group: "example.com",
    version: "v1",
    kind: "Own",
    spec: z.object({}),
    status: z.object({ conditions: z.array(z.string()).optional() }),
  });
  const status = Own.crd().spec.versions[0]?.schema?.openAPIV3Schema?.properties?.status;
  expect(status?.properties?.conditions).toMatchObject({ items: { type: "string" } });
});

test("a CRD is plain JSON, and the same every time", () => {
  const crd = WebApp.crd();
  expect(JSON.parse(JSON.stringify(crd))).toEqual(crd);
  expect(JSON.stringify(WebApp.crd())).toBe(JSON.stringify(crd));
});

test("a version may be kept out of service, or deprecated", () => {
  const Old = defineResource({
    group: "example.com",
    version: "v1alpha1",
    kind: "Old",
    spec: z.object({}),
    served: false,
    deprecated: "use v1",
  });
  expect(Old.crd().spec.versions[0]).toMatchObject({
    served: false,
    deprecated: true,
    deprecationWarning: "use v1",
  });
});

test("a group of Kubernetes' own is taken with its approval", () => {
  const Approved = defineResource({
    group: "things.k8s.io",
    version: "v1",
    kind: "Thing",
    spec: z.object({}),
  });
  expect(() => Approved.crd()).toThrow("group: things.k8s.io belongs to Kubernetes");
  const annotations = { "api-approved.kubernetes.io": "https://example.com/review" };
  expect(Approved.crd({ annotations }).metadata.name).toBe("things.things.k8s.io");
});

test("plurals are the ones people guess", () => {
  const plural = (kind: string) =>
    defineResource({ group: "example.com", version: "v1", kind, spec: z.object({}) }).plural;
  expect(["WebApp", "Policy", "Gateway", "Ingress", "Mesh", "Batch", "Box"].map(plural)).toEqual([
    "webapps",
    "policies",
    "gateways",
    "ingresses",
    "meshes",
    "batches",
    "boxes",
  ]);
});
