import { expect, test } from "vitest";
import type { JsonObject } from "../json.ts";
import { builtinKinds, type KindInfo } from "../kinds/index.ts";
import { readFields } from "../protobuf/wire.ts";
import type { Schema } from "../schema/schema.ts";
import { OpenApiDocuments } from "./index.ts";

interface Document {
  readonly paths: { readonly [path: string]: { readonly [method: string]: Operation } };
  readonly components: { readonly schemas: { readonly [name: string]: JsonObject } };
}

interface Operation {
  readonly operationId: string;
  readonly parameters?: readonly { readonly name: string }[];
  readonly requestBody?: { readonly content: JsonObject };
  readonly "x-kubernetes-group-version-kind": JsonObject;
}

function widget(schema: Schema): KindInfo {
  return {
    group: "shop.example.com",
    version: "v1",
    kind: "Widget",
    plural: "widgets",
    singular: "widget",
    namespaced: true,
    shortNames: [],
    categories: [],
    verbs: ["delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"],
    subresources: [
      {
        name: "scale",
        kind: { group: "autoscaling", version: "v1", kind: "Scale" },
        verbs: ["get", "patch", "update"],
      },
    ],
    listKind: "WidgetList",
    origin: "custom",
    schema: () => schema,
  };
}

async function read(table: ReturnType<typeof builtinKinds>, path: string): Promise<Document> {
  const document = await new OpenApiDocuments(table).document(path);
  if (!document) throw new Error(`there is no ${path}`);
  return JSON.parse(document.body) as Document;
}

test("the index routes to a document for every group version, by an address that names its content", async () => {
  const table = builtinKinds();
  const documents = new OpenApiDocuments(table);
  const { paths } = JSON.parse(documents.index()) as {
    paths: { [path: string]: { serverRelativeURL: string } };
  };
  for (const { name, versions } of table.groups()) {
    for (const version of versions) {
      const path = name === "" ? `api/${version}` : `apis/${name}/${version}`;
      expect((await documents.document(path))?.url).toBe(paths[path]?.serverRelativeURL);
    }
  }
  expect(documents.document("apis/nothing/v1")).toBeUndefined();
});

test("a built-in kind can be patched strategically and validates fields and dry runs", async () => {
  const { paths } = await read(builtinKinds(), "apis/apps/v1");
  const patch = paths["/apis/apps/v1/namespaces/{namespace}/deployments/{name}"]?.patch;
  expect(patch).toMatchObject({
    operationId: "patchAppsV1NamespacedDeployment",
    "x-kubernetes-action": "patch",
    "x-kubernetes-group-version-kind": { group: "apps", version: "v1", kind: "Deployment" },
  });
  expect(patch?.parameters?.map(({ name }) => name)).toEqual([
    "dryRun",
    "fieldManager",
    "fieldValidation",
    "force",
  ]);
  expect(Object.keys(patch?.requestBody?.content ?? {})).toContain("application/strategic-merge-patch+json");
});

test("built-in schemas say how lists merge, and no reference leads out of the document", async () => {
  const table = builtinKinds();
  const documents = new OpenApiDocuments(table);
  const core = await read(table, "api/v1");
  expect(core.components.schemas["io.k8s.api.core.v1.Pod"]).toMatchObject({
    "x-kubernetes-group-version-kind": [{ group: "", version: "v1", kind: "Pod" }],
    properties: {
      spec: { default: {}, allOf: [{ $ref: "#/components/schemas/io.k8s.api.core.v1.PodSpec" }] },
    },
  });
  expect(core.components.schemas["io.k8s.api.core.v1.PodSpec"]).toMatchObject({
    properties: {
      containers: {
        "x-kubernetes-list-map-keys": ["name"],
        "x-kubernetes-list-type": "map",
        "x-kubernetes-patch-merge-key": "name",
        "x-kubernetes-patch-strategy": "merge",
      },
    },
  });
  for (const path of ["api/v1", "apis/apps/v1", "apis/apiextensions.k8s.io/v1"]) {
    const body = (await documents.document(path))?.body ?? "";
    const { schemas } = (await read(table, path)).components;
    for (const [, name] of body.matchAll(/"\$ref":"#\/components\/schemas\/([^"]+)"/g)) {
      expect(schemas, `${path} refers to ${name}`).toHaveProperty([name ?? ""]);
    }
  }
});

test("an operation's name is its own within a document", async () => {
  const table = builtinKinds();
  const documents = new OpenApiDocuments(table);
  for (const path of ["api/v1", "apis/apps/v1", "apis/rbac.authorization.k8s.io/v1"]) {
    const names = [
      ...((await documents.document(path))?.body ?? "").matchAll(/"operationId":"([^"]+)"/g),
    ].map((match) => match[1]);
    expect(new Set(names).size).toBe(names.length);
  }
});

