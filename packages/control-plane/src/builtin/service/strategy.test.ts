import { seededRandom } from "@windlass/clock";
import fc from "fast-check";
import { expect, test } from "vitest";
import { ControlPlane } from "../../control-plane.ts";
import type { JsonObject } from "../../json.ts";

async function stage() {
  const plane = await ControlPlane.start({ controllers: "none", random: seededRandom(1) });
  const transport = plane.connect();
  const send = async (method: string, path: string, body?: unknown): Promise<JsonObject> => {
    const type = method === "PATCH" ? "application/merge-patch+json" : "application/json";
    const response = await transport.request({
      method,
      path: `/api/v1/namespaces/default/services${path}`,
      headers: { "content-type": type },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const chunks: Uint8Array[] = [];
    for await (const chunk of response.body) chunks.push(chunk);
    return JSON.parse(Buffer.concat(chunks).toString()) as JsonObject;
  };
  return { plane, send, [Symbol.asyncDispose]: () => plane.close() };
}

const create = (name: string, spec: JsonObject = {}) => ({
  metadata: { name },
  spec: { ports: [{ port: 80 }], ...spec },
});

test("an address that was asked for is had once, and again when it was given back", async () => {
  await using cluster = await stage();
  const wanted = { clusterIP: "10.96.7.7" };
  expect(await cluster.send("POST", "", create("a", wanted))).toMatchObject({ kind: "Service" });
  expect(await cluster.send("POST", "", create("b", wanted))).toMatchObject({
    code: 422,
    message: expect.stringContaining("provided IP is already allocated"),
  });
  await cluster.send("DELETE", "/a");
  expect(await cluster.send("POST", "", create("b", wanted))).toMatchObject({
    spec: { clusterIPs: ["10.96.7.7"] },
  });
});

test("a dry run takes no address", async () => {
  await using cluster = await stage();
  const wanted = { clusterIP: "10.96.7.7" };
  await cluster.send("POST", "?dryRun=All", create("a", wanted));
  expect(await cluster.send("POST", "", create("b", wanted))).toMatchObject({ kind: "Service" });
});

test("an update that leaves the address out keeps it, and one that names another is refused", async () => {
  await using cluster = await stage();
  const made = await cluster.send("POST", "", create("a"));
  const { clusterIP } = made.spec as JsonObject;
  const kept = await cluster.send("PUT", "/a", create("a", { ports: [{ port: 81 }] }));
  expect(kept.spec).toMatchObject({ clusterIP, ports: [{ port: 81, targetPort: 81 }] });
  expect(await cluster.send("PATCH", "/a", { spec: { clusterIP: "10.96.9.9" } })).toMatchObject({
    code: 422,
  });
});

test("turning into an external name gives everything back", async () => {
  await using cluster = await stage();
  await cluster.send("POST", "", create("a", { type: "NodePort", ports: [{ port: 80, nodePort: 30_123 }] }));
  const external = await cluster.send("PATCH", "/a", {
    spec: { type: "ExternalName", externalName: "a.example.com" },
  });
  expect(external.spec).not.toHaveProperty("clusterIP");
  const taken = create("b", { type: "NodePort", ports: [{ port: 80, nodePort: 30_123 }] });
  expect(await cluster.send("POST", "", taken)).toMatchObject({ kind: "Service" });
});

const step = fc.record({
  name: fc.constantFrom("a", "b", "c", "d", "e"),
  type: fc.constantFrom("ClusterIP", "NodePort", "LoadBalancer", "ExternalName"),
  port: fc.constantFrom(undefined, 30_001, 30_002, 30_003),
  gone: fc.boolean(),
});

test("no two services ever hold the same address or node port", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
      await using cluster = await stage();
      for (const { name, type, port, gone } of steps) {
        if (gone) await cluster.send("DELETE", `/${name}`);
        else {
          const nodePort =
            port === undefined || type === "ClusterIP" || type === "ExternalName" ? {} : { nodePort: port };
          await cluster.send("PUT", `/${name}`, {
            metadata: { name },
            spec: {
              type,
              ports: [{ port: 80, ...nodePort }],
              ...(type === "ExternalName" ? { externalName: "x.y" } : {}),
            },
          });
        }
      }
      const held: string[] = [];
      for (const { object } of cluster.plane.store.entries("services")) {
        const spec = object.spec as { clusterIP?: string; ports?: { nodePort?: number }[] };
        if (spec.clusterIP) held.push(spec.clusterIP);
        for (const { nodePort } of spec.ports ?? []) if (nodePort) held.push(`port ${nodePort}`);
      }
      expect(new Set(held).size).toBe(held.length);
    }),
    { numRuns: 30 },
  );
});
