import { afterEach, beforeEach, expect, test } from "vitest";
import { administrator } from "../authority.ts";
import { ControlPlane } from "../control-plane.ts";
import { type JsonObject, textOf } from "../json.ts";

let plane: ControlPlane;

beforeEach(async () => {
  plane = await ControlPlane.start({ controllers: "none" });
});
afterEach(() => plane.close());

interface Response {
  readonly status: number;
  readonly body: JsonObject & { readonly message?: string };
}

async function send(
  method: string,
  url: string,
  body?: object,
  type = "application/json",
): Promise<Response> {
  const response = await plane.handle({
    method,
    url,
    headers: { "content-type": type },
    body: body && Buffer.from(JSON.stringify(body)),
    peer: administrator,
    signal: new AbortController().signal,
  });
  // What a definition's write leads to happens in a turn of its own.
  await new Promise((resolve) => setImmediate(resolve));
  const text = String(response.body);
  return { status: response.status, body: text.startsWith("{") ? (JSON.parse(text) as JsonObject) : {} };
}

const crds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const things = "/apis/example.com/v1/namespaces/default/things";
const spec = {
  type: "object",
  properties: { list: { type: "array", items: { type: "string" } }, replicas: { type: "integer" } },
};
const versionOf = (name: string, storage: boolean) => ({
  name,
  served: true,
  storage,
  schema: { openAPIV3Schema: { type: "object", properties: { spec } } },
  subresources: { scale: { specReplicasPath: ".spec.replicas", statusReplicasPath: ".status.replicas" } },
});
const definition = (plural: string, versions = [versionOf("v1", true)]) => ({
  metadata: { name: `${plural}.example.com` },
  spec: { group: "example.com", scope: "Namespaced", names: { plural, kind: "Thing" }, versions },
});
const thing = (name: string, more: object = {}, version = "v1") => ({
  apiVersion: `example.com/${version}`,
  kind: "Thing",
  metadata: { name },
  ...more,
});
const conditionsOf = ({ body }: Response) =>
  Object.fromEntries(
    ((body.status as JsonObject).conditions as JsonObject[]).map(({ type, status, reason }) => [
      type,
      `${textOf(status)} ${textOf(reason)}`,
    ]),
  );

test("names that another definition gives up are taken by the one that was refused for them", async () => {
  await send("POST", crds, definition("things"));
  await send("POST", crds, definition("others"));
  expect(conditionsOf(await send("GET", `${crds}/others.example.com`))).toMatchObject({
    NamesAccepted: "False ListKindConflict",
    Established: "False NotAccepted",
  });
  await send("DELETE", `${crds}/things.example.com`);
  expect(conditionsOf(await send("GET", `${crds}/others.example.com`))).toMatchObject({
    NamesAccepted: "True NoConflicts",
    Established: "True InitialNamesAccepted",
  });
  expect((await send("GET", "/apis/example.com/v1/namespaces/default/others")).status).toBe(200);
});

test("while a definition is being deleted its objects can be changed, and none can be created", async () => {
  await send("POST", crds, definition("things"));
  await send("POST", things, thing("held", { metadata: { name: "held", finalizers: ["example.com/hold"] } }));
  const deleted = await send("DELETE", `${crds}/things.example.com`);
  expect(conditionsOf(deleted).Terminating).toBe("True InstanceDeletionPending");
  expect(conditionsOf(await send("GET", `${crds}/things.example.com`)).Terminating).toBe(
    "True InstanceDeletionInProgress",
  );
  const created = await send("POST", things, thing("new"));
  const applied = await send(
    "PATCH",
    `${things}/new?fieldManager=x`,
    thing("new"),
    "application/apply-patch+yaml",
  );
  for (const { status, body } of [created, applied]) {
    expect([status, body.message]).toEqual([
      403,
      'things.example.com "new" is forbidden: create not allowed while custom resource definition is terminating',
    ]);
  }
  const { body: listed } = await send("GET", "/apis/example.com/v1");
  expect((listed.resources as JsonObject[])[0]).toMatchObject({
    verbs: ["delete", "deletecollection", "get", "list", "watch"],
  });
  const merge = "application/merge-patch+json";
  expect((await send("PATCH", `${things}/held`, { spec: { list: ["a"] } }, merge)).status).toBe(200);
  await send("PATCH", `${things}/held`, { metadata: { finalizers: null } }, merge);
  expect((await send("GET", `${crds}/things.example.com`)).status).toBe(404);
});

test("the server's own writes of a definition's status are tracked as its own", async () => {
  await send("POST", crds, definition("things"));
  const { body } = await send("GET", `${crds}/things.example.com`);
  expect((body.metadata as JsonObject).managedFields).toContainEqual(
    expect.objectContaining({
      manager: "kube-apiserver",
      operation: "Update",
      subresource: "status",
      fieldsV1: { "f:status": { "f:acceptedNames": expect.anything(), "f:conditions": expect.anything() } },
    }),
  );
});

