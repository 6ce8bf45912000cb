import type { ContainerStatus } from "@windlass/kinds/builtin";
import { type Observed, retryMs } from "../processes/observed.ts";
import {
  blockedStart,
  type ContainerExit,
  type ContainerStep,
  type ContainerView,
  definitionChanged,
  isOutdated,
  nextAttempt,
  startEvents,
  startedStatus,
  stepWith,
  stopped,
  waiting,
} from "./container.ts";

/** What runs a pod's containers for real. */
export interface PodProcesses {
  observe(container: string, attempt: number): Observed;
  /** Starts a run of a container that was not started yet. */
  start(view: ContainerView, attempt: number): void;
  /** Asks a container to end. @returns whether it had not been asked before */
  stop(container: string): boolean;
}

/**
 * The next status of a container that has a real process. What it is doing is seen, not decided.
 */
export function stepProcess(
  processes: PodProcesses,
  view: ContainerView,
  status: ContainerStatus | undefined,
): ContainerStep {
  const { name } = view.container;
  return stepWith(
    {
      start: (_view, before) => {
        const held = blockedStart(view, before);
        if (held) return held;
        const attempt = nextAttempt(before);
        processes.start(view, attempt);
        return begun(view, before, processes.observe(name, attempt));
      },
      running: (_view, before) => {
        const observed = processes.observe(name, before.restartCount);
        if (observed.at === "running") {
          const changed = isOutdated(view, before) && processes.stop(name);
          return {
            status: { ...before, ...progress(view, observed) },
            events: changed ? [definitionChanged(view)] : [],
          };
        }
        return { status: stopped(view, before, exitOfProcess(observed)), events: [] };
      },
    },
    view,
    status,
  );
}

/** How far a process has come. Those that do their work and end are never ready before that. */
function progress(
  { part, container }: ContainerView,
  observed: Observed,
): Pick<ContainerStatus, "started" | "ready"> {
  if (observed.at !== "running") return { started: true, ready: false };
  const isInit = part === "initContainers" && container.restartPolicy !== "Always";
  return { started: observed.started, ready: observed.ready && !isInit };
}

function begun(view: ContainerView, before: ContainerStatus | undefined, observed: Observed): ContainerStep {
  switch (observed.at) {
    case "running":
    case "exited": {
      // Seen as running first, even if it has ended by now: one thing at a time.
      const status = startedStatus(view, before, observed.startedAt);
      return { status: { ...status, ...progress(view, observed) }, events: startEvents(view) };
    }
    case "held":
      return {
        status: waiting(view, before, observed.reason, observed.message),
        events: [],
        againMs: retryMs,
      };
    default:
      return { status: before ?? waiting(view, before, "ContainerCreating"), events: [] };
  }
}

/**
 * How a process ended. Of one that was lost with the control plane that had started it, this is
 * unknown.
 */
export function exitOfProcess(observed: Observed): ContainerExit {
  if (observed.at === "exited") {
    const { exitCode, reason, message, finishedAt } = observed;
    return { exitCode, reason, finishedAt, ...(message === undefined ? {} : { message }) };
  }
  return {
    exitCode: 137,
    reason: "ContainerStatusUnknown",
    message: "The container could not be located when the pod was terminated",
  };
}