test("a custom kind is published as its author wrote it, with what every object has", async () => {
  const table = builtinKinds();
  table.add({
    ...widget({
      type: "object",
      description: "A thing to sell",
      properties: {
        metadata: { type: "object" },
        spec: {
          type: "object",
          properties: {
            size: { type: "integer", description: "How big it is", default: 3 },
            port: { "x-kubernetes-int-or-string": true },
          },
        },
      },
    }),
    selectableFields: ["spec.size"],
  });
  const { paths, components } = await read(table, "apis/shop.example.com/v1");
  const words = (start: string) => expect.stringMatching(new RegExp(`^${start}`));
  expect(components.schemas["com.example.shop.v1.Widget"]).toEqual({
    type: "object",
    description: "A thing to sell",
    properties: {
      apiVersion: { type: "string", description: words("APIVersion defines the versioned schema") },
      kind: { type: "string", description: words("Kind is a string value") },
      metadata: {
        description: words("Standard object's metadata"),
        allOf: [{ $ref: "#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta" }],
      },
      spec: {
        type: "object",
        properties: {
          size: { type: "integer", description: "How big it is", default: 3 },
          port: { "x-kubernetes-int-or-string": true, anyOf: [{ type: "integer" }, { type: "string" }] },
        },
      },
    },
    "x-kubernetes-group-version-kind": [{ group: "shop.example.com", kind: "Widget", version: "v1" }],
    "x-kubernetes-selectable-fields": [{ fieldPath: "spec.size" }],
  });
  expect(components.schemas["io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"]).toMatchObject({
    properties: { creationTimestamp: { description: words("CreationTimestamp is a timestamp") } },
  });
  const item = paths["/apis/shop.example.com/v1/namespaces/{namespace}/widgets/{name}"];
  expect(Object.keys(item?.patch?.requestBody?.content ?? {})).not.toContain(
    "application/strategic-merge-patch+json",
  );
  const scale = paths["/apis/shop.example.com/v1/namespaces/{namespace}/widgets/{name}/scale"];
  expect(scale?.get?.["x-kubernetes-group-version-kind"]).toEqual({
    group: "autoscaling",
    version: "v1",
    kind: "Scale",
  });
});

test("a changed definition has another address, and the others keep theirs", async () => {
  const table = builtinKinds();
  const documents = new OpenApiDocuments(table);
  const apps = (await documents.document("apis/apps/v1"))?.url;
  table.add(widget({ type: "object" }));
  const before = (await documents.document("apis/shop.example.com/v1"))?.url;
  table.add(widget({ type: "object", description: "changed" }));
  expect((await documents.document("apis/shop.example.com/v1"))?.url).not.toBe(before);
  expect((await documents.document("apis/apps/v1"))?.url).toBe(apps);
});

/** The names of the pairs in a message's repeated field, and each pair's value. */
function pairs(bytes: Uint8Array, field: number): Map<string, Uint8Array> {
  const found = new Map<string, Uint8Array>();
  for (const { number, bytes: pair } of readFields(bytes)) {
    if (number !== field) continue;
    const [name, value] = [...readFields(pair)];
    found.set(Buffer.from(name?.bytes ?? []).toString(), value?.bytes ?? new Uint8Array());
  }
  return found;
}

function only(bytes: Uint8Array, field: number): Uint8Array {
  for (const { number, bytes: value } of readFields(bytes)) if (number === field) return value;
  throw new Error(`there is no field ${field}`);
}

test("the protobuf form of a document holds the same paths and schemas", async () => {
  const table = builtinKinds();
  const documents = new OpenApiDocuments(table);
  const document = await documents.document("apis/apps/v1");
  if (!document) throw new Error("apps/v1 is not served");
  const bytes = await document.protobuf();
  const { paths, components } = JSON.parse(document.body) as Document;
  expect([...pairs(only(bytes, 4), 1).keys()]).toEqual(Object.keys(paths));
  const schemas = pairs(only(only(bytes, 5), 1), 1);
  expect([...schemas.keys()]).toEqual(Object.keys(components.schemas));
});

test("version 2 is one document of every group, and no reference leads out of it", async () => {
  const table = builtinKinds();
  const documents = new OpenApiDocuments(table);
  table.add(widget({ type: "object", properties: { any: { nullable: true, type: "string" } } }));
  const document = await documents.swagger();
  const swagger = JSON.parse(document.body) as {
    paths: Record<string, unknown>;
    definitions: Record<string, { properties?: Record<string, unknown> }>;
  };
  expect(swagger.paths).toHaveProperty(["/apis/apps/v1/namespaces/{namespace}/deployments/{name}"]);
  expect(swagger.definitions["com.example.shop.v1.Widget"]?.properties?.any).toEqual({});
  for (const [, name] of document.body.matchAll(/"\$ref":"#\/definitions\/([^"]+)"/g)) {
    expect(swagger.definitions).toHaveProperty([name ?? ""]);
  }
  expect(document.body).not.toContain("#/components");
  expect([...pairs(only(await document.protobuf(), 9), 1).keys()]).toEqual(Object.keys(swagger.definitions));
});
