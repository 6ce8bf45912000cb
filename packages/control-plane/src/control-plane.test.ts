import { expect, test } from "vitest";
import { ControlPlane } from "./control-plane.ts";

test("history does not go back to the first write: who asks for it is told to list again", async () => {
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
