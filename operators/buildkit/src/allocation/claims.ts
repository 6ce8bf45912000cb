import { type Client, isConflict, isGone, isNotFound, type ListOptions } from "@windlass/client";
import type { PoolName } from "../pool-name.ts";
import { type Allocation, BuildKitWorker, claimed, untracked, type Worker } from "../worker/index.ts";
import { AllocationError } from "./errors.ts";
import type { PoolState } from "./pool-state.ts";

const MOST_CONFLICTS = 50;

/**
 * Writes whose workers are: each time by compare-and-swap, so that of two who read the same state
 * one succeeds.
 */
export class Claims {
  readonly #client: Client;
  readonly #state: PoolState;

  constructor(client: Client, state: PoolState) {
    this.#client = client;
    this.#state = state;
  }

  /**
   * Claims a worker as it was read. Undefined if anyone has written it since: what is known of it
   * is up to date then.
   */
  async take(worker: Worker, allocation: Allocation): Promise<Worker | undefined> {
    try {
      const taken = await this.#client.update(BuildKitWorker, untracked(claimed(worker, allocation)));
      this.#state.wrote(BuildKitWorker, taken);
      return taken;
    } catch (error) {
      if (!isConflict(error) && !isNotFound(error)) throw error;
      await this.refresh(worker);
      return undefined;
    }
  }

  /**
   * Changes the worker of an allocation. `change` is asked again for each newer state, and leaves
   * it as it is with undefined.
   *
   * @throws AllocationError `NotAllocated`, `Contended`; what `change` throws.
   */
  async change(
    pool: PoolName,
    tokenHash: string,
    change: (worker: Worker, allocation: Allocation) => Worker | undefined,
  ): Promise<Worker> {
    const isIt = ({ spec }: Worker) => spec.allocation?.tokenHash === tokenHash;
    let worker = this.#state.workerOf(tokenHash) ?? (await this.live(pool)).find(isIt);
    for (let conflicts = 0; conflicts < MOST_CONFLICTS; conflicts++) {
      const allocation = worker?.spec.allocation;
      if (!worker || allocation?.tokenHash !== tokenHash) throw notAllocated();
      const changed = change(worker, allocation);
      if (!changed) return worker;
      try {
        const written = await this.#client.update(BuildKitWorker, untracked(changed));
        this.#state.wrote(BuildKitWorker, written);
        return written;
      } catch (error) {
        if (isNotFound(error)) throw notAllocated();
        if (!isConflict(error)) throw error;
        worker = await this.refresh(worker);
      }
    }
    throw new AllocationError("Contended", "the worker is being changed by others", { retryAfterSeconds: 1 });
  }

  /** The workers of a pool as the server has them at this moment. */
  async live(pool: PoolName): Promise<readonly Worker[]> {
    return await this.#list(pool, `spec.poolRef.name=${pool.name}`);
  }

  /**
   * The workers that have a claim for a job's id, of any owner, as the server has them at this
   * moment.
   */
  async liveOf(pool: PoolName, jobId: string): Promise<readonly Worker[]> {
    return await this.#list(pool, selectorFor(pool, jobId));
  }

  /**
   * The other workers of the pool as they were when a claim was written, the server's revision
   * being the order of all claims: what was claimed before is in it, and what comes after is not.
   *
   * @param jobId Only those with a claim for it. @default all
   */
  async before(pool: PoolName, taken: Worker, jobId?: string): Promise<readonly Worker[]> {
    const { resourceVersion = "", name } = taken.metadata;
    const at = { resourceVersion, resourceVersionMatch: "Exact" } as const;
    const fieldSelector = selectorFor(pool, jobId);
    try {
      return (await this.#list(pool, fieldSelector, at)).filter(({ metadata }) => metadata.name !== name);
    } catch (error) {
      if (!isGone(error)) throw error;
      // It took so long that the server no longer has that version. Any claim that is there now may
      // have been first.
      return (await this.#list(pool, fieldSelector)).filter(({ metadata }) => metadata.name !== name);
    }
  }

  async #list(
    { namespace }: PoolName,
    fieldSelector: string,
    at: Pick<ListOptions, "resourceVersion" | "resourceVersionMatch"> = {},
  ): Promise<readonly Worker[]> {
    return (await this.#client.list(BuildKitWorker, { namespace, fieldSelector, ...at })).items;
  }

  /** A worker as the server has it, from now on known here; undefined if it is gone. */
  async refresh({ metadata }: Pick<Worker, "metadata">): Promise<Worker | undefined> {
    const key = { namespace: metadata.namespace, name: metadata.name };
    try {
      const found = await this.#client.get(BuildKitWorker, key);
      this.#state.wrote(BuildKitWorker, found);
      return found;
    } catch (error) {
      if (!isNotFound(error)) throw error;
      this.#state.deleted(BuildKitWorker, { metadata });
      return undefined;
    }
  }
}

/** Ids with characters that mean something in a selector are not selected by. */
function selectorFor({ name }: PoolName, jobId: string | undefined): string {
  const pool = `spec.poolRef.name=${name}`;
  return jobId !== undefined && /^[\w.:/@-]+$/.test(jobId) ? `${pool},spec.allocation.jobId=${jobId}` : pool;
}

/** There is no such allocation, or none any more. */
export function notAllocated(): AllocationError {
  return new AllocationError("NotAllocated", "the allocation was released, has expired, or never was");
}
