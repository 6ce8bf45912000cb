import type { Client } from "@windlass/client";
import { type Clock, type Random, sleep, systemClock, systemRandom, uuid } from "@windlass/clock";
import type { Pool } from "../pool/index.ts";
import { type PoolName, poolText } from "../pool-name.ts";
import type { WaitingRequest } from "../request/request.ts";
import { spanMs } from "../span.ts";
import type { IssuedToken } from "../tokens/index.ts";
import { type Allocation, claimed, isHeld, isServing, released, type Worker } from "../worker/index.ts";
import { newAllocation, tokenOf } from "./claim-token.ts";
import { Claims, notAllocated } from "./claims.ts";
import { Dispatcher, type Place } from "./dispatcher.ts";
import { AllocationError } from "./errors.ts";
import { type Job, jobHash, operationId, requestName } from "./job.ts";
import type { PlacementRules } from "./placement.ts";
import type { PoolCredentials } from "./pool-credentials.ts";
import { type PoolState, waitingOf } from "./pool-state.ts";
import { Requests, requestRenewMs } from "./requests.ts";
import { fairOrder, type Waiting } from "./turns.ts";

/** What an allocator is made of. */
export interface AllocatorOptions {
  /** Reads and writes at the server itself. */
  readonly client: Client;
  readonly state: PoolState;
  readonly credentials: Pick<PoolCredentials, "keyring">;
  /** Called with each worker that is given out, and how long its client waited. @default none */
  readonly onGranted?: (pool: PoolName, waitedMs: number) => void;
  /** @default the machine's clock */
  readonly clock?: Clock;
  /** @default the machine's randomness */
  readonly random?: Random;
}

/** What a client wants. */
export interface AllocationSpec {
  readonly pool: Pool;
  /** The id of the identity that asks. */
  readonly owner: string;
  /**
   * Its own name for what it wants a worker for: asked again, it is given the same worker.
   *
   * @default a unique one
   */
  readonly jobId?: string | undefined;
  readonly ttlMs: number;
  /** Whose cache it prefers. @default none in particular */
  readonly affinityKey?: string | undefined;
  /** @default 0 */
  readonly priority?: number | undefined;
  readonly metadata?: Readonly<Record<string, string>> | undefined;
  /** How many workers of the pool its owner may have. @default any number */
  readonly concurrent?: number | undefined;
  /** How long the call waits for a worker. */
  readonly waitMs: number;
  /** Aborted when the client has gone. */
  readonly signal: AbortSignal;
}

/** A worker that a client has. */
export interface Grant {
  readonly pool: PoolName;
  readonly worker: Worker;
  readonly allocation: Allocation;
  readonly issued: IssuedToken;
}

/** A client that waits for a worker. */
export interface Operation {
  readonly id: string;
  /** `Provisioning`: a worker is being started that it will get if nothing changes. */
  readonly state: "Queued" | "Provisioning";
  /** How many are in front of it. */
  readonly position: number;
  /** How long it may take; undefined while nothing is known of that. */
  readonly estimatedWaitMs: number | undefined;
}

/** The outcome of a request for a worker. */
export type AllocationOutcome =
  /** `isNew`: the job had none before this call. */
  | { readonly is: "granted"; readonly grant: Grant; readonly isNew: boolean }
  | { readonly is: "waiting"; readonly operation: Operation };

const MOST_CONFLICTS = 50;
/** After how long a claim is no longer about to be taken back by who made it. */
const SETTLED_MS = 10_000;

type Attempt =
  | { readonly is: "granted"; readonly grant: Grant; readonly isNew: boolean }
  | { readonly is: "waiting"; readonly request: WaitingRequest }
  /** Another replica was faster: look again. */
  | { readonly is: "again" };

interface Ask extends Omit<AllocationSpec, "jobId"> {
  readonly job: Job;
  readonly hash: string;
  /** Of its request. */
  readonly name: string;
  /** Whether the client can ask for it again: it has named the job, or received the operation. */
  readonly isRepeatable: boolean;
}

