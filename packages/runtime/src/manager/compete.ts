import type { ClusterAccess, Reader, Writer } from "@windlass/client";
import { type Clock, type Random, systemClock } from "@windlass/clock";
import type { ElectionRules } from "./election.ts";
import { campaign, type LeaseAddress } from "./elector.ts";
import { LeaseMemory, threadClock } from "./fence.ts";
import {
  type CampaignOptions,
  Contact,
  type Leadership,
  type LeadershipHandlers,
  Tenure,
} from "./leadership.ts";
import { leaseThreadUrl } from "./lease-worker.ts";
import { Pulse } from "./stall.ts";

/**
 * Competes on this thread. For runs under a handed-in clock or transport, where everything must
 * happen in one place and in order. In production use {@link competeInThread}: here a busy event
 * loop delays the renewal.
 */
export function compete(
  options: CampaignOptions & {
    readonly client: Reader & Writer;
    readonly clock: Clock;
    readonly random: Random;
  },
  handlers: LeadershipHandlers,
): Leadership {
  const { clock: wall } = options;
  const clock = wall.heartbeats ?? wall;
  const lease = new LeaseMemory(clock);
  const tenure = new Tenure(lease, clock, handlers, options);
  const contact = new Contact(clock, options);
  const release = new AbortController();
  const abandon = new AbortController();
  const ended = campaign({
    ...options,
    clock,
    wall,
    release: release.signal,
    abandon: abandon.signal,
    onState: (state) => {
      lease.follow(state);
      tenure.look();
    },
    onContact: contact.note,
    onSlowRenewal: handlers.onSlowRenewal,
  });
  const end = (how: AbortController) => {
    tenure.end();
    how.abort(new Error("the campaign was ended"));
    return ended;
  };
  return {
    fence: tenure.fence,
    get isLeading() {
      return tenure.isLeading;
    },
    get fault() {
      return contact.fault;
    },
    release: () => end(release),
    abandon: () => end(abandon),
  };
}

/** What the renewing thread is started with. */
export interface LeaseThreadData {
  readonly access: ClusterAccess;
  readonly rules: ElectionRules;
  readonly lease: LeaseAddress;
  /** Of the {@link LeaseMemory}. */
  readonly memory: SharedArrayBuffer;
  /** Of the main thread. */
  readonly pulse: SharedArrayBuffer;
  /** For how long the lease is renewed for a main thread that stands still. */
  readonly patienceMs: number;
}

/**
 * A main thread that stands still for longer does not come back, and someone else should work.
 * Ordinary stalls are far from it.
 */
const PATIENCE_MS = 120_000;

/**
 * What the renewing thread says. `looked` is after each step of the election: its outcome is in
 * the shared memory.
 */
export type LeaseThreadMessage =
  | { readonly type: "looked" }
  | { readonly type: "contact"; readonly failure: string | undefined }
  | { readonly type: "slowRenewal" };

/**
 * Competes on a thread of its own, with a connection of its own, so that a long parse or collection
 * on the main thread cannot lose the lease. Until when it is held is in shared memory: the main
 * thread, waking from a stall, sees a loss before its first write, not after its first message.
 *
 * A main thread that stands still for minutes still loses the lease: it would keep others
 * from the work that it does not do.
 */
export async function competeInThread(
  options: CampaignOptions & {
    readonly access: ClusterAccess;
    /**
     * Memory of the main thread's `Pulse`, which the renewing thread watches over. @default
     * nobody's
     */
    readonly pulse?: SharedArrayBuffer;
    /** How long that may be missing before the lease is left to others. @default 120_000 */
    readonly patienceMs?: number;
    /**
     * Aborted when there is no need to compete any more. Once this resolves, it has no effect.
     * @default never
     */
    readonly signal?: AbortSignal;
  },
  handlers: LeadershipHandlers,
): Promise<Leadership> {
  const { Worker } = await import("node:worker_threads");
  options.signal?.throwIfAborted();
  const {
    access,
    rules,
    lease: address,
    log,
    pulse = new Pulse().memory,
    patienceMs = PATIENCE_MS,
  } = options;
  const lease = new LeaseMemory(threadClock);
  const tenure = new Tenure(lease, systemClock, handlers, options);
  const contact = new Contact(threadClock, options);
  const data: LeaseThreadData = { access, rules, lease: address, memory: lease.memory, pulse, patienceMs };
  const { promise: ended, resolve: onEnded } = Promise.withResolvers<void>();
  let cancelRestart: (() => void) | undefined;
  let isEnding = false;
  let thread = start();
  function start() {
    const worker = new Worker(leaseThreadUrl(), { workerData: data, name: "windlass-lease" });
    worker.on("message", (message: LeaseThreadMessage) => {
      if (message.type === "looked") tenure.look();
      else if (message.type === "contact") contact.note(message.failure);
      else handlers.onSlowRenewal?.();
    });
    worker.on("error", (error) => {
      log.error({ error: error.message }, "the thread that renews the lease failed; starting another");
      contact.note(error.message);
    });
    worker.on("exit", () => {
      lease.letGo();
      tenure.look();
      if (isEnding) onEnded();
      else cancelRestart = systemClock.schedule(rules.retryPeriodMs, restart);
    });
    return worker;
  }
  function restart() {
    cancelRestart = undefined;
    thread = start();
  }
  const end = (stop: () => void) => {
    tenure.end();
    isEnding = true;
    if (cancelRestart) {
      cancelRestart();
      onEnded();
    } else stop();
    return ended;
  };
  return {
    fence: tenure.fence,
    get isLeading() {
      return tenure.isLeading;
    },
    get fault() {
      return contact.fault;
    },
    release: () => end(() => thread.postMessage("release")),
    abandon: () => end(() => void thread.terminate()),
  };
}
