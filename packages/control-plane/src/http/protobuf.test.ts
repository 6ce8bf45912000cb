import { afterAll, beforeAll, expect, test } from "vitest";
import { ControlPlane } from "../control-plane.ts";
import type { InProcessTransport } from "../in-process.ts";
import { decodeProtobuf, encodeProtobuf } from "../protobuf/index.ts";

const accept = "application/vnd.kubernetes.protobuf,application/json";
const configMaps = "/api/v1/namespaces/default/configmaps";
const configMap = { group: "", version: "v1", kind: "ConfigMap" };
let plane: ControlPlane;
let transport: InProcessTransport;

beforeAll(async () => {
  plane = await ControlPlane.start({ controllers: "none" });
  transport = plane.connect();
});
afterAll(() => plane.close());

async function send(method: string, path: string, body?: Uint8Array, headers: Record<string, string> = {}) {
  const answer = await transport.request({
    method,
    path,
    headers: { accept, "content-type": "application/vnd.kubernetes.protobuf", ...headers },
    ...(body ? { body } : {}),
  });
  const chunks: Uint8Array[] = [];
  for await (const chunk of answer.body) chunks.push(chunk);
  return { status: answer.status, type: answer.headers["content-type"], bytes: Buffer.concat(chunks) };
}

async function json(path: string): Promise<unknown> {
  const { bytes } = await send("GET", path, undefined, { accept: "application/json" });
  return JSON.parse(bytes.toString("utf8"));
}

function create(name: string): ReturnType<typeof send> {
  const object = { kind: "ConfigMap", apiVersion: "v1", metadata: { name }, data: { a: "ä" } };
  return send("POST", configMaps, encodeProtobuf(configMap, object));
}

test("what a client writes and reads as protobuf is what others read as JSON", async () => {
  const created = await create("both");
  expect(created).toMatchObject({ status: 201, type: "application/vnd.kubernetes.protobuf" });
  const read = await send("GET", `${configMaps}/both`);
  expect(decodeProtobuf(read.bytes, configMap)).toEqual(await json(`${configMaps}/both`));
  expect(read.bytes.equals(created.bytes)).toBe(true);
});

test("lists and failures are protobuf too", async () => {
  await create("listed");
  const list = await send("GET", `${configMaps}?fieldSelector=metadata.name%3Dlisted`);
  expect(list.type).toBe("application/vnd.kubernetes.protobuf");
  expect(decodeProtobuf(list.bytes, { ...configMap, kind: "ConfigMapList" })).toEqual(
    await json(`${configMaps}?fieldSelector=metadata.name%3Dlisted`),
  );
  const missing = await send("GET", `${configMaps}/missing`);
  expect(missing).toMatchObject({ status: 404, type: "application/vnd.kubernetes.protobuf" });
  expect(decodeProtobuf(missing.bytes, { ...configMap, kind: "Status" })).toMatchObject({
    reason: "NotFound",
    code: 404,
  });
});

test("a watch is a stream of frames, each with its length first", async () => {
  await create("watched");
  const query = "watch=true&timeoutSeconds=1&fieldSelector=metadata.name%3Dwatched";
  const { bytes, type } = await send("GET", `${configMaps}?${query}`);
  expect(type).toBe("application/vnd.kubernetes.protobuf;stream=watch");
  const length = bytes.readUInt32BE(0);
  expect(bytes.length).toBe(4 + length);
  const frame = bytes.subarray(4);
  expect(frame.subarray(2, 7).toString()).toBe("ADDED");
  const start = frame.indexOf("k8s\0");
  expect(decodeProtobuf(frame.subarray(start), configMap)).toEqual(await json(`${configMaps}/watched`));
});

test("metadata alone has a protobuf form for every kind", async () => {
  await create("partial");
  const answer = await send("GET", `${configMaps}/partial`, undefined, {
    accept: "application/vnd.kubernetes.protobuf;as=PartialObjectMetadata;g=meta.k8s.io;v=v1",
  });
  const kind = { group: "meta.k8s.io", version: "v1", kind: "PartialObjectMetadata" };
  expect(decodeProtobuf(answer.bytes, kind)).toMatchObject({
    kind: "PartialObjectMetadata",
    metadata: { name: "partial" },
  });
});