/**
 * Gives workers of pools to clients. Every replica has one, and all of them serve: a worker is
 * claimed by compare-and-swap, and whose turn it is follows from objects that all of them watch.
 *
 * A job that asks two replicas at once is claimed for twice at times. Of several claims the first
 * counts, by the order in which the server wrote them: each replica looks at the claims as they
 * were when its own was written, and takes its own back if it was not the first. The same look says
 * whether an owner has more than it may have. So no replica holds a lock, and one that is killed
 * keeps no client waiting.
 */
export class Allocator implements Disposable {
  readonly #options: AllocatorOptions;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #claims: Claims;
  readonly #requests: Requests;
  readonly #dispatcher: Dispatcher;
  /** How long clients of a pool have waited lately, for each that was in front of them. */
  readonly #paceMs = new Map<string, number>();

  constructor(options: AllocatorOptions) {
    const { client, state, clock = systemClock, random = systemRandom } = options;
    this.#options = options;
    this.#clock = clock;
    this.#random = random;
    this.#claims = new Claims(client, state);
    this.#requests = new Requests(client, state, clock);
    this.#dispatcher = new Dispatcher(state, clock);
  }

  /**
   * Gives a worker to a client, waiting for one if need be. What still waits then goes on waiting
   * for a while: `resume`.
   *
   * @throws AllocationError; ApiError or TransportError of the API server; the signal's reason.
   */
  async allocate(spec: AllocationSpec): Promise<AllocationOutcome> {
    const { jobId, ...rest } = spec;
    const pool = nameOf(spec.pool);
    const job: Job = { pool, owner: spec.owner, jobId: jobId ?? uuid(this.#random) };
    const hash = jobHash(job);
    const name = requestName(pool, hash);
    return await this.#serve({ ...rest, job, hash, name, isRepeatable: jobId !== undefined });
  }

  /**
   * Goes on waiting for an operation.
   *
   * @param request Of the operation, as it was found.
   * @throws as `allocate` does.
   */
  async resume(
    spec: Pick<AllocationSpec, "pool" | "concurrent" | "ttlMs" | "waitMs" | "signal">,
    request: WaitingRequest,
  ): Promise<AllocationOutcome> {
    const { requestedBy, jobId, affinityKey, metadata, priority } = request.spec;
    const job: Job = { pool: nameOf(spec.pool), owner: requestedBy, jobId };
    const own = { owner: requestedBy, affinityKey, metadata, priority };
    const hash = jobHash(job);
    return await this.#serve({
      ...spec,
      ...own,
      job,
      hash,
      name: request.metadata.name,
      isRepeatable: true,
    });
  }

  /** The token of a worker that is allocated. @throws AllocationError. */
  async grantOf(pool: PoolName, worker: Worker): Promise<Grant> {
    const { allocation } = worker.spec;
    const ring = await this.#options.credentials.keyring(pool);
    const on = { pool, worker: worker.metadata.name };
    const issued = allocation ? tokenOf(ring, on, allocation, this.#clock.now()) : undefined;
    if (!allocation || !issued) throw notAllocated();
    return { pool, worker, allocation, issued };
  }

  /**
   * Has an allocation last longer.
   *
   * @param mostMs How long it may last in all.
   * @throws AllocationError.
   */
  async renew(pool: PoolName, tokenHash: string, ttlMs: number, mostMs: number): Promise<Grant> {
    const worker = await this.#claims.change(pool, tokenHash, (found, allocation) => {
      if (found.status?.phase === "Failed") throw workerLost(found);
      const expiresAt = renewedEnd(allocation, this.#clock.now(), ttlMs, mostMs);
      if (expiresAt === undefined) return undefined;
      return claimed(found, { ...allocation, expiresAt: new Date(expiresAt).toISOString() });
    });
    return await this.grantOf(pool, worker);
  }

