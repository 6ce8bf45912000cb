/** What one trigger reports. `unknown` never puts a service to sleep. */
export type Verdict =
  | { readonly activity: "idle" }
  | { readonly activity: "busy"; readonly why: string }
  | {
      readonly activity: "unknown";
      readonly why: string;
      /** Whether a person has to put something right. @default false */
      readonly isFault?: boolean;
    };

/**
 * What is known of a service's triggers: since when all have reported that it is idle, and what
 * they report now.
 */
export interface Standing {
  /** The last time at which not all triggers reported idle. */
  readonly lastNotIdleMs: number;
  readonly activity: Verdict["activity"];
  readonly why: string;
  /** Why a trigger has no answer, if it should have one. */
  readonly fault?: string;
}

/**
 * What all triggers report together: idle only if all do. One that is busy wins over one that does
 * not know.
 */
export function combine(verdicts: readonly Verdict[]): Verdict {
  return (
    verdicts.find(({ activity }) => activity === "busy") ??
    verdicts.find(({ activity }) => activity === "unknown") ??
    (verdicts.length === 0 ? { activity: "unknown", why: "there is no trigger" } : { activity: "idle" })
  );
}

/** The standing after another verdict. */
export function judged(before: Standing | undefined, verdict: Verdict, nowMs: number): Standing {
  if (verdict.activity === "idle")
    return {
      lastNotIdleMs: before?.lastNotIdleMs ?? nowMs,
      activity: "idle",
      why: "all triggers report idle",
    };
  const isFault = verdict.activity === "unknown" && verdict.isFault === true;
  return {
    lastNotIdleMs: nowMs,
    activity: verdict.activity,
    why: verdict.why,
    ...(isFault && { fault: verdict.why }),
  };
}

/** What a service should do. */
export function wishOf(
  standing: Standing | undefined,
  { cooldownMs, lastWantedMs, nowMs }: { cooldownMs: number; lastWantedMs: number; nowMs: number },
): "sleep" | "stay" | "wake" {
  if (!standing || standing.activity === "unknown") return "stay";
  if (standing.activity === "busy") return "wake";
  return nowMs - Math.max(standing.lastNotIdleMs, lastWantedMs) >= cooldownMs ? "sleep" : "stay";
}
