/** Milliseconds of the monotonic clock. */
type Millis = number;

/** What a Lease's spec says, as far as electing goes. */
export interface LeaseRecord {
  readonly holderIdentity?: string;
  readonly leaseDurationSeconds?: number;
  readonly acquireTime?: string;
  readonly renewTime?: string;
  readonly leaseTransitions?: number;
}

/** A record with the version that the server gave it. */
export interface StoredLease {
  readonly resourceVersion: string;
  readonly record: LeaseRecord;
}

/** The durations of an election, and who takes part. */
export interface ElectionRules {
  readonly identity: string;
  /** How long others leave a lease alone that does not change. */
  readonly leaseDurationMs: number;
  /**
   * How long after the last renewal the holder stops, by itself. Shorter than the lease: the
   * difference is what protects.
   */
  readonly renewDeadlineMs: number;
  /** Between two tries, to renew or to acquire. */
  readonly retryPeriodMs: number;
}

/** A record as it was when it last changed before our eyes. */
interface ObservedLease {
  readonly lease: StoredLease;
  readonly at: Millis;
}

/**
 * Where a candidate stands. `until` is when a leader must stop writing unless it has renewed by
 * then: counted from before the renewal was sent, while the others count from after it arrived.
 * `missingSince` is when a lease that had been seen was found to be gone.
 */
export type Election =
  | { readonly at: "following"; readonly seen?: ObservedLease; readonly missingSince?: Millis }
  | { readonly at: "leading"; readonly until: Millis; readonly seen: ObservedLease }
  | { readonly at: "stopped" };

/** What happened. `now` is monotonic; `wall` is for the stamps that people read. */
export type ElectionEvent =
  | { readonly type: "tick"; readonly now: Millis; readonly wall: string }
  | {
      readonly type: "read";
      readonly now: Millis;
      readonly wall: string;
      readonly lease: StoredLease | undefined;
    }
  | { readonly type: "wrote"; readonly now: Millis; readonly sentAt: Millis; readonly lease: StoredLease }
  | {
      readonly type: "failed";
      readonly now: Millis;
      readonly because: "conflict" | "missing" | "unreachable";
    }
  | { readonly type: "stop"; readonly now: Millis; readonly wall: string }
  | { readonly type: "released" };

/** What to do next. */
export type ElectionAction =
  | { readonly do: "read" }
  | { readonly do: "create"; readonly record: LeaseRecord }
  | { readonly do: "update"; readonly record: LeaseRecord; readonly resourceVersion: string }
  | { readonly do: "release"; readonly record: LeaseRecord; readonly resourceVersion: string }
  | { readonly do: "wait"; readonly ms: Millis }
  | { readonly do: "end" };

/** The result of a step: the next state, and what is to be done. */
export interface ElectionStep {
  readonly state: Election;
  readonly action: ElectionAction;
}

/** No holder is known yet. */
export const candidate: Election = { at: "following" };

/**
 * Decides what a candidate does next. Pure: reading, writing and waiting are the driver's.
 *
 * # Guarantee
 * At any moment at most one candidate is leading with `now < until`, whatever the network delays,
 * drops or repeats, as long as all clocks run at about the same speed. Clocks need not agree on the
 * time: a lease is judged by how long it has not changed here, never by the stamps in it. That
 * holds also when the lease is deleted, among candidates that had seen it, held or free. One that
 * starts right after the deletion cannot know of a holder: it creates the lease at once, and the
 * holder stops at its next renewal. Nor does it hold for a lease that is deleted twice while a
 * create is under way.
 */
export function step(rules: ElectionRules, state: Election, event: ElectionEvent): ElectionStep {
  if (state.at === "stopped" || event.type === "released")
    return { state: { at: "stopped" }, action: { do: "end" } };
  switch (event.type) {
    case "tick":
      return onTick(rules, state, event);
    case "read":
      return onRead(rules, state, event);
    case "wrote": {
      const seen = { lease: event.lease, at: event.now };
      return {
        state: { at: "leading", until: event.sentAt + rules.renewDeadlineMs, seen },
        action: { do: "wait", ms: rules.retryPeriodMs },
      };
    }
    case "failed":
      return onFailed(rules, state, event);
    case "stop":
      return onStop(state, event);
  }
}

type Active = Exclude<Election, { at: "stopped" }>;

function onTick(
  rules: ElectionRules,
  state: Active,
  { now, wall }: Extract<ElectionEvent, { type: "tick" }>,
): ElectionStep {
  if (hasExpired(state, now)) return { state: following(state.seen), action: { do: "read" } };
  if (state.at === "following") return { state, action: { do: "read" } };
  // The holder knows the last version: if it is still the last, one write renews it.
  const { record, resourceVersion } = state.seen.lease;
  return { state, action: { do: "update", record: claim(rules, wall, record), resourceVersion } };
}