  /**
   * Takes an allocation off its worker, and with it what a replica may have claimed for the same
   * job besides, and was killed before it could take it back.
   *
   * @throws AllocationError `NotAllocated`.
   */
  async release(pool: PoolName, tokenHash: string): Promise<void> {
    const others = this.#options.state.claimedBeside(tokenHash);
    await this.#claims.change(pool, tokenHash, released);
    for (const other of others) await this.#takeBack(pool, other);
  }

  /**
   * Ends a job: it no longer waits, and has no worker. Asks the server, so that what another
   * replica has just written counts.
   *
   * @returns whether there was anything to end.
   */
  async end(job: Job): Promise<boolean> {
    const request = await this.#requests.find(job.pool, requestName(job.pool, jobHash(job)));
    if (request) await this.#requests.remove(request);
    const claims = (await this.#claims.liveOf(job.pool, job.jobId)).flatMap(
      ({ spec: { allocation } }) => allocation ?? [],
    );
    const own = claims.filter(({ requestedBy, jobId }) => requestedBy === job.owner && jobId === job.jobId);
    for (const { tokenHash } of own) await this.#takeBack(job.pool, tokenHash);
    return request !== undefined || own.length > 0;
  }

  /** The worker of an allocation, known here or not; undefined if there is none. */
  async workerOf(pool: PoolName, tokenHash: string): Promise<Worker | undefined> {
    const isIt = ({ spec }: Worker) => spec.allocation?.tokenHash === tokenHash;
    return this.#options.state.workerOf(tokenHash) ?? (await this.#claims.live(pool)).find(isIt);
  }

  /**
   * What there is of a job, known here or not: its request while it waits, its worker once it has
   * one.
   */
  async findJob(
    pool: PoolName,
    hash: string,
  ): Promise<{ readonly request: WaitingRequest | undefined; readonly worker: Worker | undefined }> {
    const { state } = this.#options;
    const name = requestName(pool, hash);
    const known = {
      request: state.request({ namespace: pool.namespace, name }),
      worker: state.workerForJob(hash),
    };
    if (known.request || known.worker) return known;
    const now = this.#clock.now();
    const worker = (await this.#claims.live(pool)).find((one) => {
      const { allocation } = one.spec;
      if (!allocation || now >= Date.parse(allocation.expiresAt) || !isServing(one)) return false;
      return jobHash({ pool, owner: allocation.requestedBy, jobId: allocation.jobId }) === hash;
    });
    return { request: worker ? undefined : await this.#requests.find(pool, name), worker };
  }

  /** Forgets a request that waits. */
  async cancel(request: WaitingRequest): Promise<void> {
    await this.#requests.remove(request);
  }

  /** Where an operation stands. */
  operation(request: WaitingRequest, job: Job): Operation {
    const { state } = this.#options;
    const workers = state.workers(job.pool);
    const order = fairOrder(state.requests(job.pool).map(waitingOf), workers);
    const at = order.findIndex(({ name }) => name === request.metadata.name);
    const position = at < 0 ? order.length : at;
    const starting = workers.filter(
      ({ status }) => status?.phase === "Pending" || status?.phase === "Provisioning",
    );
    const paceMs = this.#paceMs.get(poolText(job.pool));
    return {
      id: operationId(job),
      state: position < starting.length ? "Provisioning" : "Queued",
      position,
      estimatedWaitMs: paceMs === undefined ? undefined : Math.round(paceMs * (position + 1)),
    };
  }

  [Symbol.dispose](): void {
    this.#dispatcher[Symbol.dispose]();
  }

