import { Client } from "@windlass/client";
import { seededRandom, systemClock } from "@windlass/clock";
import { silentLogger } from "@windlass/runtime";
import { Namespace, Pod, Secret } from "@windlass/runtime/kinds";
import { startCluster, waitFor } from "@windlass/testing";
import { expect, test, vi } from "vitest";
import { operatorNamespace, Replicas } from "../testing/replicas.ts";
import type { Grant } from "./allocation/allocator.ts";
import { Replica } from "./allocation/pool-environment.fixture.ts";
import { takeRevocations, WorkerRoutes } from "./gateway/worker-routes.ts";
import { BuildKitPool, BuildKitRequest, BuildKitWorker, type Pool, type Worker } from "./index.ts";
import { kinds } from "./kinds.fixture.ts";
import { parseAllocationHash } from "./tokens/index.ts";
import type { BuildProbe } from "./worker/probe.ts";

const min = 1;
const max = 4;
/**
 * It goes on until so many were served. That takes some seconds, and minutes on a machine that is
 * busy with other tests.
 */
const enough = 30;
const longestMs = 300_000;
const settle = { timeout: 30_000, interval: 50 };

/** What a gateway and a person see of a pool's workers, and what they must never see. */
class Watcher {
  readonly faults: string[] = [];
  readonly routes = new WorkerRoutes(systemClock);
  readonly #workers = new Map<string, Worker>();
  readonly #ended = new Set<string>();
  claims = 0;

