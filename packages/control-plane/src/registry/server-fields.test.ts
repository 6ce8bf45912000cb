import { afterEach, beforeEach, expect, test } from "vitest";
import { administrator } from "../authority.ts";
import { ControlPlane } from "../control-plane.ts";
import type { JsonObject } from "../json.ts";

let plane: ControlPlane;

beforeEach(async () => {
  plane = await ControlPlane.start({ controllers: "none" });
});
afterEach(() => plane.close());

async function send(method: string, url: string, body: object, type = "application/json") {
  const response = await plane.handle({
    method,
    url,
    headers: { "content-type": type },
    body: Buffer.from(JSON.stringify(body)),
    peer: administrator,
    signal: new AbortController().signal,
  });
  return { status: response.status, body: JSON.parse(String(response.body)) as JsonObject };
}

const time = "2024-01-01T00:00:00Z";
const deleting = { deletionTimestamp: time, deletionGracePeriodSeconds: 5 };
const apply = (name: string, metadata: object) =>
  send(
    "PATCH",
    `/api/v1/namespaces/default/configmaps/${name}?fieldManager=me`,
    { apiVersion: "v1", kind: "ConfigMap", metadata: { name, ...metadata } },
    "application/apply-patch+yaml",
  );

test("what is posted is not being deleted; what is applied or put into being may be", async () => {
  const maps = "/api/v1/namespaces/default/configmaps";
  const posted = await send("POST", maps, { metadata: { name: "posted", ...deleting } });
  expect(posted.body.metadata).not.toHaveProperty("deletionTimestamp");
  expect((await apply("applied", deleting)).body.metadata).toMatchObject(deleting);
  const put = await send("PUT", "/api/v1/namespaces/default/endpoints/e", {
    metadata: { name: "e", ...deleting },
  });
  expect(put).toMatchObject({ status: 201, body: { metadata: deleting } });
});

test("when an object goes cannot be changed, and one that nothing holds goes with its next write", async () => {
  await apply("a", { deletionTimestamp: time });
  const again = await apply("a", { deletionTimestamp: "2024-01-02T00:00:00Z" });
  expect(again).toMatchObject({ status: 200, body: { metadata: { deletionTimestamp: time } } });
  expect((await apply("a", {})).status).toBe(201);
});

test.for([
  [{ "example.com/gpu": "1500m" }, "must be an integer"],
  [{ "hugepages-2Mi": "3Mi", cpu: "1" }, "3Mi is not positive integer multiple of hugepages-2Mi"],
  [{ "hugepages-2Mi": "4Mi" }, "HugePages require cpu or memory"],
  [{ cpu: "-1" }, "must be greater than or equal to 0"],
] as const)("an overhead of %j is refused: %s", async ([podFixed, why]) => {
  const body = { metadata: { name: "x" }, handler: "x", overhead: { podFixed } };
  const refused = await send("POST", "/apis/node.k8s.io/v1/runtimeclasses", body);
  expect(refused).toMatchObject({ status: 422, body: { message: expect.stringContaining(why) } });
});
