import { manager } from "@windlass/runtime";
import { EndpointSlice } from "@windlass/runtime/kinds";
import { startCluster, type TestCluster } from "@windlass/testing";
import { afterEach, expect, test, vi } from "vitest";
import { goneResolvers, type ReplicaWatch } from "./gone-resolvers.ts";
import type { LinkChange } from "./resolver-links.ts";

const [first, second, third, pod] = ["10.99.0.1", "10.99.0.2", "10.99.0.3", "10.98.0.1"] as const;
const managedBy = { "endpointslice.kubernetes.io/managed-by": "elasti-operator.windlass.dev" };

/** Replicas that are gone once the test says so. */
class ModelReplicas implements ReplicaWatch {
  expected: readonly string[] = [];
  readonly #gone = new Set<string>();
  readonly #listeners = new Set<(address: string, change: LinkChange) => void>();

  start = () => () => undefined;
  expect(addresses: readonly string[]): void {
    this.expected = addresses;
  }
  onChange(listener: (address: string, change: LinkChange) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }
  isDown = (address: string) => this.#gone.has(address);
  isGone = (address: string) => this.#gone.has(address);

  lose(address: string): void {
    this.#gone.add(address);
    for (const listener of this.#listeners) listener(address, "gone");
  }
}

let cluster: TestCluster;
afterEach(() => cluster.close());

/** An operator's replica that does nothing but this, and Services that lead to these addresses. */
async function withServices(services: Readonly<Record<string, readonly string[]>>) {
  cluster = await startCluster({ flavour: "embedded" });
  const { client } = cluster;
  const system = await cluster.createNamespace("elasti-system");
  const namespace = await cluster.createNamespace("elasti");
  const put = (ns: string, service: string, addresses: readonly string[], own: object) =>
    client.create(EndpointSlice, {
      metadata: {
        namespace: ns,
        generateName: `${service}-`,
        labels: { "kubernetes.io/service-name": service, ...own },
      },
      addressType: "IPv4",
      endpoints: addresses.map((address) => ({ addresses: [address], conditions: { ready: true } })),
      ports: [{ name: "http", port: 20_000 }],
    });
  await put(system, "resolver", [first, second], {});
  const own = (await client.list(EndpointSlice, { namespace: system })).items[0]?.metadata.name ?? "";
  /** What the resolver's own Service has. */
  const list = async (...listed: readonly { address: string; ready: boolean }[]) => {
    const endpoints = listed.map(({ address, ready }) => ({ addresses: [address], conditions: { ready } }));
    const patch = { endpoints };
    await client.patch(EndpointSlice, { namespace: system, name: own }, { type: "merge", patch });
  };
  const slices = new Map<string, string>();
  for (const [service, addresses] of Object.entries(services)) {
    const made = await put(namespace, service, addresses, managedBy);
    slices.set(service, made.metadata.name);
  }
  const replicas = new ModelReplicas();
  await cluster.run("elasti-operator", (options) =>
    manager(options).add(goneResolvers(replicas, { namespace: system, name: "resolver" })),
  );
  const nameOf = (service: string) => slices.get(service) ?? "";
  const addressesOf = async (service: string) => {
    const { endpoints } = await client.get(EndpointSlice, { namespace, name: nameOf(service) });
    return (endpoints ?? []).flatMap(({ addresses }) => addresses);
  };
  const putPod = (service: string) => put(namespace, service, [pod], {});
  return { client, namespace, replicas, addressesOf, nameOf, putPod, list };
}

test("a replica that is gone leaves every Service, and the others stay", async () => {
  const { replicas, addressesOf } = await withServices({
    web: [first, second],
    api: [first, second, third],
    other: [second, third],
  });
  expect(replicas.expected).toEqual([first, second]);
  replicas.lose(first);
  await vi.waitFor(async () => {
    expect(await addressesOf("web")).toEqual([second]);
    expect(await addressesOf("api")).toEqual([second, third]);
  });
  expect(await addressesOf("other")).toEqual([second, third]);
});

test("a Service keeps its last endpoint, and none of those that are gone where others are left", async () => {
  const { replicas, addressesOf, putPod } = await withServices({
    alone: [first],
    beside: [first],
    dead: [first, third],
    marker: [first, second],
  });
  await putPod("beside");
  replicas.lose(third);
  await vi.waitFor(async () => expect(await addressesOf("dead")).toEqual([first]));
  replicas.lose(first);
  await vi.waitFor(async () => {
    expect(await addressesOf("marker")).toEqual([second]);
    // Pods take its connections.
    expect(await addressesOf("beside")).toEqual([]);
  });
  expect(await addressesOf("alone")).toEqual([first]);
  expect(await addressesOf("dead")).toEqual([first]);
});

test("a replica is watched for as long as a Service leads to it, whatever its own says of it", async () => {
  const { replicas, addressesOf, list } = await withServices({ web: [first, second] });
  await list({ address: second, ready: false }, { address: third, ready: true });
  await vi.waitFor(() => expect(replicas.expected).toEqual([second, third, first]));
  replicas.lose(first);
  await vi.waitFor(async () => expect(await addressesOf("web")).toEqual([second]));
  await list({ address: third, ready: true });
  await vi.waitFor(() => expect(replicas.expected).toEqual([third, second]));
});

test("what the leader puts back stays", async () => {
  const { client, namespace, replicas, addressesOf, nameOf } = await withServices({
    web: [first, second],
    api: [third, second],
  });
  replicas.lose(first);
  await vi.waitFor(async () => expect(await addressesOf("web")).toEqual([second]));
  const endpoints = [first, second].map((address) => ({ addresses: [address] }));
  const key = { namespace, name: nameOf("web") };
  await client.patch(EndpointSlice, key, { type: "merge", patch: { endpoints } });
  // Another loss is acted on, and the first is not once more.
  replicas.lose(third);
  await vi.waitFor(async () => expect(await addressesOf("api")).toEqual([second]));
  expect(await addressesOf("web")).toEqual([first, second]);
});

test("a write that another has overtaken is made again", async () => {
  const { client, namespace, replicas, addressesOf, nameOf } = await withServices({
    web: [first, second, third],
  });
  const name = nameOf("web");
  let writes = 0;
  const overtaking = (async () => {
    for (; writes < 20; writes++)
      await client.patch(
        EndpointSlice,
        { namespace, name },
        { type: "merge", patch: { metadata: { annotations: { write: String(writes) } } } },
      );
  })();
  replicas.lose(first);
  await overtaking;
  await vi.waitFor(async () => expect(await addressesOf("web")).toEqual([second, third]));
});
