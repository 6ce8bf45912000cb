import { condition, type StatusFor, timestamp } from "@windlass/runtime";
import { workerPort } from "../names.ts";
import { hasUnseenUse } from "./claim.ts";
import type { WorkerState } from "./machine.ts";
import type { PodSeen } from "./pod-observation.ts";
import type { BuildKitWorker, Worker, WorkerPhase } from "./worker.ts";

const phases: Readonly<Record<WorkerState["at"], WorkerPhase>> = {
  pending: "Pending",
  provisioning: "Provisioning",
  idle: "Idle",
  allocated: "Allocated",
  running: "Running",
  terminating: "Terminating",
  failed: "Failed",
};

const millis = (text: string | undefined) => (text === undefined ? undefined : Date.parse(text));

/**
 * The state that a worker's status holds. One that a client may have had since the status was
 * written is not idle: it may still build for them, though the claim is gone.
 */
export function stateOf({
  metadata,
  spec,
  status,
}: Pick<Worker, "metadata" | "spec" | "status">): WorkerState {
  const silentSince = millis(status?.suspectSince);
  const silent = silentSince === undefined ? {} : { silentSince };
  switch (status?.phase) {
    case undefined:
    case "Pending":
      return { at: "pending" };
    case "Provisioning":
      return { at: "provisioning", since: millis(status.phaseSince) ?? 0 };
    case "Idle":
      if (spec.allocation === undefined && status.observedGeneration !== metadata.generation)
        return { at: "allocated" };
      return { at: "idle", since: millis(status.phaseSince) ?? 0 };
    case "Allocated":
      return { at: "allocated", ...silent };
    case "Running": {
      const drainingSince = millis(status.drainingSince);
      const draining = drainingSince === undefined ? {} : { drainingSince };
      return { at: "running", builds: status.activeBuilds ?? 0, ...silent, ...draining };
    }
    case "Terminating":
      return {
        at: "terminating",
        since: millis(status.drainingSince) ?? 0,
        builds: status.activeBuilds ?? 0,
      };
    case "Failed":
      return {
        at: "failed",
        since: millis(status.phaseSince) ?? 0,
        reason: status.reason ?? "Unknown",
        message: status.message ?? "",
      };
  }
}

/** What a status is made from besides the state. */
export interface StatusInit {
  readonly now: number;
  readonly state: WorkerState;
  readonly pod: PodSeen;
  readonly podName: string | undefined;
  readonly configHash: string | undefined;
  readonly volume: string | undefined;
  /** Whose cache the volume had when the worker began to use it. */
  readonly volumeAffinity: string | undefined;
}

/** The status of a worker. What it says of the past is taken over from the one before. */
export function statusOf(worker: Worker, init: StatusInit): StatusFor<typeof BuildKitWorker> {
  const { now, state, pod } = init;
  const before = worker.status;
  const { allocation } = worker.spec;
  const at = (time: number) => timestamp(time);
  const use = allocation ?? worker.spec.lastAllocation;
  const isNewAllocation = hasUnseenUse(worker);
  const wasUsed = before?.phase === "Allocated" || before?.phase === "Running";
  const isActive = isNewAllocation || state.at === "running" || (wasUsed && state.at === "idle");
  const ip = "ip" in pod ? pod.ip : undefined;
  const node = "node" in pod ? pod.node : before?.nodeName;
  const isServing =
    ip !== undefined && (pod.is === "ready" || pod.is === "unready" || state.at === "running");
  const isUp = state.at === "idle" || state.at === "allocated" || state.at === "running";
  const { reason, message } = wordsFor(state, pod);
  const affinityKey = use?.affinityKey ?? before?.affinityKey ?? init.volumeAffinity;
  const draining = drainingSinceOf(state);
  return clean({
    phase: phases[state.at],
    reason,
    message,
    podName: init.podName,
    podIP: ip,
    nodeName: node,
    endpoint: isServing ? `tcp://${hostText(ip)}:${workerPort}` : undefined,
    createdAt: before?.createdAt ?? (state.at === "pending" ? undefined : at(now)),
    readyAt: before?.readyAt ?? (isUp ? at(now) : undefined),
    phaseSince: at(
      "since" in state
        ? state.since
        : before?.phase === phases[state.at]
          ? (millis(before.phaseSince) ?? now)
          : now,
    ),
    idleSince: state.at === "idle" ? at(state.since) : undefined,
    lastActivityAt: isActive ? at(now) : before?.lastActivityAt,
    activeBuilds: state.at === "running" || state.at === "terminating" ? state.builds : isUp ? 0 : undefined,
    allocationCount: (before?.allocationCount ?? 0) + (isNewAllocation ? 1 : 0),
    allocatedTo: use?.tokenHash ?? before?.allocatedTo,
    lastUsedBy: use?.requestedBy ?? before?.lastUsedBy,
    affinityKey,
    drainingSince: draining === undefined ? undefined : at(draining),
    suspectSince:
      "silentSince" in state && state.silentSince !== undefined ? at(state.silentSince) : undefined,
    configHash: init.configHash,
    volume: init.volume,
    conditions: [condition("Ready", isUp && reason !== "NotAnswering", reason, message)],
  });
}

function drainingSinceOf(state: WorkerState): number | undefined {
  if (state.at === "terminating") return state.since;
  return state.at === "running" ? state.drainingSince : undefined;
}

function wordsFor(state: WorkerState, pod: PodSeen): { readonly reason: string; readonly message: string } {
  switch (state.at) {
    case "pending":
      return { reason: "Created", message: "its pod is about to be made" };
    case "provisioning":
      if (pod.is === "starting" && pod.problem) return pod.problem;
      return { reason: "Starting", message: "buildkitd has not answered yet" };
    case "idle":
      return { reason: "Idle", message: "ready to be allocated" };
    case "allocated":
      return state.silentSince === undefined
        ? { reason: "Allocated", message: "no build is under way" }
        : notAnswering;
    case "running":
      if (state.drainingSince !== undefined)
        return {
          reason: "Draining",
          message: `is deleted after its builds: ${count(state.builds)} under way`,
        };
      return state.silentSince === undefined
        ? { reason: "Building", message: `${count(state.builds)} under way` }
        : notAnswering;
    case "terminating":
      return state.builds > 0
        ? { reason: "Draining", message: `is deleted after its builds: ${count(state.builds)} under way` }
        : { reason: "Stopping", message: "its pod is being deleted" };
    case "failed":
      return state;
  }
}

const notAnswering = {
  reason: "NotAnswering",
  message: "buildkitd does not say whether it builds; the worker stays in use",
};

function count(builds: number): string {
  return builds === 1 ? "1 build" : `${builds} builds`;
}

/** An address as it stands before a port. */
function hostText(address: string): string {
  return address.includes(":") ? `[${address}]` : address;
}

type Cleaned<T> = { [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>;
};

/** Without the fields that are undefined. */
function clean<T extends object>(object: T): Cleaned<T> {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as Cleaned<T>;
}