  async #serve(ask: Ask): Promise<AllocationOutcome> {
    const { pool } = ask.job;
    const startedAt = this.#clock.monotonic();
    const ahead = this.#options.state.requests(pool).length;
    let request: WaitingRequest | undefined;
    using place = this.#enter(ask);
    try {
      for (let conflicts = 0; ; ) {
        ask.signal.throwIfAborted();
        const attempt = await this.#attempt(ask, place);
        if (attempt.is === "granted") {
          this.#served(pool, this.#clock.monotonic() - startedAt, ahead);
          return attempt;
        }
        if (attempt.is === "again") {
          conflicts += 1;
          if (conflicts > MOST_CONFLICTS)
            throw new AllocationError("Contended", "others were faster, many times in a row", {
              retryAfterSeconds: 1,
            });
          continue;
        }
        request = attempt.request;
        const leftMs = startedAt + ask.waitMs - this.#clock.monotonic();
        if (leftMs <= 0) return { is: "waiting", operation: this.operation(request, ask.job) };
        const withinMs = Math.min(leftMs, requestRenewMs, this.#affinityLeftMs(ask, request));
        await place.woken(withinMs, ask.signal);
      }
    } catch (error) {
      // A client that has gone and cannot ask again must keep no other waiting.
      if (request && (!ask.isRepeatable || error instanceof AllocationError))
        await this.#requests.remove(request);
      throw error;
    }
  }

