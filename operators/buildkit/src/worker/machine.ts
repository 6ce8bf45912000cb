import type { PodSeen } from "./pod-observation.ts";

/**
 * Where a worker is in its life. Times are epoch milliseconds.
 *
 *   pending ─▶ provisioning ─▶ idle ◀─▶ allocated ◀─▶ running
 *                   │            │          │            │
 *                   ▼            ▼          ▼            ▼
 *                 failed       terminating ◀──── drained ┘
 *
 * A worker whose pod ends by itself has failed, wherever it was.
 */
export type WorkerState =
  | { readonly at: "pending" }
  /** Its pod was made, and has not been ready, or is not ready any more and no client uses it. */
  | { readonly at: "provisioning"; readonly since: number }
  | { readonly at: "idle"; readonly since: number }
  /** Claimed, or just released: no other client may have it. */
  | { readonly at: "allocated"; readonly silentSince?: number }
  /** The same, with builds under way. `drainingSince`: its claim has expired. */
  | {
      readonly at: "running";
      readonly builds: number;
      readonly silentSince?: number;
      readonly drainingSince?: number;
    }
  /** To be deleted once its builds are done. */
  | { readonly at: "terminating"; readonly since: number; readonly builds: number }
  | { readonly at: "failed"; readonly since: number; readonly reason: string; readonly message: string };

/** What buildkitd says of its builds. */
export type BuildsSeen =
  | { readonly is: "known"; readonly count: number }
  /** It was asked, and did not answer. */
  | { readonly is: "silent" }
  /** It was not asked: no client can have a build there. */
  | { readonly is: "unasked" };

/** What there is to see of a worker. */
export interface WorkerSeen {
  readonly now: number;
  /** Whether its deletion was asked for. */
  readonly isDeleted: boolean;
  /** Who it works for: by when that ends, and since when nothing was seen to happen. */
  readonly claim: { readonly expiresAt: number; readonly activeAt: number } | undefined;
  readonly pod: PodSeen;
  readonly builds: BuildsSeen;
}

/** How long things may take, in milliseconds, and what happens to a worker that is released. */
export interface WorkerRules {
  readonly provisionMs: number;
  readonly drainMs: number;
  /** How long a worker without a claim may be silent before it is given up. */
  readonly silenceMs: number;
  readonly isReused: boolean;
  /** Whether its cache is emptied before it is given to anyone else. @default false */
  readonly isPruned?: boolean;
  /** How long an allocation lasts without a build. */
  readonly unusedMs: number;
  /** How often buildkitd is asked about its builds while a client may have one. */
  readonly askMs: number;
  /** How often while a worker is to go. */
  readonly askDrainingMs: number;
}

/** What to do about a worker. */
export type WorkerAction =
  | { readonly do: "make-pod" }
  | { readonly do: "delete-pod"; readonly isForced: boolean }
  /** Ask for the worker's deletion, unless anyone has written it meanwhile. */
  | { readonly do: "delete-worker"; readonly why: string }
  /** Take the claim off, unless anyone has written the worker meanwhile. */
  | { readonly do: "release"; readonly why: string }
  /** Empty its cache, and then be in `next`; a worker whose cache cannot be emptied goes. */
  | { readonly do: "prune"; readonly next: WorkerState }
  /** Let the worker go: nothing of it is left. */
  | { readonly do: "finish" }
  /** Look again then, or when something changes; undefined: when something changes. */
  | { readonly do: "wait"; readonly until?: number };

/** The next state, and what to do. */
export interface WorkerStep {
  readonly state: WorkerState;
  readonly action: WorkerAction;
}

const wait = (state: WorkerState, until?: number): WorkerStep => ({
  state,
  action: { do: "wait", ...(until !== undefined && { until }) },
});

/**
 * Whether buildkitd must be asked about its builds: if a client has the worker, or had it, or it is
 * to go; before anyone is given it; and now and then while it is idle, because its pod is ready as
 * long as something listens there.
 *
 * @param isDue Whether an idle worker was not asked for long enough.
 */
export function mustAsk(
  state: WorkerState,
  { isDeleted, claim, pod }: Omit<WorkerSeen, "builds" | "now">,
  isDue: boolean,
): boolean {
  const isRunning = pod.is === "ready" || pod.is === "unready" || pod.is === "stopping";
  if (!isRunning) return false;
  if (isDeleted || claim !== undefined || isInUse(state)) return true;
  return pod.is === "ready" && state.at !== "failed" && (state.at !== "idle" || isDue);
}

