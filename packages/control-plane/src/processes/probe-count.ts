/** What a probe's outcomes amount to. */
export type Verdict = "success" | "failure" | "unknown";

/** What a container's probe has shown so far. */
export interface ProbeCount {
  /** What counts until there is news. */
  readonly verdict: Verdict;
  /** How often the latest outcome has come in a row. */
  readonly run: number;
  readonly latest: "success" | "failure" | undefined;
}

export interface ProbeThresholds {
  readonly successThreshold: number;
  readonly failureThreshold: number;
}

/** Before the first outcome, a container counts as alive and as not ready. */
export function firstCount(kind: "liveness" | "readiness" | "startup"): ProbeCount {
  return { verdict: kind === "liveness" ? "success" : "unknown", run: 0, latest: undefined };
}

/** The count after one more outcome: a verdict changes when enough of them have come in a row. */
export function countOutcome(
  count: ProbeCount,
  outcome: "success" | "failure",
  { successThreshold, failureThreshold }: ProbeThresholds,
): ProbeCount {
  const run = count.latest === outcome ? count.run + 1 : 1;
  const enough = run >= (outcome === "success" ? successThreshold : failureThreshold);
  return { verdict: enough ? outcome : count.verdict, run, latest: outcome };
}
