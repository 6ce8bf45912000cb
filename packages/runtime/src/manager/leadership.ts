import type { ClusterAccess, Reader, Writer } from "@windlass/client";
import type { Clock, Random } from "@windlass/clock";
import type { Logger } from "../reconcile/log.ts";
import type { Election, ElectionRules } from "./election.ts";
import { campaign, type LeaseAddress } from "./elector.ts";
import { type Fence, LeaseFence, openFence, threadClock } from "./fence.ts";
import { leaseThreadUrl } from "./lease-worker.ts";
import { Pulse } from "./stall.ts";

/** What a manager is told about leading. */
export interface LeadershipHandlers {
  readonly onLeading: () => void;
  readonly onLost: () => void;
  /** The lease was renewed only after a look at it, because someone else had written it. @default nothing */
  readonly onSlowRenewal?: () => void;
}

/** Whether this process leads, and the way to stop competing. */
export interface Leadership {
  readonly fence: Fence;
  readonly isLeading: boolean;
  /** What is wrong with the lease, if anything; for the readiness probe. */
  readonly fault: string | undefined;
  /** Ends the campaign and releases the lease. Resolves when that is done. */
  stop(): Promise<void>;
}

/** Leadership without competition: from the start, and for ever. */
export function alwaysLeading(handlers: LeadershipHandlers): Leadership {
  handlers.onLeading();
  return { fence: openFence, isLeading: true, fault: undefined, stop: () => Promise.resolve() };
}

export interface CampaignOptions {
  readonly rules: ElectionRules;
  readonly lease: LeaseAddress;
  readonly log: Logger;
  /** Whether it has been told already that no server answers. @default never */
  readonly isServerOut?: () => boolean;
}

/** Turns the states of an election into "leading" and "lost", each once. */
class Changes {
  isLeading = false;
  readonly #handlers: LeadershipHandlers;
  readonly #log: Logger;
  readonly #lease: string;

  constructor(handlers: LeadershipHandlers, { lease, log, rules }: CampaignOptions) {
    this.#handlers = handlers;
    this.#lease = `${lease.namespace}/${lease.name}`;
    this.#log = log.child({ lease: this.#lease, identity: rules.identity });
  }

  set(isLeading: boolean): void {
    if (isLeading === this.isLeading) return;
    this.isLeading = isLeading;
    this.#log.info({}, isLeading ? "became the leader" : "no longer the leader");
    if (isLeading) this.#handlers.onLeading();
    else this.#handlers.onLost();
  }
}

/**
 * Says that the lease is out of reach: in the log as soon as the server has refused or failed, once for each fault, and to the
 * readiness probe once that has lasted longer than a lease does.
 */
class Contact {
  readonly #clock: Pick<Clock, "monotonic">;
  readonly #patienceMs: number;
  readonly #log: Logger;
  readonly #isServerOut: () => boolean;
  #lastMs: number;
  #failure: string | undefined;

  constructor(
    clock: Pick<Clock, "monotonic">,
    { lease, log, rules, isServerOut = () => false }: CampaignOptions,
  ) {
    this.#isServerOut = isServerOut;
    this.#clock = clock;
    this.#patienceMs = rules.leaseDurationMs;
    this.#log = log.child({ lease: `${lease.namespace}/${lease.name}` });
    this.#lastMs = clock.monotonic();
  }

