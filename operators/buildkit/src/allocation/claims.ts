import { type Client, isConflict, isNotFound } from "@windlass/client";
import type { PoolName } from "../pool-name.ts";
import { type Allocation, BuildKitWorker, claimed, type Worker } from "../worker/index.ts";
import { AllocationError } from "./errors.ts";
import type { Guard } from "./job-lock.ts";
import type { PoolState } from "./pool-state.ts";

const MOST_CONFLICTS = 50;

/** Writes whose workers are: each time by compare-and-swap, so that of two who read the same state one succeeds. */
export class Claims {
  readonly #client: Client;
  readonly #state: PoolState;

  constructor(client: Client, state: PoolState) {
    this.#client = client;
    this.#state = state;
  }

  /** Claims a worker as it was read. Undefined if anyone has written it since: what is known of it is up to date then. */
  async take(worker: Worker, allocation: Allocation, guard?: Guard): Promise<Worker | undefined> {
    try {
      const taken = await this.#client.update(BuildKitWorker, claimed(worker, allocation), { guard });
      this.#state.wrote(BuildKitWorker, taken);
      return taken;
    } catch (error) {
      if (!isConflict(error) && !isNotFound(error)) throw error;
      await this.#lookAgain(worker);
      return undefined;
    }
  }

  /**
   * Changes the worker of an allocation. `change` is asked again for each newer state, and leaves it as it is with undefined.
   *
   * @throws AllocationError `NotAllocated`, `Contended`; what `change` throws.
   */
  async change(
    pool: PoolName,
    tokenHash: string,
    change: (worker: Worker, allocation: Allocation) => Worker | undefined,
  ): Promise<Worker> {
    const find = async () =>
      (await this.live(pool)).find(({ spec }) => spec.allocation?.tokenHash === tokenHash);
    let worker = this.#state.workerOf(tokenHash) ?? (await find());
    for (let conflicts = 0; conflicts < MOST_CONFLICTS; conflicts++) {
      const allocation = worker?.spec.allocation;
      if (!worker || allocation?.tokenHash !== tokenHash) throw notAllocated();
      const changed = change(worker, allocation);
      if (!changed) return worker;
      try {
        const written = await this.#client.update(BuildKitWorker, changed);
        this.#state.wrote(BuildKitWorker, written);
        return written;
      } catch (error) {
        if (isNotFound(error)) throw notAllocated();
        if (!isConflict(error)) throw error;
        worker = await find();
      }
    }
    throw new AllocationError("Contended", "the worker is being changed by others", { retryAfterSeconds: 1 });
  }

  /** The workers of a pool as the server has them at this moment. */
  async live(pool: PoolName, signal?: AbortSignal): Promise<readonly Worker[]> {
    const { items } = await this.#client.list(BuildKitWorker, {
      namespace: pool.namespace,
      fieldSelector: `spec.poolRef.name=${pool.name}`,
      ...(signal ? { signal } : {}),
    });
    return items;
  }

  async #lookAgain({ metadata }: Worker): Promise<void> {
    const key = { namespace: metadata.namespace, name: metadata.name };
    try {
      this.#state.wrote(BuildKitWorker, await this.#client.get(BuildKitWorker, key));
    } catch (error) {
      if (!isNotFound(error)) throw error;
      this.#state.deleted(BuildKitWorker, { metadata });
    }
  }
}

/** There is no such allocation, or none any more. */
export function notAllocated(): AllocationError {
  return new AllocationError("NotAllocated", "the allocation was released, has expired, or never was");
}
