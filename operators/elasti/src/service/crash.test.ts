import {
  Client,
  type NamespacedKey,
  type Transport,
  type TransportRequest,
  type TransportResponse,
} from "@windlass/client";
import { type Manager, manager, silentLogger } from "@windlass/runtime";
import { Deployment, EndpointSlice, Namespace, Service } from "@windlass/runtime/kinds";
import { startCluster, type TestCluster, waitFor, waitForDeletion } from "@windlass/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ModelTraffic, placeResolver, resolver } from "../../testing/model-traffic.ts";
import { elastiController } from "./controller.ts";
import { ElastiService, finalizer } from "./elasti-service.ts";
import { divertingLabel, privateServiceName, wakeAnnotation } from "./names.ts";
import type { Observation } from "./stage.ts";

/** How long the next leader may take for what the last one left. */
const wait = { timeout: 10_000 };
/** Of so many writes it is killed before one: lives take their time. 1 is all of them. */
const every = Number(process.env.ELASTI_CRASH_EVERY ?? 4);

let cluster: TestCluster;
let namespace: string;
let traffic: ModelTraffic;

beforeAll(async () => {
  cluster = await startCluster({ flavour: "embedded" });
  await cluster.install(ElastiService);
  await cluster.client.create(Namespace, { metadata: { name: resolver.namespace } });
  await placeResolver(cluster.client);
  namespace = await cluster.createNamespace("elasti");
  traffic = new ModelTraffic(cluster.client);
}, 60_000);
afterAll(() => cluster.close());

/** Lets a number of writes through, and nothing at all after that: its process was killed. */
class MortalTransport implements Transport {
  readonly died = Promise.withResolvers<"died">();
  /** What was about to be written. */
  last = "";
  readonly #inner: Transport;
  #writesLeft: number;

  constructor(inner: Transport, writesLeft: number) {
    this.#inner = inner;
    this.#writesLeft = writesLeft;
  }