  async follow(client: Client, namespace: string, signal: AbortSignal): Promise<void> {
    try {
      for await (const event of client.watch(BuildKitWorker, { namespace, signal })) {
        if (event.type === "BOOKMARK" || event.type === "ERROR") continue;
        if (event.type === "DELETED") this.#gone(event.object);
        else this.#seen(event.object);
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }

  routeOf(hash: string): string {
    const parsed = parseAllocationHash(hash);
    return parsed === undefined ? "malformed" : this.routes.table.find(parsed).at;
  }

  #seen(worker: Worker): void {
    const { name } = worker.metadata;
    const was = this.#workers.get(name)?.spec.allocation?.tokenHash;
    const is = worker.spec.allocation?.tokenHash;
    if (was !== undefined && is !== undefined && was !== is) this.faults.push(`${name} was given on`);
    if (was !== undefined && was !== is) this.#ended.add(was);
    if (is !== undefined && was !== is) this.claims += 1;
    if (is !== undefined && this.#ended.has(is)) this.faults.push(`an allocation came back on ${name}`);
    this.#workers.set(name, worker);
    this.routes.update(worker);
    const held = [...this.#workers.values()].flatMap(({ spec }) => spec.allocation?.tokenHash ?? []);
    if (new Set(held).size < held.length) this.faults.push("an allocation is on two workers");
    if (this.#workers.size > max) this.faults.push(`${this.#workers.size} workers`);
  }

  #gone(worker: Worker): void {
    const { name } = worker.metadata;
    const was = this.#workers.get(name)?.spec.allocation?.tokenHash;
    if (was !== undefined) this.#ended.add(was);
    this.#workers.delete(name);
    this.routes.remove(worker);
  }
}

test.for([1])(
  "a random life: clients allocate, build, renew, release, vanish and expire while replicas are killed and pods evicted (seed %i)",
  { timeout: 480_000 },
  async (seed) => {
    await using cluster = await startCluster({ flavour: "embedded" });
    const { client } = cluster;
    await cluster.install(...kinds);
    await client.create(Namespace, { metadata: { name: operatorNamespace } });
    const builds = new Map<string, number>();
    const probe: BuildProbe = {
      builds: async ({ worker }) => ({ is: "known", count: builds.get(worker.name) ?? 0 }),
      prune: async () => true,
    };
    const operators = new Replicas(cluster, { gatewayImage: "gateway:1", probe, askEvery: "100ms" });
    await operators.start();
    const namespace = await cluster.createNamespace("builds");
    const key = { namespace, name: "ci" };
    await client.create(BuildKitPool, {
      metadata: key,
      spec: { scaling: { min, max, scaleDownDelay: "1s", drainTimeout: "5s", failedWorkersKept: 0 } },
    });
    const isWarm = (one: Pool) => (one.status?.workers?.idle === min ? one : undefined);
    const pool = await waitFor(client, BuildKitPool, key, isWarm, { timeout: 30_000 });
    const apis = await Promise.all([Replica.start(cluster), Replica.start(cluster), Replica.start(cluster)]);
    const random = seededRandom(seed);
    const pick = <T>(items: readonly T[]): T => items[Math.floor(random.next() * items.length)] as T;
    const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
    const watcher = new Watcher();
    const stop = new AbortController();
    const watching = watcher.follow(new Client({ transport: cluster.transport() }), namespace, stop.signal);
    takeRevocations(watcher.routes.table, undefined, silentLogger);
    const done = { granted: 0, renewed: 0, released: 0, abandoned: 0, evicted: 0, killed: 0 };
    const giveUpAt = performance.now() + longestMs;
    const isEnough = () => done.granted >= enough || performance.now() > giveUpAt;
    const evicted = new Set<string>();

    const withdraw = async ({ allocator }: Replica, operation: string) => {
      const { request } = await allocator.findJob(key, operation.slice(operation.lastIndexOf(".") + 1));
      if (request) await allocator.cancel(request);
    };
    /** A client asks one replica after the other. */
    const allocate = async (owner: string, jobId: string | undefined): Promise<Grant | undefined> => {
      while (!isEnough()) {
        const api = pick(apis);
        const gone = new AbortController();
        const ttlMs = 2_000 + random.next() * 3_000;
        const spec = { pool, owner, jobId, ttlMs, waitMs: 1_000, signal: gone.signal };
        try {
          const outcome = await api.allocator.allocate(spec);
          if (outcome.is === "granted" && !api.isDead) return outcome.grant;
          // Who has no id to ask again by takes the request back, and makes another.
          if (outcome.is === "waiting" && jobId === undefined) await withdraw(api, outcome.operation.id);
        } catch {
          await pause(20);
        }
      }
      return undefined;
    };
    const isOver = ({ allocation, worker }: Grant) =>
      Date.now() > Date.parse(allocation.expiresAt) - 500 || evicted.has(worker.metadata.name);

    const live = async (owner: string) => {
      for (let round = 0; !isEnough(); round++) {
        const grant = await allocate(owner, random.next() < 0.7 ? `${owner}-${round}` : undefined);
        if (!grant) return;
        done.granted += 1;
        const { name } = grant.worker.metadata;
        const hash = grant.issued.allocation;
        evicted.delete(name);
        await vi.waitFor(
          () => expect(isOver(grant) || ["ready", "starting"].includes(watcher.routeOf(hash))).toBe(true),
          settle,
        );
        const isBuilding = random.next() < 0.5;
        if (isBuilding) builds.set(name, (builds.get(name) ?? 0) + 1);
        await pause(random.next() * 400);
        if (random.next() < 0.2 && !isOver(grant)) {
          const renewed = await pick(apis)
            .allocator.renew(key, hash, 4_000, 60_000)
            .catch(() => undefined);
          if (renewed) {
            done.renewed += 1;
            expect(renewed.issued.allocation).toBe(hash);
          }
        }
        if (isBuilding) builds.set(name, Math.max(0, (builds.get(name) ?? 1) - 1));
        if (random.next() < 0.15) {
          // Its client never comes back: the claim has to expire by itself.
          done.abandoned += 1;
          continue;
        }
        for (let attempt = 0; attempt < 100; attempt++) {
          try {
            await pick(apis).allocator.release(key, hash);
            done.released += 1;
            break;
          } catch (error) {
            if (error instanceof Error && "code" in error && error.code === "NotAllocated") break;
            await pause(10);
          }
        }
        await vi.waitFor(() => expect(["unknown", "lost"]).toContain(watcher.routeOf(hash)), settle);
      }
    };

    const disturbances = (async () => {
      while (!isEnough()) {
        await pause(500 + random.next() * 1_500);
        const what = random.next();
        if (what < 0.7) {
          const index = Math.floor(random.next() * apis.length);
          await apis[index]?.kill();
          apis[index] = await Replica.start(cluster);
          done.killed += 1;
        } else if (what < 0.85) {
          await operators.killLeader();
          done.killed += 1;
        } else if (done.evicted < 2) {
          const { items } = await client.list(BuildKitWorker, { namespace });
          const victim = pick(items)?.metadata.name;
          if (victim === undefined) continue;
          evicted.add(victim);
          builds.delete(victim);
          done.evicted += 1;
          await client.delete(Pod, { namespace, name: victim }).catch(() => undefined);
        }
      }
    })();
    await Promise.all([...["anna", "bert", "carl", "dora", "emil", "fred"].map(live), disturbances]);
    builds.clear();

    // All that no client has any more ends, and the pool is as its spec says.
    await vi.waitFor(
      async () => {
        const { items } = await client.list(BuildKitWorker, { namespace });
        expect(items.map(({ spec, status }) => [spec.allocation, status?.phase])).toEqual(
          Array.from({ length: min }, () => [undefined, "Idle"]),
        );
        const alive = new Set(items.map(({ metadata }) => metadata.name));
        const pods = (await client.list(Pod, { namespace })).items.filter(
          ({ metadata }) => metadata.ownerReferences?.[0]?.kind === "BuildKitWorker",
        );
        expect(pods.filter(({ metadata }) => !alive.has(metadata.name))).toEqual([]);
        const secrets = (await client.list(Secret, { namespace })).items.filter(
          ({ metadata }) => metadata.ownerReferences?.[0]?.kind === "BuildKitWorker",
        );
        expect(secrets).toHaveLength(min);
        expect((await client.list(BuildKitRequest, { namespace })).items).toEqual([]);
      },
      { timeout: 60_000, interval: 200 },
    );
    stop.abort();
    await watching;
    await Promise.all(apis.map((api) => api.stop()));
    await operators.stop();
    expect(watcher.faults).toEqual([]);
    expect(watcher.claims).toBeGreaterThanOrEqual(done.granted);
    expect(done.granted).toBeGreaterThanOrEqual(enough);
    expect(done.killed).toBeGreaterThan(0);
  },
);
