import { Client, type NamespacedKey } from "@windlass/client";
import { manager } from "@windlass/runtime";
import { Deployment, Namespace, Service } from "@windlass/runtime/kinds";
import { startCluster, type TestCluster, waitFor } from "@windlass/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ModelTraffic, placeResolver, resolver } from "../../testing/model-traffic.ts";
import { elastiController } from "./controller.ts";
import { ElastiService } from "./elasti-service.ts";

const count = Number(process.env.ELASTI_SERVICES ?? 60);
let cluster: TestCluster;
let namespace: string;
/** What the operator asked the server for, since it was last emptied. */
const requests: { readonly method: string; readonly path: string }[] = [];

beforeAll(async () => {
  cluster = await startCluster({ flavour: "embedded" });
  const { client } = cluster;
  await cluster.install(ElastiService);
  await client.create(Namespace, { metadata: { name: resolver.namespace } });
  await placeResolver(client);
  namespace = await cluster.createNamespace("elasti");
});
afterAll(() => cluster.close());

function controller(traffic: ModelTraffic) {
  return elastiController({
    kinds: cluster.client.discovery,
    probe: traffic,
    reports: traffic,
    wishes: { wishOf: () => "stay", source: () => undefined },
    resolver,
  });
}

async function create(name: string, replicas: number): Promise<void> {
  const metadata = { namespace, name };
  const labels = { app: name };
  const containers = [{ name: "web", image: "nginx:1.25" }];
  await cluster.client.create(Deployment, {
    metadata,
    spec: {
      replicas,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers } },
    },
  });
  await cluster.client.create(Service, { metadata, spec: { selector: labels, ports: [{ port: 80 }] } });
  const scaleTargetRef = { apiVersion: "apps/v1", kind: "Deployment", name };
  await cluster.client.create(ElastiService, { metadata, spec: { scaleTargetRef, service: name } });
}

/** Its phase comes before the number of its pods: only with both is there nothing left to write. */
const settled = (key: NamespacedKey, phase: string, replicas: number) =>
  waitFor(
    cluster.client,
    ElastiService,
    key,
    ({ status }) => status?.phase === phase && (status.readyReplicas ?? 0) === replicas,
    { timeout: 90_000 },
  );

test("many services take few watches, write nothing at rest, and are taken over as they are", {
  timeout: 180_000,
}, async () => {
  const names = Array.from({ length: count }, (_, index) => `s${index}`);
  for (const [index, name] of names.entries()) await create(name, index % 2);
  const traffic = new ModelTraffic(cluster.client);
  const first = await cluster.run("elasti-operator", (options) => manager(options).add(controller(traffic)));
  for (const [index, name] of names.entries())
    await settled({ namespace, name }, index % 2 === 0 ? "Asleep" : "Serving", index % 2);
  await first.stop();

  const transport = cluster.transport();
  const counting = new Client({
    transport: {
      request: (request) => {
        requests.push(request);
        return transport.request(request);
      },
      close: () => transport.close(),
    },
    fieldManager: "elasti-operator",
  });
  const second = await cluster.run("elasti-operator", (options) =>
    manager({ ...options, client: counting }).add(controller(traffic)),
  );
  const reads = () => requests.filter(({ path }) => path.includes("/scale")).length;
  await expect.poll(reads, { timeout: 60_000 }).toBeGreaterThanOrEqual(count);
  await second.stop();
  const watches = requests.filter(({ path }) => path.includes("watch="));
  const writes = requests.filter(({ method }) => method !== "GET");
  expect(watches.length).toBeLessThanOrEqual(10);
  expect(writes).toEqual([]);
});
