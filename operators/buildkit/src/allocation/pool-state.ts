import type { AnyKind, KubernetesObject } from "@windlass/client";
import type { Clock } from "@windlass/clock";
import { type Cache, CacheMissError, type Informer, type RunnableContext } from "@windlass/runtime";
import { BuildKitPool, type Pool } from "../pool/index.ts";
import { type PoolName, poolText } from "../pool-name.ts";
import { BuildKitRequest, type WaitingRequest } from "../request/request.ts";
import { BuildKitWorker, isServing, type Worker } from "../worker/index.ts";
import { jobHash } from "./job.ts";
import type { Waiting } from "./turns.ts";

const byPool = "allocation: pool";
const byJob = "allocation: job";
const byHash = "allocation: hash";

/**
 * What a replica knows of pools: it watches them, their workers and the requests that wait. Sees
 * its own writes at once.
 */
export class PoolState implements Disposable {
  readonly #cache: Cache;
  readonly #clock: Clock;
  readonly #pools: Informer<Pool>;
  readonly #workers: Informer<Worker>;
  readonly #requests: Informer<WaitingRequest>;
  readonly #listeners = new Set<(pool: string) => void>();
  readonly #stops: (() => void)[] = [];

  /**
   * @param sources where pools are watched: a runnable's context, which knows in which namespaces
   */
  constructor({ cache, informer, clock }: Pick<RunnableContext, "cache" | "informer" | "clock">) {
    this.#cache = cache;
    this.#clock = clock;
    this.#pools = informer(BuildKitPool);
    this.#workers = informer(BuildKitWorker);
    this.#requests = informer(BuildKitRequest);
    this.#workers.addIndex(byPool, (worker) => [poolText(poolOf(worker))]);
    this.#workers.addIndex(byJob, (worker) => jobOf(worker));
    this.#workers.addIndex(byHash, ({ spec }) => (spec.allocation ? [spec.allocation.tokenHash] : []));
    this.#requests.addIndex(byPool, (request) => [poolText(poolOf(request))]);
    this.#stops.push(
      this.#pools.subscribe(({ object }) => this.#notify(poolText(object.metadata))),
      this.#workers.subscribe(({ object }) => this.#notify(poolText(poolOf(object)))),
      this.#requests.subscribe(({ object }) => this.#notify(poolText(poolOf(object)))),
    );
  }

  /** Resolves once all is known. */
  async synced(): Promise<void> {
    await Promise.all([this.#pools.synced, this.#workers.synced, this.#requests.synced]);
  }

  pool(name: PoolName): Pool | undefined {
    try {
      return this.#pools.get(name);
    } catch (error) {
      // In a namespace that others look after.
      if (error instanceof CacheMissError) return undefined;
      throw error;
    }
  }

  pools(): readonly Pool[] {
    return this.#pools.list();
  }

  workers(pool: PoolName): readonly Worker[] {
    return this.#workers.byIndex(byPool, poolText(pool));
  }

  /** The worker that an allocation has; undefined if none is known. */
  workerOf(allocationHash: string): Worker | undefined {
    return this.#workers.byIndex(byHash, allocationHash)[0];
  }

  /** The other allocations of the job that an allocation is for, by their hashes. */
  claimedBeside(allocationHash: string): readonly string[] {
    const worker = this.workerOf(allocationHash);
    const jobs = worker ? jobOf(worker) : [];
    return jobs
      .flatMap((job) => this.#workers.byIndex(byJob, job))
      .flatMap(({ spec }) => spec.allocation?.tokenHash ?? [])
      .filter((hash) => hash !== allocationHash);
  }

  /**
   * A worker that a job has and can build with, and whose allocation has not expired; undefined if
   * none is known.
   */
  workerForJob(hash: string): Worker | undefined {
    const now = this.#clock.now();
    return this.#workers
      .byIndex(byJob, hash)
      .find(
        (worker) =>
          worker.spec.allocation && now < Date.parse(worker.spec.allocation.expiresAt) && isServing(worker),
      );
  }

  /** Those that wait, and are waited for by a client. */
  requests(pool: PoolName): readonly WaitingRequest[] {
    const now = this.#clock.now();
    return this.#requests
      .byIndex(byPool, poolText(pool))
      .filter(
        ({ metadata, spec }) => metadata.deletionTimestamp === undefined && now < Date.parse(spec.waitUntil),
      );
  }

  request(key: { readonly namespace: string; readonly name: string }): WaitingRequest | undefined {
    return this.#requests.get(key);
  }

  /** Makes a write visible at once. */
  wrote(kind: AnyKind, object: KubernetesObject): void {
    this.#cache.wrote(kind, object);
  }

  /** Makes a delete visible at once. */
  deleted(kind: AnyKind, object: KubernetesObject): void {
    this.#cache.deleted(kind, object);
  }

  /**
   * Calls back with the text of each pool that has changed, or whose workers or requests have. The
   * returned function ends that.
   */
  onChange(listener: (pool: string) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  [Symbol.dispose](): void {
    for (const stop of this.#stops) stop();
    for (const informer of [this.#pools, this.#workers, this.#requests]) informer.release();
  }

  #notify(pool: string): void {
    for (const listener of this.#listeners) listener(pool);
  }
}

/** The pool that a worker or a request is of: it is in the same namespace. */
export function poolOf({ metadata, spec }: Worker | WaitingRequest): PoolName {
  return { namespace: metadata.namespace, name: spec.poolRef.name };
}

/** A request as turns are decided by it. */
export function waitingOf({ metadata, spec }: WaitingRequest): Waiting {
  return {
    name: metadata.name,
    owner: spec.requestedBy,
    requestedAt: Date.parse(spec.requestedAt),
    priority: spec.priority,
    affinityKey: spec.affinityKey,
  };
}

function jobOf(worker: Worker): readonly string[] {
  const { allocation } = worker.spec;
  if (!allocation) return [];
  return [jobHash({ pool: poolOf(worker), owner: allocation.requestedBy, jobId: allocation.jobId })];
}
