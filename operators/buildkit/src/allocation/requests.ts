import { type Client, ignoreNotFound, isAlreadyExists, isConflict, isNotFound } from "@windlass/client";
import type { Clock } from "@windlass/clock";
import { type PoolName, poolText } from "../pool-name.ts";
import { BuildKitRequest, type WaitingRequest } from "../request/request.ts";
import { AllocationError } from "./errors.ts";
import type { Job } from "./job.ts";
import type { PoolState } from "./pool-state.ts";

/**
 * How long a request counts after it was renewed: for that long one of a replica that was killed
 * may keep others waiting.
 */
export const requestLeaseMs = 30_000;
/** How often it is renewed. */
export const requestRenewMs = 10_000;

/** A request to make. */
export interface RequestInit {
  readonly name: string;
  readonly job: Job;
  /** Of the pool, which owns it. */
  readonly poolUid: string;
  readonly ttlMs: number;
  readonly priority: number;
  readonly affinityKey: string | undefined;
  readonly metadata: Readonly<Record<string, string>> | undefined;
  /** How many may wait in the pool. */
  readonly mostWaiting: number;
}

/** The requests that wait, as objects: all replicas see them, and pools make workers for them. */
export class Requests {
  readonly #client: Client;
  readonly #state: PoolState;
  readonly #clock: Clock;

  constructor(client: Client, state: PoolState, clock: Clock) {
    this.#client = client;
    this.#state = state;
    this.#clock = clock;
  }

  /**
   * Makes a request, unless the job has one.
   *
   * @throws AllocationError `QueueFull`.
   */
  async make(init: RequestInit): Promise<WaitingRequest> {
    const { pool } = init.job;
    if (this.#state.requests(pool).length >= init.mostWaiting)
      throw new AllocationError(
        "QueueFull",
        `${init.mostWaiting} requests wait for pool ${poolText(pool)} already`,
        { retryAfterSeconds: 10 },
      );
    try {
      return this.#wrote(await this.#client.create(BuildKitRequest, this.#request(init)));
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
      return this.#wrote(await this.#client.get(BuildKitRequest, requestKey(pool, init.name)));
    }
  }

  /** A request by its name, as the server has it; undefined if there is none. */
  async find(pool: PoolName, name: string): Promise<WaitingRequest | undefined> {
    const found = await ignoreNotFound(this.#client.get(BuildKitRequest, requestKey(pool, name)));
    return found && this.#wrote(found);
  }

  /** Has a request count for longer, if it is time. Undefined if it is gone. */
  async renew(request: WaitingRequest): Promise<WaitingRequest | undefined> {
    const now = this.#clock.now();
    if (Date.parse(request.spec.waitUntil) - now > requestLeaseMs - requestRenewMs) return request;
    const patch = { spec: { waitUntil: new Date(now + requestLeaseMs).toISOString() } };
    const { namespace, name } = request.metadata;
    try {
      const key = { namespace, name };
      return this.#wrote(await this.#client.patch(BuildKitRequest, key, { type: "merge", patch }));
    } catch (error) {
      if (!isNotFound(error)) throw error;
      this.#state.deleted(BuildKitRequest, request);
      return undefined;
    }
  }

  /** Deletes a request, and no other by the same name. */
  async remove(request: WaitingRequest): Promise<void> {
    const { uid } = request.metadata;
    try {
      await this.#client.delete(BuildKitRequest, request.metadata, { preconditions: { uid } });
    } catch (error) {
      if (!isNotFound(error) && !isConflict(error)) throw error;
    }
    this.#state.deleted(BuildKitRequest, request);
  }

  #request({ name, job, poolUid, ttlMs, priority, affinityKey, metadata }: RequestInit) {
    const { group, version } = BuildKitRequest;
    const { pool } = job;
    const now = this.#clock.now();
    return {
      metadata: {
        ...requestKey(pool, name),
        ownerReferences: [
          { apiVersion: `${group}/${version}`, kind: "BuildKitPool", name: pool.name, uid: poolUid },
        ],
      },
      spec: {
        poolRef: { name: pool.name },
        jobId: job.jobId,
        requestedBy: job.owner,
        requestedAt: new Date(now).toISOString(),
        waitUntil: new Date(now + requestLeaseMs).toISOString(),
        priority,
        ttl: `${Math.ceil(ttlMs / 1_000)}s`,
        ...(affinityKey === undefined ? {} : { affinityKey }),
        ...(metadata === undefined ? {} : { metadata }),
      },
    };
  }

  #wrote(request: WaitingRequest): WaitingRequest {
    this.#state.wrote(BuildKitRequest, request);
    return request;
  }
}

function requestKey({ namespace }: PoolName, name: string) {
  return { namespace, name };
}
