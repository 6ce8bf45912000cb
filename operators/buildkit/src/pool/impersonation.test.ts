import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { connect, createServer } from "node:tls";
import { inspect } from "@windlass/certificates";
import type { Client } from "@windlass/client";
import type { NamespacedKey } from "@windlass/runtime";
import { Ingress, Namespace, Secret, Service } from "@windlass/runtime/kinds";
import {
  startCluster,
  type TestCluster,
  waitFor,
  waitForCondition,
  waitForDeletion,
} from "@windlass/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { operatorNamespace, Replicas } from "../../testing/replicas.ts";
import { kinds } from "../kinds.fixture.ts";
import { poolNames } from "../names.ts";
import { textData } from "../secret-data.ts";
import { BuildKitPool, type Pool } from "./pool.ts";

/** A user who may make pools, and read their Secrets, wants to pass for another server. */
const apiHostname = "api.builds.example.com";
const wait = { timeout: 20_000 };

let cluster: TestCluster;
let client: Client;
let operator: Replicas;
let own: string;
let theirs: string;

beforeAll(async () => {
  cluster = await startCluster({ flavour: "embedded" });
  ({ client } = cluster);
  await cluster.install(...kinds);
  await client.create(Namespace, { metadata: { name: operatorNamespace } });
  operator = new Replicas(cluster, {
    gatewayImage: "windlass/buildkit:dev",
    probe: { builds: async () => ({ is: "known", count: 0 }), prune: async () => true },
    fetchJson: () => Promise.reject(new Error("there is no issuer")),
    apiHostnames: [apiHostname],
  });
  await operator.start();
  [own, theirs] = [await cluster.createNamespace("own"), await cluster.createNamespace("theirs")];
});
afterAll(async () => {
  await operator.stop();
  await cluster.close();
});

const external = (hostname: string) => ({ networking: { external: { enabled: true, hostname } } });
const create = async (key: NamespacedKey, spec: Parameters<typeof BuildKitPool.make>[1] = {}) => {
  await client.create(BuildKitPool, { metadata: key, spec });
  return key;
};
const pool = (key: NamespacedKey, until: (one: Pool) => unknown) =>
  waitFor(client, BuildKitPool, key, (one) => (until(one) ? one : undefined), wait);
const tlsOf = async ({ namespace, name }: NamespacedKey) => {
  const key = { namespace, name: poolNames(name).tlsSecret };
  const found = await waitFor(client, Secret, key, (one) => (one.data?.["tls.crt"] ? one : undefined), wait);
  return textData(found);
};

/**
 * Why a client of some server refuses one that shows a gateway's certificate; undefined if it
 * trusts it.
 */
async function complaintOf(servername: string, key: NamespacedKey): Promise<string | undefined> {
  const data = await tlsOf(key);
  const server = createServer({ cert: data["tls.crt"], key: data["tls.key"] });
  server.on("tlsClientError", () => undefined);
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo;
  const socket = connect({ host: "127.0.0.1", port, servername, ca: data["server-ca.crt"] });
  try {
    await once(socket, "secureConnect");
    return undefined;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code;
  } finally {
    socket.destroy();
    server.close();
  }
}

test("a pool does not pass for the allocation API, by a host name or by its own", async () => {
  const byHostname = await create({ namespace: own, name: "evil" }, external(apiHostname));
  await waitForCondition(client, BuildKitPool, byHostname, "CertificatesReady", "False", wait);
  const { status } = await client.get(BuildKitPool, byHostname);
  const field = "spec.networking.external.hostname";
  expect(status?.conditions).toContainEqual(
    expect.objectContaining({
      type: "Ready",
      reason: "HostnameTaken",
      message: `${field}: ${apiHostname} is a name of the allocation API: choose another name`,
    }),
  );
  expect(status?.externalEndpoint).toBeUndefined();
  expect(await complaintOf(apiHostname, byHostname)).toBe("ERR_TLS_CERT_ALTNAME_INVALID");
  // Clients in the cluster are served as ever.
  expect(await complaintOf(`evil.${own}.svc`, byHostname)).toBeUndefined();

  const byName = await create({ namespace: own, name: "buildkit-controller-api" });
  expect(await complaintOf("buildkit-controller-api", byName)).toBe("ERR_TLS_CERT_ALTNAME_INVALID");
  expect(await complaintOf(`buildkit-controller-api.${own}.svc`, byName)).toBeUndefined();
  const inside = await create({ namespace: operatorNamespace, name: "buildkit-controller-api" });
  expect(inspect((await tlsOf(inside))["tls.crt"] ?? "").dnsNames).toEqual(["localhost"]);
});

