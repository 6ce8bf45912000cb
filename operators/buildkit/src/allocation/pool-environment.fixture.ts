import { Client, isConflict, isNotFound, type Transport, TransportError } from "@windlass/client";
import { systemClock, systemRandom } from "@windlass/clock";
import { createCache, type RunnableContext } from "@windlass/runtime";
import { Namespace, Secret } from "@windlass/runtime/kinds";
import { startCluster, type TestCluster } from "@windlass/testing";
import { addAuthority, trustBundle, writeAuthorities } from "../certificates/index.ts";
import { kinds } from "../kinds.fixture.ts";
import { clusterSecrets, poolLabel, poolNames, workerLabel, workerName } from "../names.ts";
import { BuildKitPool, type Pool } from "../pool/index.ts";
import { BuildKitRequest } from "../request/request.ts";
import { addKey, type Keyring, keyringDataKey, poolKeyring, writeKeyring } from "../tokens/index.ts";
import { BuildKitWorker, type Worker } from "../worker/index.ts";
import { Allocator } from "./allocator.ts";
import { PoolCredentials } from "./pool-credentials.ts";
import { PoolState } from "./pool-state.ts";

export const systemNamespace = "buildkit-system";

/**
 * A transport that can be cut off as a process is that is killed: what is under way may or may not
 * have arrived.
 */
export function killable(inner: Transport): { readonly transport: Transport; kill(): void } {
  const dead = new AbortController();
  const fail = (): never => {
    throw new TransportError("CONNECTION_FAILED", "the process was killed");
  };
  return {
    kill: () => dead.abort(),
    transport: {
      async request(request) {
        if (dead.signal.aborted) fail();
        const signal = request.signal ? AbortSignal.any([request.signal, dead.signal]) : dead.signal;
        // A write that has left is not taken back; a watch ends.
        const isWrite = request.method !== "GET";
        const response = await inner.request(isWrite ? request : { ...request, signal });
        if (dead.signal.aborted) fail();
        return response;
      },
      close: () => inner.close(),
    },
  };
}

/** One replica of the API, without its HTTP server. */
export class Replica {
  readonly allocator: Allocator;
  readonly state: PoolState;
  readonly client: Client;
  readonly #kill: () => void;
  readonly #stop: () => Promise<void>;
  isDead = false;

  private constructor(cluster: TestCluster) {
    const { transport, kill } = killable(cluster.transport());
    this.#kill = kill;
    this.client = new Client({ transport, fieldManager: "buildkit-api" });
    const cache = createCache({ source: this.client });
    const informer: RunnableContext["informer"] = (kind, scope) => cache.informer(kind, scope);
    this.state = new PoolState({ cache, informer, clock: systemClock });
    const credentials = new PoolCredentials({ client: this.client, namespace: systemNamespace });
    this.allocator = new Allocator({
      client: this.client,
      state: this.state,
      credentials,
    });
    this.#stop = () => cache.stop();
  }

  static async start(cluster: TestCluster): Promise<Replica> {
    const replica = new Replica(cluster);
    await replica.state.synced();
    return replica;
  }

  /** As kill -9 does. */
  async kill(): Promise<void> {
    this.isDead = true;
    this.#kill();
    await this.#stop();
  }

  async stop(): Promise<void> {
    await this.#stop();
  }
}

/**
 * A stand-in for the controllers: makes workers for requests, says when they are idle, and ends
 * what has expired.
 */
export class FakeController {
  readonly #client: Client;
  readonly #stop = new AbortController();
  readonly #loops: Promise<void>[] = [];
  #wake: () => void = () => undefined;
  /** How long a worker takes to start. */
  startMs = 0;
  /** How long one that has failed stays. */
  failedMs = 1_000;

