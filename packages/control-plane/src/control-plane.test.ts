import { expect, test } from "vitest";
import { ControlPlane } from "./control-plane.ts";

test("history does not go back to the first write: a watch from there gets 410", async () => {
  await using plane = await ControlPlane.start();
  const path = "/api/v1/namespaces?watch=true&resourceVersion=1";
  const { status, body } = await plane.connect().request({ method: "GET", path, headers: {} });
  const chunks = await Array.fromAsync(body);
  expect(status).toBe(200);
  expect(JSON.parse(Buffer.concat(chunks).toString())).toMatchObject({
    type: "ERROR",
    object: {
      code: 410,
      reason: "Expired",
      message: expect.stringMatching(/^too old resource version: 1 \(\d+\)$/),
    },
  });
});

test("processes need nodes to run on", async () => {
  await expect(ControlPlane.start({ processes: true, nodes: "none" })).rejects.toThrow(
    "processes need nodes",
  );
});

test("the range of cluster addresses can be read, and holds the API server's own service", async () => {
  await using plane = await ControlPlane.start();
  const path = "/apis/networking.k8s.io/v1/servicecidrs/kubernetes";
  const { body } = await plane.connect().request({ method: "GET", path, headers: {} });
  expect(JSON.parse(Buffer.concat(await Array.fromAsync(body)).toString())).toMatchObject({
    metadata: { finalizers: ["networking.k8s.io/service-cidr-finalizer"] },
    spec: { cidrs: ["10.96.0.0/16"] },
    status: {
      conditions: [{ type: "Ready", status: "True", message: "Kubernetes default Service CIDR is ready" }],
    },
  });
});

test("two control planes in one process do not touch each other", async () => {
  await using one = await ControlPlane.start({ apiServer: { serviceRange: "10.1.0.0/24" } });
  await using other = await ControlPlane.start({ apiServer: { serviceRange: "10.2.0.0/24" } });
  const post = async (plane: ControlPlane, resource: string, object: object) => {
    const { status, body } = await plane.connect().request({
      method: "POST",
      path: `/api/v1/namespaces/default/${resource}`,
      headers: { "content-type": "application/json" },
      body: JSON.stringify(object),
    });
    return { status, object: JSON.parse(Buffer.concat(await Array.fromAsync(body)).toString()) as object };
  };

  // Where pods are processes, their addresses are of the loopback network: of this control plane
  // alone.
  one.registry.network.useLoopbackPods("127.5.");
  const endpoints = { metadata: { name: "e" }, subsets: [{ addresses: [{ ip: "127.5.0.1" }] }] };
  expect(await post(one, "endpoints", endpoints)).toMatchObject({ status: 201 });
  expect(await post(other, "endpoints", endpoints)).toMatchObject({ status: 422 });

  const service = (clusterIP: string) => ({
    metadata: { name: "s" },
    spec: { clusterIP, ports: [{ port: 80 }] },
  });
  expect(await post(one, "services", service("10.1.0.7"))).toMatchObject({ status: 201 });
  expect(await post(other, "services", service("10.1.0.7"))).toMatchObject({ status: 422 });
  expect(await post(other, "services", service("10.2.0.7"))).toMatchObject({ status: 201 });

  await Promise.all([one.settle(), other.settle()]);
  const seen: string[] = [];
  other.onWrite(({ resource, key }) => seen.push(`${resource} ${key}`));
  one.node.lose("windlass-node");
  await post(one, "configmaps", { metadata: { name: "m" } });
  await Promise.all([one.settle(), other.settle()]);
  expect(seen).toEqual([]);
});