  #enter(ask: Ask): Place {
    const { job, hash, name, owner, affinityKey, priority = 0 } = ask;
    const requestedAt = this.#clock.now();
    const rules = rulesOf(ask.pool);
    return this.#dispatcher.enter({
      pool: job.pool,
      hash,
      waiting: () => {
        const request = this.#requestOf(ask);
        return request ? waitingOf(request) : { name, owner, requestedAt, priority, affinityKey };
      },
      rules: () => rules,
    });
  }

  #requestOf({ job, name }: Ask): WaitingRequest | undefined {
    return this.#options.state.request({ namespace: job.pool.namespace, name });
  }

  /** One look at the pool: claims a worker if it is this job's turn, else has it wait. */
  async #attempt(ask: Ask, place: Place): Promise<Attempt> {
    const { state } = this.#options;
    const { pool } = ask.job;
    if (state.pool(pool)?.metadata.deletionTimestamp !== undefined || !state.pool(pool))
      throw new AllocationError("PoolTerminating", `pool ${poolText(pool)} is being deleted`);
    const request = this.#requestOf(ask);
    const turn = place.turn();
    if (turn.is === "settled") return await this.#existing(ask, request);
    this.#checkQuota(ask, request, state.workers(pool));
    if (turn.is === "not-yet") return { is: "waiting", request: await this.#keepWaiting(ask, request) };
    using _ = place.claiming(turn.worker);
    return await this.#claim(ask, turn.worker, request);
  }

  /** The worker that a job has. Another replica may know better than this one. */
  async #existing(ask: Ask, request: WaitingRequest | undefined): Promise<Attempt> {
    const { job, signal } = ask;
    const { state } = this.#options;
    const found = await this.#claims.liveOf(job.pool, job.jobId);
    const now = this.#clock.now();
    const own = found
      .filter((worker) => isClaimOf(worker, job, now))
      .toSorted((a, b) => allocatedAt(a) - allocatedAt(b) || compareNames(a, b));
    const [first, ...others] = own;
    if (!first) {
      // The watch has not brought the release yet.
      const known = state.workerForJob(ask.hash);
      if (known) await this.#claims.refresh(known);
      return { is: "again" };
    }
    // Those who claimed them are about to find out which of them counts. One who was killed before
    // it could never will: its claim stays until the job is released. Which of them the client
    // was given cannot be known any more, for the times are of clocks that may differ, and a claim
    // that is taken back may have a build.
    if (others.length > 0 && now < Math.max(...own.map(allocatedAt)) + SETTLED_MS) {
      await sleep(this.#clock, 20 + this.#random.next() * 20, signal);
      return { is: "again" };
    }
    if (request) await this.#requests.remove(request);
    return { is: "granted", grant: await this.grantOf(job.pool, first), isNew: false };
  }

  async #claim(ask: Ask, worker: Worker, request: WaitingRequest | undefined): Promise<Attempt> {
    const { job, ttlMs, affinityKey, metadata, concurrent, isRepeatable } = ask;
    const ring = await this.#options.credentials.keyring(job.pool);
    const now = this.#clock.now();
    const own = { affinityKey, metadata, worker: worker.metadata.name };
    const allocation = newAllocation(ring, { job, now, ttlMs, ...own });
    const taken = await this.#claims.take(worker, allocation);
    if (!taken) return { is: "again" };
    // No other call knows of a job that this one has named, nor of its request.
    const isAlone = !isRepeatable && concurrent === undefined;
    const [earlier] = await Promise.all([
      isAlone ? undefined : this.#earlierClaim(ask, taken),
      request && this.#requests.remove(request),
    ]);
    if (earlier) return earlier;
    if (ask.signal.aborted && !isRepeatable) {
      // No client was notified of it.
      await this.#takeBack(job.pool, allocation.tokenHash);
      throw ask.signal.reason;
    }
    return { is: "granted", grant: await this.grantOf(job.pool, taken), isNew: true };
  }

  /**
   * Takes a claim back that was not the job's first, or is one more than its owner may have.
   * Undefined if it counts.
   *
   * @throws AllocationError `QuotaExceeded`.
   */
  async #earlierClaim(ask: Ask, taken: Worker): Promise<Attempt | undefined> {
    const { job, owner, concurrent } = ask;
    const hash = taken.spec.allocation?.tokenHash ?? "";
    const before = await this.#claims.before(
      job.pool,
      taken,
      concurrent === undefined ? job.jobId : undefined,
    );
    const now = this.#clock.now();
    for (const other of before.filter((worker) => isClaimOf(worker, job, now))) {
      const found = await this.#claims.refresh(other);
      if (found?.spec.allocation?.tokenHash !== other.spec.allocation?.tokenHash) continue;
      await this.#takeBack(job.pool, hash);
      return { is: "granted", grant: await this.grantOf(job.pool, found ?? other), isNew: false };
    }
    const held = heldBy(owner, before);
    if (concurrent === undefined || held < concurrent) return undefined;
    await this.#takeBack(job.pool, hash);
    throw quotaExceeded(job.pool, held, 0, concurrent);
  }

  /** Takes a claim off that no client was notified of. */
  async #takeBack(pool: PoolName, hash: string): Promise<void> {
    try {
      await this.#claims.change(pool, hash, released);
    } catch (error) {
      if (!(error instanceof AllocationError && error.code === "NotAllocated")) throw error;
    }
  }

  /** Makes the request of a job that waits, or renews it. */
  async #keepWaiting(ask: Ask, known: WaitingRequest | undefined): Promise<WaitingRequest> {
    const { maxWait, maxLength } = ask.pool.spec.queue;
    const waitedMs = known ? this.#clock.now() - Date.parse(known.spec.requestedAt) : 0;
    if (waitedMs >= spanMs(maxWait, "spec.queue.maxWait")) {
      if (known) await this.#requests.remove(known);
      throw new AllocationError("QueueTimeout", `no worker was free within ${maxWait}`, {
        retryAfterSeconds: 30,
      });
    }
    const renewed = known ? await this.#requests.renew(known) : undefined;
    if (renewed) return renewed;
    const { name, job, ttlMs, priority = 0, affinityKey, metadata } = ask;
    return await this.#requests.make({
      name,
      job,
      poolUid: ask.pool.metadata.uid ?? "",
      ttlMs,
      priority,
      affinityKey,
      metadata,
      mostWaiting: maxLength,
    });
  }

  /** @throws AllocationError `QuotaExceeded`. */
  #checkQuota(ask: Ask, request: WaitingRequest | undefined, workers: readonly Worker[]): void {
    const { concurrent, owner } = ask;
    if (concurrent === undefined) return;
    const held = heldBy(owner, workers);
    const since = request ? Date.parse(request.spec.requestedAt) : Number.POSITIVE_INFINITY;
    const before = this.#others(ask).filter((one) => one.owner === owner && one.requestedAt < since).length;
    if (held + before < concurrent) return;
    throw quotaExceeded(ask.job.pool, held, before, concurrent);
  }

  /** All others that wait for the same pool. */
  #others({ job, name }: Ask): readonly Waiting[] {
    return this.#options.state
      .requests(job.pool)
      .filter(({ metadata }) => metadata.name !== name)
      .map(waitingOf);
  }

  /** Until the worker that has a request's cache is no longer waited for. */
  #affinityLeftMs({ pool }: Ask, { spec }: WaitingRequest): number {
    const leftMs = Date.parse(spec.requestedAt) + rulesOf(pool).affinityWaitMs - this.#clock.now();
    return spec.affinityKey !== undefined && leftMs > 0 ? leftMs : Number.POSITIVE_INFINITY;
  }

  #served(pool: PoolName, waitedMs: number, ahead: number): void {
    this.#options.onGranted?.(pool, waitedMs);
    const key = poolText(pool);
    const paceMs = waitedMs / (ahead + 1);
    this.#paceMs.set(key, (this.#paceMs.get(key) ?? paceMs) * 0.8 + paceMs * 0.2);
  }
}