test("a null that is applied where none is allowed is refused, and so is what it leaves of a field that is taken away", async () => {
  await send("POST", crds, definition("things"));
  const apply = (given: object) =>
    send("PATCH", `${things}/a?fieldManager=x`, thing("a", { spec: given }), "application/apply-patch+yaml");
  expect((await apply({ list: null })).body.message).toContain(
    'spec.list: Invalid value: "null": spec.list in body must be of type array: "null"',
  );
  expect((await apply({ list: ["a"] })).status).toBe(201);
  expect((await apply({})).body.message).toContain('spec in body must be of type object: "null"');
  expect((await send("POST", things, thing("b", { spec: { list: null } }))).body).toMatchObject({ spec: {} });
});

test("a Scale of an object without replicas cannot be read, and can be written", async () => {
  await send("POST", crds, definition("things"));
  await send("POST", things, thing("a"));
  const missing = 'the spec replicas field ".spec.replicas" does not exist';
  expect(await send("GET", `${things}/a/scale`)).toMatchObject({
    status: 500,
    body: { message: `Internal error occurred: ${missing}` },
  });
  const merge = "application/merge-patch+json";
  expect(await send("PATCH", `${things}/a/scale`, { metadata: { labels: { a: "b" } } }, merge)).toMatchObject(
    {
      status: 400,
      body: { message: 'the spec replicas field ".spec.replicas" cannot be empty' },
    },
  );
  expect(await send("PATCH", `${things}/a/scale`, { spec: { replicas: 2 } }, merge)).toMatchObject({
    status: 200,
    body: { spec: { replicas: 2 } },
  });
});

test("what is stored or managed in a removed version is refused as the real server refuses it", async () => {
  const merge = "application/merge-patch+json";
  await send("POST", crds, definition("things", [versionOf("v1", true), versionOf("v2", false)]));
  for (const name of ["migrated", "left"]) {
    await send(
      "PATCH",
      `${things}/${name}?fieldManager=x`,
      thing(name, { spec: { replicas: 1 } }),
      "application/apply-patch+yaml",
    );
  }
  const set = (versions: object[]) =>
    send("PATCH", `${crds}/things.example.com`, { spec: { versions } }, merge);
  await set([versionOf("v1", false), versionOf("v2", true)]);
  const second = things.replace("v1", "v2");
  await send("PATCH", `${second}/migrated`, { metadata: { labels: { a: "b" } } }, merge);
  await send("PATCH", `${crds}/things.example.com/status`, { status: { storedVersions: ["v2"] } }, merge);
  await set([versionOf("v2", true)]);
  expect((await send("GET", `${second}/left`)).body.message).toBe(
    "request to convert CR from an invalid group/version: example.com/v1",
  );
  const applied = await send(
    "PATCH",
    `${second}/migrated?fieldManager=x`,
    thing("migrated", { spec: { replicas: 2 } }, "v2"),
    "application/apply-patch+yaml",
  );
  expect(applied.body.message).toBe("request to convert CR to an invalid group/version: example.com/v1");
});

test("an object whose manager wrote a version that lacks a field is refused an apply, and an update forgets managers", async () => {
  const merge = "application/merge-patch+json";
  const apply = "application/apply-patch+yaml";
  const policy = { type: "string", default: "Ignore" };
  const more = {
    ...versionOf("v2", true),
    schema: {
      openAPIV3Schema: {
        type: "object",
        properties: { spec: { ...spec, properties: { ...spec.properties, policy } } },
      },
    },
  };
  await send("POST", crds, definition("things", [versionOf("v1", true), versionOf("v2", false)]));
  await send("PATCH", `${things}/a?fieldManager=old`, thing("a", { spec: { replicas: 1 } }), apply);
  const versions = [{ ...versionOf("v1", false), served: false }, more];
  await send("PATCH", `${crds}/things.example.com`, { spec: { versions } }, merge);
  const second = things.replace("v1", "v2");
  // Stored in the first version, it has no field that this lacks.
  const first = await send(
    "PATCH",
    `${second}/a?fieldManager=new`,
    thing("a", { spec: { list: ["x"] } }, "v2"),
    apply,
  );
  expect(first).toMatchObject({
    status: 200,
    body: { spec: { replicas: 1, list: ["x"], policy: "Ignore" } },
  });
  const refused = await send(
    "PATCH",
    `${second}/a?fieldManager=new`,
    thing("a", { spec: { list: ["y"] } }, "v2"),
    apply,
  );
  expect(refused).toMatchObject({
    status: 500,
    body: { message: ".spec.policy: field not declared in schema" },
  });
  const { body } = await send("PATCH", `${second}/a?fieldManager=third`, { spec: { replicas: 2 } }, merge);
  expect(body.metadata).not.toHaveProperty("managedFields");
});

test("a status that has a default has it from the start", async () => {
  const status = { type: "object", default: { seen: -1 }, properties: { seen: { type: "integer" } } };
  const schema = { openAPIV3Schema: { type: "object", properties: { spec, status } } };
  const version = { ...versionOf("v1", true), schema, subresources: { status: {} } };
  await send("POST", crds, definition("things", [version as ReturnType<typeof versionOf> & typeof version]));
  const seen = { status: { seen: -1 } };
  expect((await send("POST", things, thing("a", { status: { seen: 5 } }))).body).toMatchObject(seen);
  expect((await send("GET", `${things}/a`)).body).toMatchObject(seen);
  expect((await send("GET", things)).body).toMatchObject({ items: [seen] });
});
