import { Client } from "@windlass/client";
import { seededRandom } from "@windlass/clock";
import { Lease } from "@windlass/runtime/kinds";
import { expect, test } from "vitest";
import { BuildKitRequest } from "../request/request.ts";
import { BuildKitWorker, isClaimable, type Worker } from "../worker/index.ts";
import type { Grant } from "./allocator.ts";
import { PoolTestEnvironment, type Replica } from "./pool-environment.fixture.ts";

const max = 6;
/**
 * How long a claim may stay that is one too many: as long as a client keeps its worker here, and
 * its replica is not killed.
 */
const mostExcessMs = 2_000;
const owners = ["anna", "bert", "carl", "dora"];
/** Carl may have two. */
const limits: Readonly<Record<string, number>> = { carl: 2 };

/** Follows the workers as the server has them, and says what must never happen. */
class Observer {
  readonly faults: string[] = [];
  readonly #workers = new Map<string, Worker>();
  readonly #ended = new Set<string>();
  /**
   * Claims too many, since when: no client is notified of those, and who made them takes them back,
   * or the job's release does.
   */
  readonly #excesses = new Map<string, number>();
  claims = 0;

  async follow(client: Client, namespace: string, signal: AbortSignal): Promise<void> {
    try {
      for await (const event of client.watch(BuildKitWorker, { namespace, signal })) {
        if (event.type === "BOOKMARK" || event.type === "ERROR") continue;
        this.#see(event.object, event.type === "DELETED");
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }

  get held(): number {
    return [...this.#workers.values()].filter(({ spec }) => spec.allocation).length;
  }

  #see(worker: Worker, isGone: boolean): void {
    const { name } = worker.metadata;
    const before = this.#workers.get(name);
    const [was, is] = [
      before?.spec.allocation?.tokenHash,
      isGone ? undefined : worker.spec.allocation?.tokenHash,
    ];
    if (was !== is) this.#changed(name, before, was, is);
    if (isGone) this.#workers.delete(name);
    else this.#workers.set(name, worker);
    if (this.#workers.size > max) this.faults.push(`${this.#workers.size} workers`);
    const live = [...this.#workers.values()].flatMap(({ spec, status }) =>
      spec.allocation && Date.now() < Date.parse(spec.allocation.expiresAt) && status?.phase !== "Failed"
        ? [spec.allocation]
        : [],
    );
    const excesses = new Set<string>();
    const jobs = live.map(({ requestedBy, jobId }) => `${requestedBy} ${jobId}`);
    for (const [index, job] of jobs.entries())
      if (jobs.indexOf(job) !== index) excesses.add(`${job} has two workers`);
    for (const [owner, limit] of Object.entries(limits)) {
      const count = live.filter(({ requestedBy }) => requestedBy === owner).length;
      if (count > limit) excesses.add(`${owner} has more than ${limit} workers`);
    }
    const now = Date.now();
    for (const excess of excesses) {
      const since = this.#excesses.get(excess) ?? now;
      this.#excesses.set(excess, since);
      if (now > since + mostExcessMs) this.faults.push(`${excess} for ${now - since} ms`);
    }
    for (const excess of this.#excesses.keys()) if (!excesses.has(excess)) this.#excesses.delete(excess);
  }

  #changed(name: string, before: Worker | undefined, was: string | undefined, is: string | undefined): void {
    if (was !== undefined && is !== undefined)
      this.faults.push(`${name} was taken from one client and given to another`);
    if (was !== undefined) this.#ended.add(was);
    if (is === undefined) return;
    this.claims += 1;
    if (this.#ended.has(is)) this.faults.push(`an allocation came back on ${name}`);
    if (before && !isClaimable(before)) this.faults.push(`${name} was claimed while it could not be`);
  }
}

test.for([1, 2, 3])(
  "replicas are killed and workers fail while clients come and go: nothing is given twice, and nothing is lost (seed %i)",
  { timeout: 60_000 },
  async (seed) => {
    await using environment = await PoolTestEnvironment.start();
    const random = seededRandom(seed);
    const pick = <T>(items: readonly T[]): T => items[Math.floor(random.next() * items.length)] as T;
    environment.controller.failedMs = 200;
    const pool = await environment.pool("ci", { scaling: { min: 2, max }, queue: { affinityWait: "50ms" } });
    const name = { namespace: environment.namespace, name: "ci" };
    const replicas: Replica[] = [
      await environment.replica(),
      await environment.replica(),
      await environment.replica(),
    ];
    for (const { state } of replicas) await expect.poll(() => state.pool(name)).toBeDefined();
    const stop = new AbortController();
    const observer = new Observer();
    const observing = observer.follow(
      new Client({ transport: environment.cluster.transport() }),
      environment.namespace,
      stop.signal,
    );
    using _conflicts = environment.cluster.controlPlane?.faults.add({
      verbs: ["update"],
      resources: ["buildkitworkers"],
      probability: 0.15,
      conflict: true,
    });
    using _slow = environment.cluster.controlPlane?.faults.add({ probability: 0.3, delay: 4 });

    /** The allocations of each job that a client was given, and has not released. */
    const answered = new Map<string, string>();
    const granted = (owner: string, jobId: string, { issued }: Grant) => {
      const before = answered.get(`${owner} ${jobId}`);
      if (before !== undefined && before !== issued.allocation)
        observer.faults.push(`${owner} ${jobId} got two allocations`);
      answered.set(`${owner} ${jobId}`, issued.allocation);
    };

    /** A client asks one replica after the other until it is answered. */
    const allocate = async (owner: string, jobId: string): Promise<Grant | undefined> => {
      for (let attempt = 0; attempt < 200; attempt++) {
        const replica = pick(replicas);
        const gone = new AbortController();
        const patience = setTimeout(() => gone.abort(new Error("impatient")), 50 + random.next() * 1_500);
        const spec = {
          pool,
          owner,
          jobId,
          ttlMs: 600_000,
          waitMs: 1_000,
          signal: gone.signal,
          concurrent: limits[owner],
          affinityKey: pick([undefined, "shop", "site"]),
        };
        // The client's first attempt, whose connection was cut: its replica has not noticed yet.
        const other = random.next() < 0.5 ? pick(replicas).allocator.allocate(spec) : undefined;
        try {
          const [outcome, elsewhere] = await Promise.all([
            replica.allocator.allocate(spec),
            other?.catch(() => undefined),
          ]);
          for (const one of [outcome, elsewhere]) if (one?.is === "granted") granted(owner, jobId, one.grant);
          // An answer of a replica that is dead by now does not arrive.
          if (outcome.is === "granted" && !replica.isDead) return outcome.grant;
        } catch (error) {
          if (error instanceof Error && "code" in error && error.code === "NotAllocated") throw error;
        } finally {
          clearTimeout(patience);
        }
        await new Promise((resolve) => setTimeout(resolve, 5 + random.next() * 20));
      }
      return undefined;
    };

    let served = 0;
    const client = async (index: number) => {
      const owner = owners[index % owners.length] ?? "anna";
      for (let round = 0; round < 4; round++) {
        // Who does not name its job cannot ask again: a worker of a killed replica is lost to it,
        // until it expires.
        const jobId = `job-${index}-${round}`;
        let grant = await allocate(owner, jobId);
        expect(grant, `${owner} ${jobId}`).toBeDefined();
        if (!grant) return;
        served += 1;
        if (random.next() < 0.2) {
          const lost = grant.issued.allocation;
          await environment.controller.fail(grant.worker);
          answered.delete(`${owner} ${jobId}`);
          grant = await allocate(owner, jobId);
          expect(grant?.issued.allocation, `${owner} ${jobId}`).not.toBe(lost);
          if (!grant) return;
        }
        const hash = grant.issued.allocation;
        for (let look = 0; look < 2; look++) {
          const { items } = await environment.cluster.client.list(BuildKitWorker, {
            namespace: environment.namespace,
          });
          const mine = items.filter(({ spec }) => spec.allocation?.tokenHash === hash);
          expect(mine.map(({ metadata }) => metadata.name)).toEqual([grant.worker.metadata.name]);
          await new Promise((resolve) => setTimeout(resolve, random.next() * 30));
        }
        // Asked again meanwhile, it is the same.
        if (random.next() < 0.3) expect((await allocate(owner, jobId))?.issued.allocation).toBe(hash);
        answered.delete(`${owner} ${jobId}`);
        for (;;) {
          try {
            await pick(replicas).allocator.release(name, hash);
            break;
          } catch (error) {
            // Done by the call before, whose answer was lost.
            if (error instanceof Error && "code" in error && error.code === "NotAllocated") break;
            await new Promise((resolve) => setTimeout(resolve, 5));
          }
        }
      }
    };

    const killing = (async () => {
      while (!stop.signal.aborted) {
        await new Promise((resolve) => setTimeout(resolve, 60 + random.next() * 120));
        const index = Math.floor(random.next() * replicas.length);
        await replicas[index]?.kill();
        if (stop.signal.aborted) break;
        replicas[index] = await environment.replica();
      }
    })();
    await Promise.all(Array.from({ length: 16 }, (_, index) => client(index)));
    stop.abort();
    await Promise.all([killing, observing]);
    expect(observer.faults).toEqual([]);
    expect(served).toBe(64);
    expect(observer.claims).toBeGreaterThanOrEqual(64);
    const { items: workers } = await environment.cluster.client.list(BuildKitWorker, {
      namespace: environment.namespace,
    });
    expect(workers.filter(({ spec, status }) => spec.allocation && status?.phase !== "Failed")).toEqual([]);
    const { items: waiting } = await environment.cluster.client.list(BuildKitRequest, {
      namespace: environment.namespace,
    });
    for (const { spec } of waiting) expect(Date.parse(spec.waitUntil) - Date.now()).toBeLessThan(30_000);
    // Nothing but claims and requests is written: a replica that is killed leaves nothing that
    // others have to wait for.
    const { items: locks } = await environment.cluster.client.list(Lease, {
      namespace: environment.namespace,
    });
    expect(locks).toEqual([]);
  },
);