/**
 * Decides what happens to a worker. Pure. A worker whose builds are not known to be done is never
 * deleted before its time.
 */
export function workerStep(state: WorkerState, seen: WorkerSeen, rules: WorkerRules): WorkerStep {
  if (seen.isDeleted) return leaving(state, seen, rules);
  if (state.at === "failed") return wait(state);
  const { pod } = seen;
  switch (pod.is) {
    case "absent":
      return withoutPod(state, seen, rules);
    case "stopping":
      return stopping(state, seen, rules);
    case "ended":
      return failed(seen, pod.reason, pod.message);
    case "starting":
      return starting(state, seen, rules, pod.problem);
    case "ready":
    case "unready":
      return started(state, seen, rules, pod.is);
  }
}

/** Whether a daemon of this worker has answered before. */
function isUnderway({ at }: WorkerState): boolean {
  return at === "idle" || at === "allocated" || at === "running";
}

/**
 * Another program deletes the pod, such as one that drains a node. Its grace period lets builds
 * end.
 */
function stopping(state: WorkerState, seen: WorkerSeen, { drainMs, askDrainingMs }: WorkerRules): WorkerStep {
  const hasBuilds = seen.builds.is === "known" ? seen.builds.count > 0 : seen.builds.is === "silent";
  if (!hasBuilds || !isInUse(state)) return failed(seen, "PodDeleted", "the pod was deleted");
  const before = state.at === "running" ? state.drainingSince : undefined;
  const drainingSince = before ?? seen.now;
  // A pod on a node that is lost is never seen to end.
  if (seen.now >= drainingSince + drainMs)
    return failed(seen, "PodDeleted", "the pod has not stopped in time");
  const next = inUse(state, seen);
  return wait({ ...next, at: "running", builds: buildsOf(next), drainingSince }, seen.now + askDrainingMs);
}

function isInUse({ at }: WorkerState): boolean {
  return at === "allocated" || at === "running";
}

function withoutPod(state: WorkerState, seen: WorkerSeen, { provisionMs }: WorkerRules): WorkerStep {
  if (isUnderway(state)) return failed(seen, "PodLost", "the pod is gone");
  const since = state.at === "provisioning" ? state.since : seen.now;
  if (seen.now >= since + provisionMs) return tooLate(seen, provisionMs, "its pod is gone");
  return { state: { at: "provisioning", since }, action: { do: "make-pod" } };
}

function starting(
  state: WorkerState,
  seen: WorkerSeen,
  { provisionMs }: WorkerRules,
  problem: (PodSeen & { readonly is: "starting" })["problem"],
): WorkerStep {
  if (problem?.isFinal) return failed(seen, problem.reason, problem.message);
  const since = state.at === "provisioning" ? state.since : seen.now;
  const until = since + provisionMs;
  if (seen.now >= until)
    return tooLate(seen, provisionMs, problem?.message ?? "buildkitd has not answered yet");
  return wait({ at: "provisioning", since }, until);
}

function started(
  state: WorkerState,
  seen: WorkerSeen,
  rules: WorkerRules,
  pod: "ready" | "unready",
): WorkerStep {
  const { now, claim, builds } = seen;
  if (claim === undefined && !isInUse(state)) {
    // No client has it, and yet it builds: none is given it before that has ended.
    if (builds.is === "known" && builds.count > 0)
      return wait({ at: "running", builds: builds.count }, now + rules.askDrainingMs);
    if (pod === "ready" && builds.is !== "silent")
      return wait({ at: "idle", since: state.at === "idle" ? state.since : now });
    // No client uses it, so none is affected: it is unavailable until it answers again.
    const since = state.at === "provisioning" ? state.since : now;
    const until = since + rules.provisionMs;
    if (now >= until) return tooLate(seen, rules.provisionMs, "buildkitd does not answer its probe");
    return wait(
      { at: "provisioning", since },
      builds.is === "silent" ? Math.min(until, now + rules.askMs) : until,
    );
  }
  return claim === undefined ? released(state, seen, rules) : used(state, seen, rules, claim);
}

