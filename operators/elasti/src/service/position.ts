import type { ElastiServiceObject } from "./elasti-service.ts";
import type { Observation, Stage, StageName } from "./stage.ts";

/** Where a service is, since when, and how many changes of stage it took to get there. */
export interface Position {
  readonly stage: Stage;
  readonly step: number;
  readonly sinceMs: number;
}

type Status = NonNullable<ElastiServiceObject["status"]>;

/** The part of a status that holds a position. */
export type StoredPosition = Pick<
  Status,
  "phase" | "step" | "phaseSince" | "wakingFor" | "retiredPods" | "restsInPath"
>;

/** Reads a position. A service without one is new: it serves as it did before. */
export function positionOf(status: Status | undefined, now: number): Position {
  const { step = 0, phaseSince, phase } = status ?? {};
  const stage = phase === undefined ? undefined : stageOf(phase, status ?? {});
  return {
    stage: stage ?? { at: "Serving" },
    step,
    sinceMs: phaseSince === undefined ? now : Date.parse(phaseSince),
  };
}

const plain = ["Serving", "Joining", "Diverting", "Relaying", "Asleep", "Returning"] as const;
const retiring = ["Holding", "ScalingDown", "Terminating"] as const;

function stageOf(phase: string, { retiredPods = [], wakingFor }: Status): Stage | undefined {
  if (phase === "Waking") return { at: phase, for: wakingFor ?? "requests", retired: retiredPods };
  for (const at of plain) if (at === phase) return { at };
  for (const at of retiring) if (at === phase) return { at, retired: retiredPods };
  return undefined;
}

/** Writes a position. */
export function storedPosition(
  { stage, step, sinceMs }: Position,
  restsAt: Observation["restsAt"],
): StoredPosition {
  return {
    phase: stage.at,
    step,
    phaseSince: new Date(sinceMs).toISOString(),
    restsInPath: restsAt === "Relaying",
    ...("retired" in stage && stage.retired.length > 0 && { retiredPods: stage.retired }),
    ...(stage.at === "Waking" && { wakingFor: stage.for }),
  };
}

/** The stage that a status names, for those who only look. */
export function phaseOf(elasti: ElastiServiceObject): StageName {
  return positionOf(elasti.status, 0).stage.at;
}
