import { Client, type Transport } from "@windlass/client";
import { type Manager, manager, silentLogger } from "@windlass/runtime";
import { ValidatingWebhookConfiguration } from "@windlass/runtime/kinds";
import { startCluster, type TestCluster, waitFor } from "@windlass/testing";
import { Policy, WebApp, webapp, webhooks } from "../src/index.ts";
import { images, type World } from "./world.ts";

const namespace = "webapp-system";

interface Replica {
  readonly manager: Manager;
  /** No request of its leaves the process any more. */
  kill(): void;
}

/**
 * The embedded control plane with three replicas of the operator, and webhooks that are called
 * without a socket.
 */
export async function embeddedWorld(): Promise<World> {
  const cluster = await startCluster({ flavour: "embedded" });
  const node = cluster.controlPlane?.node;
  node?.missingImages(images.missing);
  node?.on((pod) => JSON.stringify(pod.spec).includes(images.ends), "succeed");
  const server = webhooks(Policy.parse({}), { port: false, service: { namespace } });
  await cluster.install({ crd: () => WebApp.crd({ conversion: server.conversion() }) });
  cluster.controlPlane?.bindService(namespace, "webapp-operator-webhook", 443, server.handle);
  const replicas = await Promise.all([1, 2, 3].map(() => startReplica(cluster)));
  const { client } = cluster;
  await waitFor(client, ValidatingWebhookConfiguration, { name: "webapp-operator" }, () => true);
  const takeLeader = async () => {
    const index = replicas.findIndex((one) => one.manager.isLeading);
    const [leader] = replicas.splice(index, 1, await startReplica(cluster));
    return leader;
  };
  return {
    client,
    createNamespace: () => cluster.createNamespace("webapp"),
    killLeader: async () => (await takeLeader())?.kill(),
    drainLeader: async () => (await takeLeader())?.manager.stop(),
    close: async () => {
      await Promise.all(replicas.map((one) => one.manager.stop()));
      await cluster.close();
    },
  };
}

async function startReplica(cluster: TestCluster): Promise<Replica> {
  const inner = cluster.transport();
  let isDead = false;
  const transport: Transport = {
    request: (request) =>
      isDead ? Promise.reject(new Error("this replica was killed")) : inner.request(request),
    close: () => inner.close(),
  };
  const server = webhooks(Policy.parse({}), { port: false, install: true, service: { namespace } });
  const replica = manager({
    client: new Client({ transport, fieldManager: "webapp-operator", onWarning: () => undefined }),
    leaderElection: {
      name: "webapp-operator",
      namespace: "default",
      leaseDuration: 1_000,
      renewDeadline: 600,
      retryPeriod: 100,
    },
    health: false,
    metrics: false,
    log: silentLogger,
  })
    .add(webapp)
    .add(server);
  await replica.start();
  return {
    manager: replica,
    kill: () => {
      isDead = true;
      void replica.stop();
    },
  };
}
