import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { ControlPlane, type ControlPlaneOptions } from "../../control-plane.ts";
import type { JsonObject } from "../../json.ts";

const services = "/api/v1/namespaces/default/services";
const addresses = "/apis/networking.k8s.io/v1/ipaddresses";

interface Response {
  readonly status: number;
  readonly body: JsonObject & { readonly message?: string };
}

async function start(options: ControlPlaneOptions = {}): Promise<ControlPlane> {
  const plane = await ControlPlane.start(options);
  onTestFinished(() => plane.close());
  await plane.settle();
  return plane;
}

async function send(plane: ControlPlane, method: string, path: string, body?: JsonObject): Promise<Response> {
  const response = await plane.connect().request({
    method,
    path,
    headers: { "content-type": method === "PATCH" ? "application/merge-patch+json" : "application/json" },
    ...(body ? { body: Buffer.from(JSON.stringify(body)) } : {}),
  });
  const text = Buffer.concat(await Array.fromAsync(response.body)).toString();
  return { status: response.status, body: JSON.parse(text) as Response["body"] };
}

const serviceAt = (name: string, clusterIP: string): JsonObject => ({
  metadata: { name },
  spec: { ports: [{ port: 80 }], clusterIP },
});

/** The Service that an address object names. */
async function holderOf(plane: ControlPlane, address: string): Promise<unknown> {
  const { status, body } = await send(plane, "GET", `${addresses}/${address}`);
  return status === 200 ? (body.spec as JsonObject).parentRef : status;
}

test.for<NonNullable<ControlPlaneOptions["controllers"]>>([
  "all",
  "none",
  ["namespace-controller"],
  { except: ["kubernetes-service"] },
])(
  "default/kubernetes is there with controllers %j, at the first address of the range",
  async (controllers) => {
    const plane = await start({ controllers });
    expect((await send(plane, "GET", `${services}/kubernetes`)).body).toMatchObject({
      metadata: { labels: { component: "apiserver", provider: "kubernetes" } },
      spec: { type: "ClusterIP", clusterIP: "10.96.0.1", clusterIPs: ["10.96.0.1"], ports: [{ port: 443 }] },
    });
    const parent = { resource: "services", namespace: "default", name: "kubernetes" };
    expect(await holderOf(plane, "10.96.0.1")).toEqual(parent);
    expect((await send(plane, "GET", "/api/v1/namespaces/default/endpoints/kubernetes")).status).toBe(200);
  },
);

test("default/kubernetes comes back when it is deleted, with its address", async () => {
  const plane = await start({ controllers: "none" });
  const before = (await send(plane, "GET", `${services}/kubernetes`)).body.metadata as JsonObject;
  expect((await send(plane, "DELETE", `${services}/kubernetes`)).status).toBe(200);
  await plane.settle();
  const { body } = await send(plane, "GET", `${services}/kubernetes`);
  expect(body).toMatchObject({ spec: { clusterIP: "10.96.0.1" } });
  expect((body.metadata as JsonObject).uid).not.toBe(before.uid);
  expect(await holderOf(plane, "10.96.0.1")).toMatchObject({ name: "kubernetes" });
});

test("nothing else can take the first address, also while default/kubernetes is missing", async () => {
  const plane = await start({ controllers: "none" });
  const refused = "failed to allocate IP 10.96.0.1: provided IP is already allocated";
  expect((await send(plane, "POST", services, serviceAt("thief", "10.96.0.1"))).body.message).toContain(
    refused,
  );
  // The answer comes before the Service is back.
  const deleted = send(plane, "DELETE", `${services}/kubernetes`);
  const taken = send(plane, "POST", services, serviceAt("thief", "10.96.0.1"));
  expect((await deleted).status).toBe(200);
  expect((await taken).body.message).toContain(refused);
});

test("an address is an object as long as a Service has it", async () => {
  const plane = await start({ controllers: "none" });
  await send(plane, "POST", services, serviceAt("web", "10.96.7.7"));
  expect(await holderOf(plane, "10.96.7.7")).toEqual({
    resource: "services",
    namespace: "default",
    name: "web",
  });
  const external = { spec: { type: "ExternalName", externalName: "a.b", clusterIP: null, clusterIPs: null } };
  await send(plane, "PATCH", `${services}/web`, external);
  expect(await holderOf(plane, "10.96.7.7")).toBe(404);
  await send(plane, "PATCH", `${services}/web`, {
    spec: { type: "ClusterIP", externalName: null, clusterIP: "10.96.7.8" },
  });
  expect(await holderOf(plane, "10.96.7.8")).toMatchObject({ name: "web" });
  await send(plane, "DELETE", `${services}/web`);
  expect(await holderOf(plane, "10.96.7.8")).toBe(404);
});

test("an address that has an IPAddress object is not given to a Service, nor deleted with one", async () => {
  const plane = await start({ controllers: "none" });
  const parentRef = { resource: "gateways", name: "mine" };
  await send(plane, "POST", addresses, { metadata: { name: "10.96.9.9" }, spec: { parentRef } });
  expect((await send(plane, "POST", services, serviceAt("web", "10.96.9.9"))).status).toBe(422);
  expect(await holderOf(plane, "10.96.9.9")).toEqual(parentRef);
});

test("a dry run takes no address", async () => {
  const plane = await start({ controllers: "none" });
  expect((await send(plane, "POST", `${services}?dryRun=All`, serviceAt("web", "10.96.7.7"))).status).toBe(
    201,
  );
  expect(await holderOf(plane, "10.96.7.7")).toBe(404);
});

test("addresses are the same objects after a restart, and missing ones are made up for", async () => {
  const folder = mkdtempSync(join(tmpdir(), "addresses-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const data = join(folder, "data");
  const first = await start({ controllers: "none", data });
  await send(first, "POST", services, serviceAt("kept", "10.96.7.7"));
  await send(first, "POST", services, serviceAt("lost", "10.96.7.8"));
  const { body: before } = await send(first, "GET", `${addresses}/10.96.7.7`);
  await send(first, "DELETE", `${addresses}/10.96.7.8`);
  await first.close();
  const second = await start({ controllers: "none", data });
  const { body: after } = await send(second, "GET", `${addresses}/10.96.7.7`);
  expect(after).toEqual(before);
  expect(await holderOf(second, "10.96.7.8")).toMatchObject({ name: "lost" });
});
