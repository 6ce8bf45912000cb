import {
  ignoreNotFound,
  isAlreadyExists,
  isConflict,
  isNotFound,
  type Reader,
  type ResourceKind,
  type Writer,
} from "@windlass/client";
import { type Clock, type Random, sleep } from "@windlass/clock";
import { microTimestamp } from "../reconcile/condition.ts";
import { messageOf } from "../reconcile/errors.ts";
import {
  candidate,
  type Election,
  type ElectionAction,
  type ElectionEvent,
  type ElectionRules,
  type ElectionStep,
  type LeaseRecord,
  type StoredLease,
  step,
} from "./election.ts";

/** The lease that candidates compete for. */
export interface LeaseAddress {
  readonly namespace: string;
  readonly name: string;
}

/** What an elector needs. */
export interface ElectorOptions {
  readonly client: Reader & Writer;
  readonly clock: Clock;
  /** What renewals are stamped with. @default the clock */
  readonly wall?: Pick<Clock, "now">;
  readonly random: Random;
  readonly rules: ElectionRules;
  readonly lease: LeaseAddress;
  /** Ends the campaign and, if leading, releases the lease so that another takes over at once. */
  readonly release: AbortSignal;
  /**
   * Ends the campaign at once, in the middle of a request too. The holder of the lease has it until
   * it expires.
   */
  readonly abandon: AbortSignal;
  /** Told after each step whether, and until when, this candidate leads. */
  readonly onState: (state: Election) => void;
  /** Told of each answer of the server's, and of each failure to get one. */
  readonly onContact?: (failure: string | undefined) => void;
  /** Told when a leader has to look at its lease before it can renew it. */
  readonly onSlowRenewal?: (() => void) | undefined;
}

interface LeaseObject {
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly resourceVersion?: string;
  };
  readonly spec?: LeaseRecord;
}

const LeaseKind: ResourceKind<LeaseObject> = {
  group: "coordination.k8s.io",
  version: "v1",
  kind: "Lease",
  plural: "leases",
  scope: "Namespaced",
};

const jitter = 0.2;

/**
 * Competes for a lease until told to end: drives the election's state machine with requests and
 * timers. Never rejects.
 */
export async function campaign(options: ElectorOptions): Promise<void> {
  const { clock, wall = clock, random, rules, release, abandon, onState, onContact, onSlowRenewal } = options;
  const ending = AbortSignal.any([release, abandon]);
  const time = () => ({ now: clock.monotonic(), wall: microTimestamp(wall.now()) });
  let at: ElectionStep = { state: candidate, action: { do: "read" } };
  let isStopping = false;
  const advance = (event: ElectionEvent) => {
    at = step(rules, at.state, event);
    onState(at.state);
  };
  for (let todo = current(); todo.do !== "end" && !abandon.aborted; todo = current()) {
    if (release.aborted && !isStopping) {
      isStopping = true;
      advance({ type: "stop", ...time() });
      continue;
    }
    if (todo.do === "wait") {
      const ms = todo.ms * (at.state.at === "following" ? 1 + jitter * random.next() : 1);
      await sleep(clock, ms, ending).catch(() => undefined);
      advance({ type: "tick", ...time() });
      continue;
    }
    const sinceSent = stopwatch(clock);
    try {
      if (todo.do === "read") {
        const lease = await readLease(options);
        advance({ type: "read", lease, ...time() });
        if (at.state.at === "leading" && current().do === "update") onSlowRenewal?.();
      } else {
        const lease = await writeLease(options, todo);
        const sentAt = clock.monotonic() - sinceSent();
        advance(todo.do === "release" ? { type: "released" } : { type: "wrote", sentAt, lease, ...time() });
      }
      onContact?.(undefined);
    } catch (error) {
      if (abandon.aborted) return;
      const conflict = isConflict(error) || isAlreadyExists(error);
      onContact?.(conflict ? undefined : messageOf(error));
      // A release that fails is left to expire: this process is going.
      const because = conflict ? "conflict" : isNotFound(error) ? "missing" : "unreachable";
      advance(todo.do === "release" ? { type: "released" } : { type: "failed", because, ...time() });
    }
  }

  function current(): ElectionAction {
    return at.action;
  }
}

/** Counts the time that the machine slept, too, which the monotonic clock does not. */
function stopwatch(clock: Clock): () => number {
  const monotonic = clock.monotonic();
  const wall = clock.now();
  return () => Math.max(clock.monotonic() - monotonic, clock.now() - wall);
}

async function readLease(options: ElectorOptions): Promise<StoredLease | undefined> {
  const { client, lease } = options;
  return ignoreNotFound(
    within(options, async (signal) => stored(await client.get(LeaseKind, lease, { signal }))),
  );
}

function writeLease(
  options: ElectorOptions,
  todo: Extract<ElectionAction, { do: "create" | "update" | "release" }>,
): Promise<StoredLease> {
  const { client, lease } = options;
  return within(options, async (signal) => {
    if (todo.do === "create")
      return stored(await client.create(LeaseKind, { metadata: lease, spec: todo.record }, { signal }));
    const { resourceVersion } = todo;
    const body = { metadata: { ...lease, resourceVersion }, spec: todo.record };
    return stored(await client.update(LeaseKind, body, { signal }));
  });
}

function stored(lease: LeaseObject): StoredLease {
  return { resourceVersion: lease.metadata.resourceVersion ?? "", record: lease.spec ?? {} };
}

/**
 * Gives each request half the renew deadline, at least a second: one that hangs must leave time for
 * another.
 */
async function within<T>(
  { clock, rules, abandon }: ElectorOptions,
  send: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const limit = Math.max(1_000, rules.renewDeadlineMs / 2);
  const abort = new AbortController();
  const { promise, reject } = Promise.withResolvers<never>();
  const giveUp = (error: unknown) => {
    abort.abort(error);
    reject(error);
  };
  const onAbandon = () => giveUp(abandon.reason);
  const cancel = clock.schedule(limit, () =>
    giveUp(new Error(`the API server did not answer about the lease within ${limit / 1000} s`)),
  );
  abandon.addEventListener("abort", onAbandon, { once: true });
  try {
    return await Promise.race([send(abort.signal), promise]);
  } finally {
    abandon.removeEventListener("abort", onAbandon);
    cancel();
  }
}
