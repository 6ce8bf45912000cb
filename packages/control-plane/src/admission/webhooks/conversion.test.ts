import { ManualClock, seededRandom } from "@windlass/clock";
import { afterEach, beforeEach, expect, test } from "vitest";
import { ControlPlane } from "../../control-plane.ts";
import type { JsonObject } from "../../json.ts";

type Converter = (object: Widget, apiVersion: string) => object;
type Widget = JsonObject & { metadata: JsonObject; spec: { size?: number; measure?: number } };

let plane: ControlPlane;
let convert: Converter;
let calls: number;

const base = "/apis/example.com";
const rename: Converter = ({ spec: { size, measure }, ...object }, apiVersion) => ({
  ...object,
  apiVersion,
  spec: apiVersion.endsWith("v1") ? { size: measure ?? size } : { measure: size ?? measure },
});

beforeEach(async () => {
  plane = await ControlPlane.start({
    clock: new ManualClock(),
    random: seededRandom(1),
    controllers: "none",
  });
  convert = rename;
  calls = 0;
  plane.bindService("default", "converter", 443, ({ body }) => {
    calls++;
    const { request } = JSON.parse(body) as {
      request: { uid: string; desiredAPIVersion: string; objects: Widget[] };
    };
    const convertedObjects = request.objects.map((object) => convert(object, request.desiredAPIVersion));
    const response = { uid: request.uid, result: { status: "Success" }, convertedObjects };
    return {
      body: JSON.stringify({ kind: "ConversionReview", apiVersion: "apiextensions.k8s.io/v1", response }),
    };
  });
  await send("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", {
    metadata: { name: "widgets.example.com" },
    spec: {
      group: "example.com",
      scope: "Namespaced",
      names: { plural: "widgets", kind: "Widget" },
      versions: ["v1", "v2"].map((name) => ({
        name,
        served: true,
        storage: name === "v1",
        schema: {
          openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
        },
      })),
      conversion: {
        strategy: "Webhook",
        webhook: {
          conversionReviewVersions: ["v1"],
          clientConfig: { service: { namespace: "default", name: "converter" } },
        },
      },
    },
  });
});
afterEach(() => plane.close());

async function send(method: string, path: string, body?: object) {
  const response = await plane.connect().request({
    method,
    path,
    headers: { "content-type": "application/json" },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
  const chunks: Uint8Array[] = [];
  for await (const chunk of response.body) chunks.push(chunk);
  return { status: response.status, body: JSON.parse(Buffer.concat(chunks).toString()) as JsonObject };
}

function widget(version: string, name: string, spec: object): Promise<{ status: number; body: JsonObject }> {
  return send("POST", `${base}/${version}/namespaces/default/widgets`, {
    apiVersion: `example.com/${version}`,
    kind: "Widget",
    metadata: { name },
    spec,
  });
}

const read = (version: string, name: string) =>
  send("GET", `${base}/${version}/namespaces/default/widgets/${name}`);

test("an object is read in any version, whichever it was written in", async () => {
  await widget("v1", "one", { size: 1 });
  await widget("v2", "two", { measure: 2 });
  expect((await read("v2", "one")).body).toMatchObject({
    apiVersion: "example.com/v2",
    spec: { measure: 1 },
  });
  expect((await read("v1", "two")).body).toMatchObject({ apiVersion: "example.com/v1", spec: { size: 2 } });
});

test("a list is converted in one call", async () => {
  for (const name of ["a", "b", "c"]) await widget("v1", name, { size: 1 });
  calls = 0;
  const { body } = await send("GET", `${base}/v2/namespaces/default/widgets`);
  expect(body.items).toHaveLength(3);
  expect(calls).toBe(1);
});

test("no webhook is called where versions are the same", async () => {
  await widget("v1", "one", { size: 1 });
  await read("v1", "one");
  expect(calls).toBe(0);
});

test("of metadata only labels and annotations may change", async () => {
  await widget("v1", "one", { size: 1 });
  convert = (object, apiVersion) => ({
    ...rename(object, apiVersion),
    metadata: { ...object.metadata, labels: { a: "b" }, finalizers: ["example.com/x"], generation: 9 },
  });
  const { body } = await read("v2", "one");
  expect(body.metadata).toMatchObject({ labels: { a: "b" }, generation: 1 });
  expect(body.metadata).not.toHaveProperty("finalizers");
});

test.each<[string, Converter, string]>([
  [
    "another name",
    (object, version) => ({ ...rename(object, version), metadata: { ...object.metadata, name: "z" } }),
    "returned invalid object: must have the same name: one != z",
  ],
  [
    "another version",
    (object) => object,
    "returned invalid object at index 0: invalid groupVersion (expected example.com/v2, received example.com/v1)",
  ],
  [
    "labels that are none",
    (object, version) => ({ ...rename(object, version), metadata: { ...object.metadata, labels: { a: 1 } } }),
    "returned invalid metadata: metadata.labels[a] must be a string, but is int64 in converted object",
  ],
])("%s is refused", async (_what, converter, message) => {
  await widget("v1", "one", { size: 1 });
  convert = converter;
  const { status, body } = await read("v2", "one");
  expect(status).toBe(500);
  expect(body.message).toBe(`conversion webhook for example.com/v1, Kind=Widget ${message}`);
});