test.each([
  "buildkit-controller-api",
  "buildkit-controller-api.buildkit-system",
  "buildkit-controller-api.buildkit-system.svc",
  "buildkit-controller-api.buildkit-system.svc.cluster.local",
  "localhost",
])("a pool that asks for %s is refused, wherever it asks", async (hostname) => {
  const enabled = true;
  for (const [field, spec] of [
    ["spec.networking.external.hostname", external(hostname)],
    ["spec.gateway.gatewayAPI.hostname", { gateway: { gatewayAPI: { enabled, hostname } } }],
    ["spec.gateway.ingress.hostname", { gateway: { ingress: { enabled, hostname } } }],
  ] as const)
    await expect(create({ namespace: own, name: "refused" }, spec), field).rejects.toThrow(
      `${field}: Invalid value`,
    );
});

test("what a load balancer says of itself puts no name of the API on a certificate", async () => {
  const key = await create(
    { namespace: own, name: "balanced" },
    { gateway: { serviceType: "LoadBalancer" } },
  );
  await waitFor(client, Service, key, () => true, wait);
  const ingress = [{ hostname: "lb.example.com" }, { hostname: apiHostname }];
  const patch = { status: { loadBalancer: { ingress } } };
  await client.patch(Service, key, { type: "merge", patch }, { subresource: "status" });
  await expect
    .poll(() => complaintOf("lb.example.com", key), { timeout: 20_000, interval: 200 })
    .toBeUndefined();
  expect(await complaintOf(apiHostname, key)).toBe("ERR_TLS_CERT_ALTNAME_INVALID");
});

test("a name stays with the namespace that has it, until it is given up", async () => {
  const hostname = "ci.example.com";
  // The older one must not take what the other has had for longer.
  const older = await create({ namespace: theirs, name: "older" });
  const holder = await create({ namespace: own, name: "holder" }, external(hostname));
  await pool(holder, ({ status }) => status?.hostnames?.includes(hostname));
  await client.patch(BuildKitPool, older, {
    type: "merge",
    patch: { spec: { ...external(hostname), gateway: { ingress: { enabled: true, hostname } } } },
  });
  const refused = await pool(older, ({ status }) =>
    status?.conditions?.some(
      ({ type, reason }) => type === "CertificatesReady" && reason === "HostnameTaken",
    ),
  );
  expect(refused.status?.conditions).toContainEqual(
    expect.objectContaining({ message: expect.stringContaining(`a name of BuildKitPool ${own}/holder`) }),
  );
  expect(await complaintOf(hostname, older)).toBe("ERR_TLS_CERT_ALTNAME_INVALID");
  expect(await complaintOf(hostname, holder)).toBeUndefined();
  expect((await client.list(Ingress, { namespace: theirs })).items).toEqual([]);
  // Pools of one namespace share its names.
  const beside = await create({ namespace: own, name: "beside" }, external(hostname));
  await pool(beside, ({ status }) => status?.hostnames?.includes(hostname));

  for (const key of [holder, beside]) {
    await client.delete(BuildKitPool, key);
    await waitForDeletion(client, BuildKitPool, key, wait);
  }
  await client.patch(BuildKitPool, older, {
    type: "merge",
    patch: { spec: { scaling: { max: 3 } } },
  });
  await waitForCondition(client, BuildKitPool, older, "CertificatesReady", "True", wait);
  expect(await complaintOf(hostname, older)).toBeUndefined();
  expect((await client.list(Ingress, { namespace: theirs })).items).toHaveLength(1);
}, 60_000);