/** A client has it. Neither silence nor a failed probe takes it from them. */
function used(
  state: WorkerState,
  seen: WorkerSeen,
  rules: WorkerRules,
  { expiresAt, activeAt }: NonNullable<WorkerSeen["claim"]>,
): WorkerStep {
  const { now } = seen;
  const next = inUse(state, seen);
  const isDone = seen.builds.is === "known" && seen.builds.count === 0;
  if (now < expiresAt) {
    // One that has just built has been used just now, whatever was written down.
    if (isDone && !("builds" in state && state.builds > 0) && now >= activeAt + rules.unusedMs)
      return { state: next, action: { do: "release", why: "nothing was built with it for too long" } };
    return wait(next, Math.min(expiresAt, now + rules.askMs));
  }
  if (isDone) return { state: next, action: { do: "delete-worker", why: "its allocation has expired" } };
  if (now >= expiresAt + rules.drainMs)
    return {
      state: next,
      action: {
        do: "delete-worker",
        why: "its allocation has expired, and its builds have not ended in time",
      },
    };
  const draining: WorkerState = { ...next, at: "running", builds: buildsOf(next), drainingSince: expiresAt };
  return wait(draining, Math.min(expiresAt + rules.drainMs, now + rules.askDrainingMs));
}

/** Its claim was taken off. It is idle once its last builds have ended. */
function released(
  state: WorkerState,
  seen: WorkerSeen,
  { isReused, isPruned = false, silenceMs, askDrainingMs }: WorkerRules,
): WorkerStep {
  const { now, pod } = seen;
  const next = inUse(state, seen);
  if (seen.builds.is === "known" && seen.builds.count === 0) {
    if (!isReused) return { state: next, action: { do: "delete-worker", why: "workers are not used twice" } };
    const free: WorkerState = { at: pod.is === "ready" ? "idle" : "provisioning", since: now };
    return isPruned ? { state: next, action: { do: "prune", next: free } } : wait(free);
  }
  if ("silentSince" in next && next.silentSince !== undefined && now >= next.silentSince + silenceMs)
    return { state: next, action: { do: "delete-worker", why: "it was released, and does not answer" } };
  return wait(next, now + askDrainingMs);
}

/**
 * The state of a worker that a client has or had, from what its daemon reports. What it does not
 * report stays as it was.
 */
function inUse(
  state: WorkerState,
  { builds, now }: WorkerSeen,
): WorkerState & { at: "allocated" | "running" } {
  if (builds.is === "known")
    return builds.count > 0 ? { at: "running", builds: builds.count } : { at: "allocated" };
  const before = state.at === "allocated" || state.at === "running" ? state : { at: "allocated" as const };
  return { ...before, silentSince: before.silentSince ?? now };
}

function leaving(state: WorkerState, seen: WorkerSeen, { drainMs, askDrainingMs }: WorkerRules): WorkerStep {
  const { now, pod, builds } = seen;
  const since = state.at === "terminating" ? state.since : now;
  const count = builds.is === "known" ? builds.count : buildsOf(state);
  const next: WorkerState = { at: "terminating", since, builds: count };
  switch (pod.is) {
    case "absent":
      return { state: { ...next, builds: 0 }, action: { do: "finish" } };
    case "stopping":
      if (now < since + drainMs) return wait(next, since + drainMs);
      return { state: next, action: { do: "delete-pod", isForced: true } };
    case "ended":
    case "starting":
      return { state: { ...next, builds: 0 }, action: { do: "delete-pod", isForced: false } };
    case "ready":
    case "unready":
      if (builds.is === "known" && builds.count === 0)
        return { state: next, action: { do: "delete-pod", isForced: false } };
      if (now >= since + drainMs) return { state: next, action: { do: "delete-pod", isForced: true } };
      return wait(next, Math.min(since + drainMs, now + askDrainingMs));
  }
}

function buildsOf(state: WorkerState): number {
  return state.at === "running" || state.at === "terminating" ? state.builds : 0;
}

function failed({ now }: WorkerSeen, reason: string, message: string): WorkerStep {
  return wait({ at: "failed", since: now, reason, message });
}

function tooLate(seen: WorkerSeen, provisionMs: number, why: string): WorkerStep {
  const minutes = Math.round(provisionMs / 6_000) / 10;
  return failed(seen, "ProvisionTimeout", `not ready within ${minutes} minutes: ${why}`);
}