  async request(request: TransportRequest): Promise<TransportResponse> {
    const isWrite = request.method !== "GET" && !request.path.includes("dryRun=");
    if (isWrite && this.#writesLeft >= 0) this.#writesLeft -= 1;
    if (this.#writesLeft >= 0) return await this.#inner.request(request);
    if (this.last === "") this.last = `${request.method} ${request.path}`;
    this.died.resolve("died");
    throw new Error("killed");
  }

  close(): Promise<void> {
    return this.#inner.close();
  }
}

/** One life of the operator. */
class Life implements AsyncDisposable {
  readonly transport: MortalTransport;
  readonly #manager: Manager;

  private constructor(transport: MortalTransport, running: Manager) {
    this.transport = transport;
    this.#manager = running;
  }

  static async begin(wish: Observation["wish"], writes = Number.POSITIVE_INFINITY): Promise<Life> {
    const { controlPlane } = cluster;
    if (!controlPlane) throw new Error("the control plane is embedded");
    const transport = new MortalTransport(controlPlane.connect(), writes);
    const client = new Client({ transport, fieldManager: "elasti-operator" });
    const controller = elastiController({
      kinds: cluster.client.discovery,
      probe: traffic,
      reports: traffic,
      wishes: { wishOf: () => wish, source: () => undefined },
      resolver,
      patience: { settleMs: 20, proofMs: 5_000, reprieveMs: 500 },
    });
    const running = manager({ client, log: silentLogger, health: false, metrics: false }).add(controller);
    await running.start();
    return new Life(transport, running);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#manager.stop();
  }
}

async function createService(name: string): Promise<NamespacedKey> {
  const { client } = cluster;
  const key = { namespace, name };
  const labels = { app: name };
  const containers = [{ name: "web", image: "nginx:1.25", ports: [{ containerPort: 80 }] }];
  const template = { metadata: { labels }, spec: { containers } };
  const spec = { replicas: 1, selector: { matchLabels: labels }, template };
  await client.create(Deployment, { metadata: key, spec });
  await client.create(Service, { metadata: key, spec: { selector: labels, ports: [{ port: 80 }] } });
  await waitFor(client, Deployment, key, ({ status }) => status?.readyReplicas === 1);
  const scaleTargetRef = { apiVersion: "apps/v1", kind: "Deployment", name };
  await client.create(ElastiService, { metadata: key, spec: { scaleTargetRef, service: name } });
  return key;
}

const isAt = (key: NamespacedKey, phase: string) =>
  waitFor(cluster.client, ElastiService, key, ({ status }) => status?.phase === phase, wait);

/** What others see of a service. */
async function shown({ name }: NamespacedKey) {
  const { client } = cluster;
  const own = { namespace, labelSelector: `kubernetes.io/service-name=${name}` };
  const [deployment, service, services, slices] = await Promise.all([
    client.get(Deployment, { namespace, name }),
    client.get(Service, { namespace, name }),
    client.list(Service, { namespace }),
    client.list(EndpointSlice, own),
  ]);
  return {
    replicas: deployment.spec?.replicas,
    isDiverted: service.spec?.selector?.[divertingLabel] !== undefined,
    hasPrivateService: services.items.some((one) => one.metadata.name === privateServiceName(name)),
    slices: slices.items.length,
  };
}

/** What is asked of the operator, one after the other, and what is there in the end. */
const steps = {
  "it falls asleep": {
    wish: "sleep",
    ask: () => undefined,
    done: async (key: NamespacedKey) => {
      await isAt(key, "Asleep");
    },
    shown: { replicas: 0, isDiverted: false, hasPrivateService: true, slices: 2 },
  },
  "it wakes": {
    wish: "stay",
    ask: (key: NamespacedKey) => {
      const patch = { metadata: { annotations: { [wakeAnnotation]: "1" } } };
      return cluster.client.patch(ElastiService, key, { type: "merge", patch });
    },
    done: async (key: NamespacedKey) => {
      await isAt(key, "Serving");
      const isHeard = ({ metadata }: { readonly metadata: { readonly annotations?: object } }) =>
        !Object.hasOwn(metadata.annotations ?? {}, wakeAnnotation);
      await waitFor(cluster.client, ElastiService, key, isHeard, wait);
    },
    shown: { replicas: 1, isDiverted: false, hasPrivateService: true, slices: 1 },
  },
  "it is deleted while it falls asleep": {
    wish: "sleep",
    ask: async (key: NamespacedKey) => {
      await isAt(key, "Holding");
      await cluster.client.delete(ElastiService, key);
    },
    done: async (key: NamespacedKey) => {
      await waitForDeletion(cluster.client, ElastiService, key, wait);
    },
    shown: { replicas: 1, isDiverted: false, hasPrivateService: false, slices: 1 },
  },
} as const;

test("the operator is killed before any of its writes, and the next one goes on to the same end", {
  timeout: 480_000,
}, async () => {
  const lives: Record<string, number> = {};
  for (const [title, { wish, ask, done, shown: expected }] of Object.entries(steps)) {
    const first = Math.floor(Math.random() * every);
    lives[title] = 0;
    for (let writes = first, hasDied = true; hasDied; writes += every) {
      const key = await createService(`s${Object.keys(lives).length}-${writes}`);
      if (title === "it wakes") {
        await using _before = await Life.begin("sleep");
        await isAt(key, "Asleep");
      }
      const { end, before, doing } = await livesFor(writes, wish, async () => {
        await ask(key);
        await done(key);
      });
      hasDied = end === "died";
      const began = performance.now();
      await using _next = await Life.begin(wish);
      // What the first one was asked for is done by the next.
      await doing();
      const message = `${title}, killed before write ${writes} (${before}), ended ${Math.round(performance.now() - began)} ms later`;
      await expect.poll(() => shown(key), { timeout: 5_000, message }).toEqual(expected);
      if (expected.hasPrivateService) {
        const { metadata } = await cluster.client.get(ElastiService, key);
        expect(metadata.finalizers).toEqual([finalizer]);
        await cluster.client.delete(ElastiService, key);
        await waitForDeletion(cluster.client, ElastiService, key, wait);
      }
      lives[title] += 1;
    }
  }
  for (const count of Object.values(lives)) expect(count * every).toBeGreaterThan(5);
});

/** An operator that is killed after so many writes, or when all is done that it is asked for. */
async function livesFor(writes: number, wish: Observation["wish"], asking: () => Promise<void>) {
  await using life = await Life.begin(wish, writes);
  const { died } = life.transport;
  const doing = asking();
  const end = await Promise.race([died.promise, doing.then(() => "done" as const)]);
  return { end, before: life.transport.last, doing: () => doing };
}