  readonly note = (failure: string | undefined): void => {
    if (failure === undefined) this.#lastMs = this.#clock.monotonic();
    else if (faultOf(failure) !== faultOf(this.#failure ?? ""))
      this.#log[this.#isServerOut() ? "debug" : "warn"](
        { error: failure },
        "the lease is out of reach; trying again",
      );
    this.#failure = failure;
  };

  get fault(): string | undefined {
    const silentMs = this.#clock.monotonic() - this.#lastMs;
    if (silentMs < this.#patienceMs) return undefined;
    return `no answer about the lease for ${Math.round(silentMs / 1000)} s: ${this.#failure ?? "nothing heard"}`;
  }
}

/** What is wrong, whichever of the requests about the lease it happened to. */
function faultOf(failure: string): string {
  return failure.replace(/^[A-Z]+ \S+: /, "");
}

/**
 * Competes on this thread. For runs under a handed-in clock or transport, where everything must happen in one place and in order. In
 * production use {@link competeInThread}: here a busy event loop delays the renewal.
 */
export function compete(
  options: CampaignOptions & {
    readonly client: Reader & Writer;
    readonly clock: Clock;
    readonly random: Random;
  },
  handlers: LeadershipHandlers,
): Leadership {
  const { clock } = options;
  const fence = new LeaseFence(clock);
  const changes = new Changes(handlers, options);
  const contact = new Contact(clock, options);
  const abort = new AbortController();
  // The state machine learns of an expiry at its next step; handlers should not have to wait for that.
  let cancelExpiry: () => void = () => undefined;
  const onState = (state: Election) => {
    cancelExpiry();
    if (state.at !== "leading") {
      fence.close();
      changes.set(false);
      return;
    }
    fence.openUntil(state.until);
    cancelExpiry = clock.schedule(Math.max(0, state.until - clock.monotonic()), () => changes.set(false));
    changes.set(true);
  };
  const ended = campaign({
    ...options,
    signal: abort.signal,
    onState,
    onContact: contact.note,
    onSlowRenewal: handlers.onSlowRenewal,
  });
  return {
    fence,
    get isLeading() {
      return changes.isLeading;
    },
    get fault() {
      return contact.fault;
    },
    async stop() {
      abort.abort(new Error("the campaign was ended"));
      await ended;
      cancelExpiry();
    },
  };
}

/** What the renewing thread is started with. */
export interface LeaseThreadData {
  readonly access: ClusterAccess;
  readonly rules: ElectionRules;
  readonly lease: LeaseAddress;
  readonly fence: SharedArrayBuffer;
  /** Of the main thread. */
  readonly pulse: SharedArrayBuffer;
  /** For how long the lease is renewed for a main thread that stands still. */
  readonly patienceMs: number;
}

/** A main thread that stands still for longer does not come back, and someone else should work. Ordinary stalls are far from it. */
const PATIENCE_MS = 120_000;

/** What the renewing thread says. */
export type LeaseThreadMessage =
  | { readonly type: "state"; readonly isLeading: boolean }
  | { readonly type: "contact"; readonly failure: string | undefined }
  | { readonly type: "slowRenewal" };

/**
 * Competes on a thread of its own, with a connection of its own, so that a long parse or collection on the main thread cannot lose the
 * lease. The thread moves the fence in shared memory: the main thread, waking from a stall, sees a loss before its first write, not
 * after its first message.
 *
 * A main thread that stands still for minutes loses the lease all the same: it would keep others from the work that it does not do.
 */
export async function competeInThread(
  options: CampaignOptions & {
    readonly access: ClusterAccess;
    /** Memory of the main thread's `Pulse`, which the renewing thread watches over. @default nobody's */
    readonly pulse?: SharedArrayBuffer;
    /** How long that may be missing before the lease is given to others. @default 120_000 */
    readonly patienceMs?: number;
  },
  handlers: LeadershipHandlers,
): Promise<Leadership> {
  const { Worker } = await import("node:worker_threads");
  const { access, rules, lease, log, pulse = new Pulse().memory, patienceMs = PATIENCE_MS } = options;
  const fence = new LeaseFence(threadClock);
  const changes = new Changes(handlers, options);
  const contact = new Contact(threadClock, options);
  const data: LeaseThreadData = { access, rules, lease, fence: fence.memory, pulse, patienceMs };
  const { promise: ended, resolve } = Promise.withResolvers<void>();
  let isStopping = false;
  let thread = start();
  function start() {
    const worker = new Worker(leaseThreadUrl(), { workerData: data, name: "windlass-lease" });
    worker.on("message", (message: LeaseThreadMessage) => {
      if (message.type === "state") changes.set(message.isLeading && !isStopping);
      else if (message.type === "contact") contact.note(message.failure);
      else handlers.onSlowRenewal?.();
    });
    worker.on("error", (error) => {
      log.error({ error: error.message }, "the thread that renews the lease failed; starting another");
      contact.note(error.message);
    });
    worker.on("exit", () => {
      fence.close();
      changes.set(false);
      if (isStopping) resolve();
      else setTimeout(restart, rules.retryPeriodMs).unref();
    });
    return worker;
  }
  function restart() {
    if (isStopping) resolve();
    else thread = start();
  }
  return {
    fence,
    get isLeading() {
      return changes.isLeading;
    },
    get fault() {
      return contact.fault;
    },
    async stop() {
      isStopping = true;
      thread.postMessage("stop");
      await ended;
    },
  };
}
