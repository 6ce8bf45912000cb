/** What one trigger says. `unknown` never puts a service to sleep. */
export type Verdict =
  | { readonly says: "idle" }
  | { readonly says: "busy"; readonly why: string }
  | {
      readonly says: "unknown";
      readonly why: string;
      /** Whether a person has to put something right. @default false */
      readonly isFault?: boolean;
    };

/**
 * What is known of a service's triggers: since when all have said that it is idle, and what they
 * say now.
 */
export interface Standing {
  /** The last time at which not all triggers said idle. */
  readonly lastNotIdleMs: number;
  readonly says: Verdict["says"];
  readonly why: string;
  /** Why a trigger has no answer, if it should have one. */
  readonly fault?: string;
}

/**
 * What all triggers say together: idle only if all do. One that is busy wins over one that does not
 * know.
 */
export function combine(verdicts: readonly Verdict[]): Verdict {
  return (
    verdicts.find(({ says }) => says === "busy") ??
    verdicts.find(({ says }) => says === "unknown") ??
    (verdicts.length === 0 ? { says: "unknown", why: "there is no trigger" } : { says: "idle" })
  );
}

/** The standing after another verdict. */
export function judged(before: Standing | undefined, verdict: Verdict, nowMs: number): Standing {
  if (verdict.says === "idle")
    return { lastNotIdleMs: before?.lastNotIdleMs ?? nowMs, says: "idle", why: "all triggers say idle" };
  const isFault = verdict.says === "unknown" && verdict.isFault === true;
  return {
    lastNotIdleMs: nowMs,
    says: verdict.says,
    why: verdict.why,
    ...(isFault && { fault: verdict.why }),
  };
}

/** What a service should do. */
export function wishOf(
  standing: Standing | undefined,
  { cooldownMs, lastWantedMs, nowMs }: { cooldownMs: number; lastWantedMs: number; nowMs: number },
): "sleep" | "stay" | "wake" {
  if (!standing || standing.says === "unknown") return "stay";
  if (standing.says === "busy") return "wake";
  return nowMs - Math.max(standing.lastNotIdleMs, lastWantedMs) >= cooldownMs ? "sleep" : "stay";
}
