import { type Client, isAlreadyExists, isConflict, isNotFound, type ObjectOf } from "@windlass/client";
import { type Clock, type Random, sleep, uuid } from "@windlass/clock";
import { microTimestamp } from "@windlass/runtime";
import { Lease } from "@windlass/runtime/kinds";
import { group } from "../fields.ts";
import { poolLabel } from "../names.ts";
import type { PoolName } from "../pool-name.ts";
import { AllocationError } from "./errors.ts";

/** What a lock is made of. */
export interface JobLockOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  /** How long others leave a lock alone whose holder has gone silent. Its holder relies on it for half of that: clocks differ. */
  readonly leaseSeconds: number;
}

/** Throws once the lock may no longer be relied on. Given to each write that it protects. */
export type Guard = () => void;

const LONGEST_RETRY_MS = 200;
/** Tells these Leases from others. */
const lockLabel = `${group}/job-lock`;

/**
 * Has one replica at a time serve a job, so that a client that asks twice, of two replicas at once, is given one worker. A
 * Lease that is created and deleted: nothing is left of it while nobody asks.
 */
export class JobLock {
  readonly #options: JobLockOptions;
  /** The last of those who wait in this process, by name: they need not ask the server to find out about each other. */
  readonly #last = new Map<string, Promise<void>>();

  constructor(options: JobLockOptions) {
    this.#options = options;
  }

  /**
   * Does work that nobody else does at the same time under the same name.
   *
   * @throws AllocationError `Contended` if others hold it for too long; the signal's reason.
   */
  async hold<T>(
    pool: PoolName,
    name: string,
    signal: AbortSignal,
    work: (guard: Guard) => Promise<T>,
  ): Promise<T> {
    const key = `${pool.namespace}/${name}`;
    const before = this.#last.get(key);
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#last.set(key, promise);
    try {
      await before;
      return await this.#holdLease(pool, name, signal, work);
    } finally {
      resolve();
      if (this.#last.get(key) === promise) this.#last.delete(key);
    }
  }

  async #holdLease<T>(
    pool: PoolName,
    name: string,
    signal: AbortSignal,
    work: (guard: Guard) => Promise<T>,
  ): Promise<T> {
    const { client, clock } = this.#options;
    const { uid, reliesUntil } = await this.#acquire(pool, name, signal);
    const guard = () => {
      if (clock.monotonic() >= reliesUntil)
        throw new AllocationError("Contended", "the request took too long: try again", {
          retryAfterSeconds: 1,
        });
    };
    try {
      return await work(guard);
    } finally {
      const key = { namespace: pool.namespace, name };
      // Whoever waits for it takes an expired one over. Not worth failing work that is done.
      await client.delete(Lease, key, { preconditions: { uid } }).catch(() => undefined);
    }
  }

  async #acquire(
    pool: PoolName,
    name: string,
    signal: AbortSignal,
  ): Promise<{ readonly uid: string; readonly reliesUntil: number }> {
    const { client, clock, random, leaseSeconds } = this.#options;
    const giveUpAt = clock.monotonic() + 2 * leaseSeconds * 1_000;
    for (let attempt = 0; ; attempt++) {
      signal.throwIfAborted();
      const startedAt = clock.monotonic();
      try {
        const { metadata } = await client.create(Lease, this.#lease(pool, name), { signal });
        return { uid: metadata.uid ?? "", reliesUntil: startedAt + leaseSeconds * 500 };
      } catch (error) {
        if (!isAlreadyExists(error)) throw error;
      }
      await this.#removeIfExpired(pool, name, signal);
      if (clock.monotonic() >= giveUpAt)
        throw new AllocationError("Contended", `the job is being served elsewhere: try again`, {
          retryAfterSeconds: 1,
        });
      await sleep(clock, Math.min(LONGEST_RETRY_MS, 5 * 2 ** attempt) * (0.5 + random.next() / 2), signal);
    }
  }

  #lease(pool: PoolName, name: string) {
    const { clock, random, leaseSeconds } = this.#options;
    return {
      metadata: { namespace: pool.namespace, name, labels: { [poolLabel]: pool.name, [lockLabel]: "true" } },
      spec: {
        holderIdentity: uuid(random),
        leaseDurationSeconds: leaseSeconds,
        acquireTime: microTimestamp(clock.now()),
      },
    };
  }

  /** Removes all locks of a namespace whose holders were killed. */
  async sweep(namespace: string): Promise<void> {
    const { items } = await this.#options.client.list(Lease, {
      namespace,
      labelSelector: `${lockLabel}=true`,
    });
    for (const lease of items) if (this.#isExpired(lease)) await this.#remove(lease);
  }

  async #removeIfExpired(pool: PoolName, name: string, signal: AbortSignal): Promise<void> {
    try {
      const lease = await this.#options.client.get(Lease, { namespace: pool.namespace, name }, { signal });
      if (this.#isExpired(lease)) await this.#remove(lease);
    } catch (error) {
      // Gone: the next attempt will tell.
      if (!isNotFound(error)) throw error;
    }
  }

  /** Whether it is of a replica that was killed. */
  #isExpired({ spec }: ObjectOf<typeof Lease>): boolean {
    const { clock, leaseSeconds } = this.#options;
    const heldMs = clock.now() - Date.parse(spec?.acquireTime ?? "");
    return !(heldMs < (spec?.leaseDurationSeconds ?? leaseSeconds) * 1_000);
  }

  /** Not another one by the same name, that somebody else has taken meanwhile. */
  async #remove({ metadata }: ObjectOf<typeof Lease>): Promise<void> {
    const { namespace, name, uid } = metadata;
    try {
      await this.#options.client.delete(
        Lease,
        { namespace, name },
        uid === undefined ? {} : { preconditions: { uid } },
      );
    } catch (error) {
      if (!isNotFound(error) && !isConflict(error)) throw error;
    }
  }
}
