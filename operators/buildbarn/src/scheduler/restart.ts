/**
 * A restart of a scheduler that the operator makes, and that is held until its workers are idle. A
 * scheduler has its queue in its memory: workers drop what they run when it is gone, and clients
 * ask for it again.
 *
 * Drains are stored here before they are made, and are taken away before this is: so no worker is
 * ever kept from actions without a state that records it. A scheduler that has restarted has none.
 */
export interface Restart {
  /** The revision of the pod that is to go: a scheduler of another one has no drains. */
  readonly serving: string;
  /** Since when no worker gets new actions. Epoch milliseconds. */
  readonly since: number;
  /** Since when the scheduler does not answer. */
  readonly silentSince?: number;
}

/** What the scheduler answered when it was asked to drain or to undrain all workers. */
export type Answer =
  | { readonly is: "done"; readonly executing: number }
  | { readonly is: "silent"; readonly why: string };

/** What a restart depends on. Times are milliseconds. */
export interface RestartSeen {
  /** Whether the pod is to be replaced by one of another revision. */
  readonly isDue: boolean;
  /** The revision of the pods that serve. */
  readonly serving: string;
  /** Whether the pod is of this revision, and no other one is left. */
  readonly isUp: boolean;
  /** Whether there is to be no pod at all. */
  readonly isStopped: boolean;
  readonly now: number;
  /** For how long running actions are waited for. */
  readonly drainMs: number;
  /** For how long a scheduler is waited for that does not answer. */
  readonly silentMs: number;
}

/** What is asked of the scheduler before a step. */
export type Task = "drain" | "undrain" | undefined;

/** What a step comes to. */
export interface RestartStep {
  readonly state: Restart | undefined;
  /** Whether the Deployment may get its new template now. */
  readonly mayRestart: boolean;
}

/** What to ask of the scheduler. */
export function taskOf(state: Restart | undefined, seen: RestartSeen): Task {
  if (!state || seen.isStopped) return undefined;
  if (seen.isDue) return state.serving === seen.serving ? "drain" : undefined;
  // While it is replaced, the one that goes would start actions that it cannot end.
  return seen.isUp ? "undrain" : undefined;
}

/** Decides how far a restart goes. Pure. */
export function step(state: Restart | undefined, answer: Answer | undefined, seen: RestartSeen): RestartStep {
  const { isDue, serving, isStopped, now, drainMs, silentMs } = seen;
  if (isStopped) return { state: undefined, mayRestart: true };
  if (!isDue) return { state: answer?.is === "done" ? undefined : state, mayRestart: true };
  if (state?.serving !== serving) return { state: { serving, since: now }, mayRestart: false };
  const { since, silentSince = now } = state;
  const isOver = now >= since + drainMs;
  if (answer?.is === "silent")
    return {
      state: { serving, since, silentSince },
      mayRestart: isOver || now >= silentSince + silentMs,
    };
  return { state: { serving, since }, mayRestart: isOver || answer?.executing === 0 };
}