  constructor(client: Client) {
    this.#client = client;
    for (const kind of [BuildKitWorker, BuildKitRequest, BuildKitPool]) this.#loops.push(this.#follow(kind));
    this.#loops.push(this.#run());
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    this.#wake();
    await Promise.all(this.#loops);
  }

  async #follow(kind: (typeof kinds)[number]): Promise<void> {
    while (!this.#stop.signal.aborted) {
      try {
        for await (const _ of this.#client.watch(kind, { signal: this.#stop.signal })) this.#wake();
      } catch {
        // It ends, or was cut: start again.
      }
    }
  }

  async #run(): Promise<void> {
    while (!this.#stop.signal.aborted) {
      const woken = new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, 200);
        this.#wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
      await this.#turn().catch((error: unknown) => {
        if (!isConflict(error) && !isNotFound(error) && !this.#stop.signal.aborted) throw error;
      });
      await woken;
    }
  }

  async #turn(): Promise<void> {
    const { items: pools } = await this.#client.list(BuildKitPool);
    const { items: workers } = await this.#client.list(BuildKitWorker);
    const { items: requests } = await this.#client.list(BuildKitRequest);
    for (const worker of workers) await this.#settle(worker).catch(ignoreRace);
    for (const { metadata, status } of workers)
      if (status?.phase === "Failed" && Date.now() >= Date.parse(status.phaseSince ?? "") + this.failedMs)
        await this.#client.delete(BuildKitWorker, metadata).catch(ignoreRace);
    for (const request of requests)
      if (Date.now() > Date.parse(request.spec.waitUntil))
        await this.#client.delete(BuildKitRequest, request.metadata).catch(ignoreRace);
    for (const pool of pools) {
      const own = workers.filter(({ spec }) => spec.poolRef.name === pool.metadata.name);
      const waiting = requests.filter(({ spec }) => spec.poolRef.name === pool.metadata.name).length;
      const spare = own.filter(({ spec }) => !spec.allocation).length;
      const wanted = Math.min(
        pool.spec.scaling.max - own.length,
        Math.max(pool.spec.scaling.min, waiting) - spare,
      );
      const used = new Set(own.map(({ spec }) => spec.slot));
      const slots = Array.from({ length: pool.spec.scaling.max }, (_, slot) => slot).filter(
        (slot) => !used.has(slot),
      );
      for (const slot of slots.slice(0, Math.max(0, wanted))) await this.#make(pool, slot).catch(ignoreRace);
    }
  }

  /** As if the worker's pod had ended. */
  async fail({ metadata }: Pick<Worker, "metadata">): Promise<void> {
    for (;;)
      try {
        const worker = await this.#client.get(BuildKitWorker, metadata);
        const since = new Date().toISOString();
        await this.#status(worker, { phase: "Failed", phaseSince: since, message: "the pod has ended" });
        return;
      } catch (error) {
        if (isNotFound(error)) return;
        if (!isConflict(error)) throw error;
      }
  }

  async #make({ metadata }: Pool, slot: number): Promise<void> {
    const { namespace, name } = metadata;
    const worker = await this.#client.create(BuildKitWorker, {
      metadata: {
        namespace,
        name: workerName(name, slot),
        labels: { [poolLabel]: name, [workerLabel]: "true" },
      },
      spec: { poolRef: { name }, slot },
    });
    if (this.startMs > 0) {
      await this.#status(worker, { phase: "Provisioning" });
      await new Promise((resolve) => setTimeout(resolve, this.startMs));
    }
    await this.#settle(worker);
  }

  async #settle(worker: Worker): Promise<void> {
    const { metadata, spec, status = {} } = worker;
    const { allocation } = spec;
    if (status.phase === "Failed" || metadata.deletionTimestamp !== undefined) return;
    if (allocation && Date.now() >= Date.parse(allocation.expiresAt)) {
      const { allocation: _, ...rest } = spec;
      await this.#client.update(BuildKitWorker, { ...worker, spec: rest });
      return;
    }
    if (status.observedGeneration === metadata.generation) return;
    const now = new Date().toISOString();
    await this.#status(
      worker,
      allocation
        ? {
            phase: "Allocated",
            lastUsedBy: allocation.requestedBy,
            allocationCount: (status.allocationCount ?? 0) + 1,
            lastActivityAt: now,
            ...(allocation.affinityKey === undefined ? {} : { affinityKey: allocation.affinityKey }),
          }
        : { phase: "Idle", phaseSince: now, lastActivityAt: now },
    );
  }

  async #status(worker: Worker, change: object): Promise<void> {
    const { metadata, status = {} } = worker;
    const own = {
      podIP: "10.0.0.7",
      endpoint: "tcp://10.0.0.7:1234",
      observedGeneration: metadata.generation ?? 0,
    };
    await this.#client.update(
      BuildKitWorker,
      { ...worker, status: { ...status, ...own, ...change } },
      { subresource: "status" },
    );
  }
}

function ignoreRace(error: unknown): void {
  if (!isConflict(error) && !isNotFound(error)) throw error;
}

/** A cluster with the kinds, the keys and stand-ins for the controllers. */
export class PoolTestEnvironment implements AsyncDisposable {
  readonly cluster: TestCluster;
  readonly controller: FakeController;
  readonly namespace: string;
  readonly #replicas: Replica[] = [];

  private constructor(cluster: TestCluster, namespace: string) {
    this.cluster = cluster;
    this.namespace = namespace;
    this.controller = new FakeController(
      new Client({ transport: cluster.transport(), fieldManager: "buildkit-controller" }),
    );
  }

  static async start(): Promise<PoolTestEnvironment> {
    const cluster = await startCluster({ flavour: "embedded" });
    await cluster.install(...kinds);
    await cluster.client.create(Namespace, { metadata: { name: systemNamespace } });
    const now = Date.now();
    const clients = addAuthority([], "clients", systemClock);
    await secret(
      cluster.client,
      systemNamespace,
      clusterSecrets.clientAuthorities,
      writeAuthorities(clients),
    );
    const environment = new PoolTestEnvironment(cluster, await cluster.createNamespace("builds"));
    environment.tokenKeys = addKey([], now, systemRandom);
    environment.trust = trustBundle(clients);
    return environment;
  }

  /** What the authorities of clients are. */
  trust = "";

  /** What the keys of all pools are derived from. */
  tokenKeys: Keyring = [];

  async pool(name: string, spec: object = {}): Promise<Pool> {
    const { client } = this.cluster;
    await secret(client, this.namespace, poolNames(name).tokenKeysSecret, {
      [keyringDataKey]: writeKeyring(poolKeyring(this.tokenKeys, { namespace: this.namespace, name })),
    });
    await secret(client, this.namespace, poolNames(name).tlsSecret, { "server-ca.crt": this.trust });
    return await client.create(BuildKitPool, { metadata: { namespace: this.namespace, name }, spec });
  }

  async replica(): Promise<Replica> {
    const replica = await Replica.start(this.cluster);
    this.#replicas.push(replica);
    return replica;
  }

  async workers(): Promise<readonly Worker[]> {
    return (await this.cluster.client.list(BuildKitWorker, { namespace: this.namespace })).items;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#replicas.filter(({ isDead }) => !isDead).map((replica) => replica.stop()));
    await this.controller.stop();
    await this.cluster.close();
  }
}

async function secret(
  client: Client,
  namespace: string,
  name: string,
  data: Readonly<Record<string, string>>,
) {
  const encoded = Object.entries(data).map(([key, value]) => [key, Buffer.from(value).toString("base64")]);
  await client.create(Secret, { metadata: { namespace, name }, data: Object.fromEntries(encoded) });
}