/** When a renewed allocation ends, in epoch milliseconds; undefined if it lasts as long already. */
function renewedEnd(
  { allocatedAt, expiresAt }: Allocation,
  now: number,
  ttlMs: number,
  mostMs: number,
): number | undefined {
  const longest = Date.parse(allocatedAt) + mostMs;
  // Tokens end at whole seconds.
  const end = Math.floor(Math.min(now + ttlMs, longest) / 1_000) * 1_000;
  if (end > Date.parse(expiresAt)) return end;
  if (now + ttlMs <= longest) return undefined;
  throw new AllocationError(
    "LifetimeExceeded",
    `an allocation of this pool lasts at most ${mostMs / 1_000}s, and this one does already`,
  );
}

function quotaExceeded(pool: PoolName, held: number, waiting: number, concurrent: number): AllocationError {
  return new AllocationError(
    "QuotaExceeded",
    `you have ${held} workers of pool ${poolText(pool)} and wait for ${waiting} more, and may have ${concurrent}: release one first`,
    { retryAfterSeconds: 30 },
  );
}

function workerLost({ metadata, status }: Worker): AllocationError {
  const why = status?.message ?? status?.reason ?? "it failed";
  return new AllocationError("WorkerLost", `worker ${metadata.name} is lost: ${why}; allocate again`);
}

function allocatedAt({ spec }: Worker): number {
  return Date.parse(spec.allocation?.allocatedAt ?? "");
}

function compareNames(a: Worker, b: Worker): number {
  return a.metadata.name < b.metadata.name ? -1 : 1;
}

/**
 * Whether a job has a worker that it can build with. One whose claim has expired, that has failed
 * or is to go is of no use to it, though builds may still end there.
 */
function isClaimOf(worker: Worker, { owner, jobId }: Job, now: number): boolean {
  const { allocation } = worker.spec;
  if (allocation?.requestedBy !== owner || allocation.jobId !== jobId) return false;
  return now < Date.parse(allocation.expiresAt) && isServing(worker);
}

function heldBy(owner: string, workers: readonly Worker[]): number {
  return workers.filter((worker) => worker.spec.allocation?.requestedBy === owner && isHeld(worker)).length;
}

function nameOf({ metadata }: Pool): PoolName {
  return { namespace: metadata.namespace, name: metadata.name };
}

function rulesOf({ spec }: Pool): PlacementRules {
  return {
    reuse: spec.scaling.reuse,
    affinityWaitMs: spanMs(spec.queue.affinityWait, "spec.queue.affinityWait"),
  };
}