function onRead(
  rules: ElectionRules,
  before: Active,
  { now, wall, lease }: Extract<ElectionEvent, { type: "read" }>,
): ElectionStep {
  const state = hasExpired(before, now) ? following(before.seen) : before;
  if (!lease) return onMissing(rules, state, now, wall);
  const { record } = lease;
  const seen =
    state.seen && isSameRecord(state.seen.lease.record, record)
      ? { lease, at: state.seen.at }
      : { lease, at: now };
  const isOurs = record.holderIdentity === rules.identity;
  const isFree = !record.holderIdentity;
  const isAbandoned = now - seen.at >= patienceFor(rules, record);
  if (isOurs || isFree || isAbandoned) {
    const next: Election = isOurs && state.at === "leading" ? { ...state, seen } : following(seen);
    const action = {
      do: "update",
      record: claim(rules, wall, record),
      resourceVersion: lease.resourceVersion,
    } as const;
    return { state: next, action };
  }
  return { state: following(seen), action: { do: "wait", ms: rules.retryPeriodMs } };
}

/** The lease was deleted, or never
 * made. Its last holder may have renewed it up to
 * its deletion, and goes on until its own deadline; so a candidate that has seen it gives that
 * holder as much time as if the lease were still there. Also one that saw it free: another may have
 * taken it since.
 */
function onMissing(rules: ElectionRules, state: Active, now: Millis, wall: string): ElectionStep {
  const { seen } = state;
  const create = { do: "create", record: claim(rules, wall, undefined) } as const;
  // Its holder may create it at once, but leads only when that has succeeded: another may have been
  // faster.
  if (state.at === "leading" || !seen) return { state: following(seen), action: create };
  const missingSince = state.missingSince ?? now;
  const leftMs = missingSince + patienceFor(rules, seen.lease.record) - now;
  const waiting: Election = { at: "following", seen, missingSince };
  if (leftMs <= 0) return { state: waiting, action: create };
  return { state: waiting, action: { do: "wait", ms: Math.min(rules.retryPeriodMs, leftMs) } };
}

/**
 * How long a holder is left alone. Its promise and ours may differ while a rollout changes it; the
 * longer of the two is safe.
 */
function patienceFor(rules: ElectionRules, record: LeaseRecord): Millis {
  return Math.max(rules.leaseDurationMs, (record.leaseDurationSeconds ?? 0) * 1000);
}

function onFailed(
  rules: ElectionRules,
  state: Active,
  { now, because }: Extract<ElectionEvent, { type: "failed" }>,
): ElectionStep {
  if (state.at === "following") return { state, action: { do: "wait", ms: rules.retryPeriodMs } };
  if (hasExpired(state, now))
    return { state: following(state.seen), action: { do: "wait", ms: rules.retryPeriodMs } };
  // Someone wrote or deleted the lease. Until it is known who, nothing may rest on it, but `until`
  // still holds.
  if (because !== "unreachable") return { state, action: { do: "read" } };
  return { state, action: { do: "wait", ms: Math.max(1, Math.min(rules.retryPeriodMs, state.until - now)) } };
}

function onStop(state: Active, { now, wall }: Extract<ElectionEvent, { type: "stop" }>): ElectionStep {
  if (state.at === "following" || hasExpired(state, now))
    return { state: { at: "stopped" }, action: { do: "end" } };
  const { record, resourceVersion } = state.seen.lease;
  const released: LeaseRecord = {
    ...record,
    holderIdentity: "",
    leaseDurationSeconds: 1,
    acquireTime: wall,
    renewTime: wall,
  };
  return { state: following(state.seen), action: { do: "release", record: released, resourceVersion } };
}

function claim(rules: ElectionRules, wall: string, before: LeaseRecord | undefined): LeaseRecord {
  const isRenewal = before?.holderIdentity === rules.identity;
  const transitions = before?.leaseTransitions ?? 0;
  return {
    holderIdentity: rules.identity,
    leaseDurationSeconds: Math.ceil(rules.leaseDurationMs / 1000),
    acquireTime: (isRenewal ? before.acquireTime : undefined) ?? wall,
    renewTime: wall,
    leaseTransitions: before === undefined || isRenewal ? transitions : transitions + 1,
  };
}

function following(seen: ObservedLease | undefined): Active {
  return seen ? { at: "following", seen } : { at: "following" };
}

function hasExpired(state: Active, now: Millis): boolean {
  return state.at === "leading" && now >= state.until;
}

function isSameRecord(a: LeaseRecord, b: LeaseRecord): boolean {
  return (
    a.holderIdentity === b.holderIdentity &&
    a.renewTime === b.renewTime &&
    a.acquireTime === b.acquireTime &&
    a.leaseTransitions === b.leaseTransitions &&
    a.leaseDurationSeconds === b.leaseDurationSeconds
  );
}
