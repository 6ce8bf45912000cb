import type { Container, ContainerStatus, Pod, PodStatus } from "@windlass/kinds/builtin";
import type { WrittenPodCondition } from "../controllers/conditions.ts";
import type { EventText } from "../controllers/events.ts";
import { equal } from "../json.ts";
import { millisOf } from "../json-fields.ts";
import type { Stored } from "../storage/typed.ts";
import type { TimedBehavior } from "./behavior.ts";
import {
  type ContainerExit,
  type ContainerStep,
  type ContainerView,
  event,
  secondsOf,
  stopped,
  waiting,
} from "./container.ts";
import { isSidecar } from "./fitting.ts";

/** What a pod's node knows about it. */
export interface PodView {
  readonly now: number;
  readonly address: string;
  readonly hostAddress: string;
  /** How a container behaves; without a name, the pod as a whole. */
  readonly behavior: (container?: string) => TimedBehavior;
  /** Why an image is not there; undefined if it is. */
  readonly imageMissing: (container: Container) => string | undefined;
  /** Why the pod's volumes cannot be mounted; undefined if they can. */
  readonly mountError: EventText | undefined;
  /** Why a container cannot be made; undefined if it can. */
  readonly configError: (container: Container) => string | undefined;
  /** A container's next status from its last one. */
  readonly step: (view: ContainerView, status: ContainerStatus | undefined) => ContainerStep;
}

/** A pod's status as its node writes it. */
export interface WrittenPodStatus extends Omit<PodStatus, "conditions"> {
  readonly conditions?: readonly WrittenPodCondition[];
}

/** A pod's next status. */
export interface PodStep {
  readonly status: WrittenPodStatus;
  readonly events: readonly EventText[];
  readonly againMs?: number;
}

type Part = ContainerView["part"];

/** The statuses of a pod's containers, in the order of its spec. */
interface Statuses {
  readonly initContainers: readonly ContainerStatus[];
  readonly containers: readonly ContainerStatus[];
}

/** A pod's next status from its last one: one thing at a time, as a watcher would see it. */
export function stepPod(pod: Stored<Pod>, view: PodView): PodStep {
  const before = pod.status ?? {};
  if (before.startTime === undefined) return created(pod, view);
  const thrownOut = evicted(pod, view);
  if (thrownOut) return thrownOut;
  const whole = view.behavior();
  const startMs = (millisOf(before.startTime) ?? view.now) + (whole.startAfterMs ?? 0) - view.now;
  if (whole.kind === "stuck") return { status: before, events: [] };
  if (view.mountError && !hasStarted(before)) return { status: before, events: [view.mountError] };
  if (startMs > 0 && !hasStarted(before)) return { status: before, events: [], againMs: startMs };
  return assemble(pod, view, stepAll(pod, view));
}

/** The node has taken the pod on, and starts to make its containers. */
function created(pod: Stored<Pod>, view: PodView): PodStep {
  const reason = pod.spec.initContainers?.length ? "PodInitializing" : "ContainerCreating";
  const fresh = (part: Part) =>
    (pod.spec[part] ?? []).map((container) =>
      waiting(containerView(pod, view, container, part), undefined, reason),
    );
  const status = statusWith(pod, view, {
    initContainers: fresh("initContainers"),
    containers: fresh("containers"),
  });
  return { status: { ...status, startTime: secondsOf(view.now) }, events: [] };
}

function hasStarted({ initContainerStatuses = [], containerStatuses = [] }: PodStatus): boolean {
  return hasBegun(initContainerStatuses) || hasBegun(containerStatuses);
}

function containerView(pod: Stored<Pod>, view: PodView, container: Container, part: Part): ContainerView {
  const policy = container.restartPolicy ?? pod.spec.restartPolicy ?? "Always";
  const isInit = part === "initContainers";
  const behavior = view.behavior(container.name);
  return {
    pod,
    container,
    part,
    // A behavior of the pod is that of its main containers; those of init containers name them.
    behavior:
      isInit && behavior.container === undefined && behavior.kind !== "image-pull-error"
        ? { kind: "run" }
        : behavior,
    imageMissing: view.imageMissing(container),
    configError: view.configError(container),
    now: view.now,
    restarts: (code) =>
      (policy === "Always" && !(isInit && code === 0 && container.restartPolicy !== "Always")) ||
      (policy === "OnFailure" && code !== 0) ||
      (isInit && policy === "Always" && code !== 0),
  };
}

interface Stepped {
  readonly initContainers: readonly ContainerStep[];
  readonly containers: readonly ContainerStep[];
}

function stepAll(pod: Stored<Pod>, view: PodView): Stepped {
  const { initContainerStatuses = [], containerStatuses = [] } = pod.status ?? {};
  const inits: ContainerStep[] = [];
  const begun = hasBegun(containerStatuses);
  let initialized = true;
  for (const container of pod.spec.initContainers ?? []) {
    const before = initContainerStatuses.find(({ name }) => name === container.name);
    const own = containerView(pod, view, container, "initContainers");
    if (!initialized) {
      inits.push({ status: before ?? waiting(own, undefined, "PodInitializing"), events: [] });
      continue;
    }
    const step = view.step(own, before);
    inits.push(step);
    initialized = begun || isInitialized(container, step.status);
  }
  const containers = pod.spec.containers.map((container) => {
    const before = containerStatuses.find(({ name }) => name === container.name);
    const own = containerView(pod, view, container, "containers");
    if (initialized) return view.step(own, before);
    return { status: before ?? waiting(own, undefined, "PodInitializing"), events: [] };
  });
  return { initContainers: inits, containers };
}

/**
 * Whether one of these was ever started. Once a main container was, the pod no longer waits for
 * init containers.
 */
function hasBegun(statuses: readonly ContainerStatus[]): boolean {
  return statuses.some(
    ({ state, lastState }) => state?.waiting === undefined || lastState?.terminated !== undefined,
  );
}

/** Whether what comes after an init container may start. */
function isInitialized(container: Container | undefined, status: ContainerStatus): boolean {
  if (container && isSidecar(container)) return status.started === true;
  return status.state?.terminated?.exitCode === 0;
}

function assemble(pod: Stored<Pod>, view: PodView, stepped: Stepped): PodStep {
  const all = [...stepped.initContainers, ...stepped.containers];
  const waits = all.flatMap(({ againMs }) => (againMs === undefined ? [] : [againMs]));
  const deadline = deadlineMs(pod, view.now);
  if (deadline !== undefined) waits.push(deadline);
  const evictionMs = evictionIn(pod, view);
  if (evictionMs !== undefined) waits.push(evictionMs);
  const status = statusWith(pod, view, {
    initContainers: stepped.initContainers.map((step) => step.status),
    containers: stepped.containers.map((step) => step.status),
  });
  return {
    status,
    events: all.flatMap(({ events }) => events),
    ...(waits.length > 0 ? { againMs: Math.max(0, Math.min(...waits)) } : {}),
  };
}

function statusWith(pod: Stored<Pod>, view: PodView, statuses: Statuses): WrittenPodStatus {
  const before = pod.status ?? {};
  const phase = phaseOf(pod, statuses.initContainers, statuses.containers);
  const address = pod.spec.hostNetwork === true ? view.hostAddress : view.address;
  const started = before.startTime !== undefined;
  return {
    ...before,
    observedGeneration: Number(pod.metadata.generation ?? 1),
    phase,
    conditions: conditionsOf(pod, view, phase, statuses),
    hostIP: view.hostAddress,
    hostIPs: [{ ip: view.hostAddress }],
    ...(started ? { podIP: address, podIPs: [{ ip: address }] } : {}),
    ...(statuses.initContainers.length > 0 ? { initContainerStatuses: [...statuses.initContainers] } : {}),
    containerStatuses: [...statuses.containers],
  };
}

function phaseOf(
  pod: Stored<Pod>,
  inits: readonly ContainerStatus[],
  containers: readonly ContainerStatus[],
): NonNullable<PodStatus["phase"]> {
  const { restartPolicy: policy = "Always", initContainers: specs = [] } = pod.spec;
  const exit = (status: ContainerStatus) => status.state?.terminated?.exitCode;
  for (const [index, status] of inits.entries()) {
    const container = specs[index];
    if (isInitialized(container, status) || (container && isSidecar(container))) continue;
    const code = exit(status);
    return code !== undefined && code !== 0 && policy === "Never" ? "Failed" : "Pending";
  }
  const neverRan = ({ state, lastState }: ContainerStatus) =>
    state?.waiting !== undefined && lastState?.terminated === undefined;
  if (containers.length === 0 || containers.some(neverRan)) return "Pending";
  if (!containers.every((status) => exit(status) !== undefined)) return "Running";
  const good = containers.every((status) => exit(status) === 0);
  const again = policy === "Always" || (policy === "OnFailure" && !good);
  return again && pod.metadata.deletionTimestamp === undefined ? "Running" : good ? "Succeeded" : "Failed";
}

function conditionsOf(
  pod: Stored<Pod>,
  view: PodView,
  phase: PodStatus["phase"],
  statuses: Statuses,
): WrittenPodCondition[] {
  const before: readonly WrittenPodCondition[] = pod.status?.conditions ?? [];
  const { initContainers: specs = [] } = pod.spec;
  const begun = hasBegun(statuses.containers);
  const incomplete = statuses.initContainers.flatMap((status, index) =>
    begun || isInitialized(specs[index], status) ? [] : [status.name],
  );
  const sidecars = statuses.initContainers.filter((_, index) => specs[index]?.restartPolicy === "Always");
  const unready = [...sidecars, ...statuses.containers].flatMap(({ ready, name }) => (ready ? [] : [name]));
  const finished = phase === "Succeeded" ? "PodCompleted" : phase === "Failed" ? "PodFailed" : undefined;
  const started = pod.status?.startTime !== undefined;
  const make = (type: string, met: boolean, reason?: string, message?: string): WrittenPodCondition => {
    const known = before.find((condition) => condition.type === type);
    const status = met ? "True" : "False";
    return {
      type,
      observedGeneration: Number(pod.metadata.generation ?? 1),
      status,
      lastProbeTime: null,
      lastTransitionTime:
        (known?.status === status ? known.lastTransitionTime : undefined) ?? secondsOf(view.now),
      ...(reason === undefined ? {} : { reason }),
      ...(message === undefined ? {} : { message }),
    };
  };
  const ofContainers = (type: string) =>
    finished !== undefined
      ? make(type, false, finished)
      : unready.length > 0
        ? make(type, false, "ContainersNotReady", `containers with unready status: [${unready.join(" ")}]`)
        : make(type, true);
  const gates = unmetGates(pod);
  const own = [
    make("PodReadyToStartContainers", started && finished === undefined),
    incomplete.length > 0 && phase !== "Succeeded"
      ? make(
          "Initialized",
          false,
          "ContainersNotInitialized",
          `containers with incomplete status: [${incomplete.join(" ")}]`,
        )
      : make("Initialized", true, phase === "Succeeded" ? "PodCompleted" : undefined),
    finished === undefined && unready.length === 0 && gates !== undefined
      ? make("Ready", false, "ReadinessGatesNotReady", gates)
      : ofContainers("Ready"),
    ofContainers("ContainersReady"),
  ];
  const kept = before.filter(
    ({ type }) => !own.some((condition) => condition.type === type) && type !== "PodScheduled",
  );
  return [...kept, ...own, make("PodScheduled", true)];
}

/** Which of a pod's own conditions for being ready do not hold, in words. */
function unmetGates(pod: Stored<Pod>): string | undefined {
  const { conditions = [] } = pod.status ?? {};
  const { readinessGates = [] } = pod.spec;
  const words = readinessGates.flatMap(({ conditionType: type }) => {
    const known = conditions.find((condition) => condition.type === type);
    if (known?.status === "True") return [];
    return [
      known
        ? `the status of pod readiness gate "${type}" is not "True", but ${known.status}`
        : `corresponding condition of pod readiness gate "${type}" does not exist.`,
    ];
  });
  return words.length > 0 ? words.join(", ") : undefined;
}

function deadlineMs(pod: Stored<Pod>, now: number): number | undefined {
  const limit = pod.spec.activeDeadlineSeconds;
  const start = millisOf(pod.status?.startTime);
  return limit !== undefined && start !== undefined ? start + limit * 1_000 - now : undefined;
}

function evictionIn(pod: Stored<Pod>, view: PodView): number | undefined {
  const { kind, afterMs = 0 } = view.behavior();
  const start = millisOf(pod.status?.startTime);
  return kind === "evict" && start !== undefined ? start + afterMs - view.now : undefined;
}

/** The status of a pod that may not stay any longer; undefined if it may. */
function evicted(pod: Stored<Pod>, view: PodView): PodStep | undefined {
  const overdue = (deadlineMs(pod, view.now) ?? 1) <= 0;
  const unwanted = (evictionIn(pod, view) ?? 1) <= 0;
  if (!overdue && !unwanted) return undefined;
  const reason = overdue ? "DeadlineExceeded" : "Evicted";
  const message = overdue
    ? "Pod was active on the node longer than the specified deadline"
    : "The node was low on resource: memory. ";
  const { status } = terminate(pod, view, () => ({ exitCode: 137, reason: "Error" }));
  const target: WrittenPodCondition = {
    type: "DisruptionTarget",
    observedGeneration: Number(pod.metadata.generation ?? 1),
    status: "True",
    lastProbeTime: null,
    lastTransitionTime: secondsOf(view.now),
    reason: "TerminationByKubelet",
    message,
  };
  const conditions = conditionsOf(pod, view, "Failed", {
    initContainers: status.initContainerStatuses ?? [],
    containers: status.containerStatuses ?? [],
  });
  return {
    status: {
      ...status,
      phase: "Failed",
      reason,
      message,
      conditions: overdue ? conditions : [target, ...conditions],
    },
    events: [{ type: "Warning", reason, message }],
  };
}

/** The status of a pod whose containers have been stopped. */
export function terminate(
  pod: Stored<Pod>,
  view: PodView,
  exit: (status: ContainerStatus) => ContainerExit,
): PodStep {
  const stop = (status: ContainerStatus): ContainerStatus =>
    status.state?.running === undefined ? status : stopped(view, status, exit(status));
  const { initContainerStatuses = [], containerStatuses = [] } = pod.status ?? {};
  const initContainers = initContainerStatuses.map(stop);
  const containers = containerStatuses.map(stop);
  const status = statusWith(pod, view, { initContainers, containers });
  // A pod that never ran has no container statuses.
  const phase = status.phase === "Pending" ? "Failed" : status.phase;
  const conditions = conditionsOf(pod, view, phase, { initContainers, containers });
  return { status: { ...status, ...(phase ? { phase } : {}), conditions }, events: [] };
}

/** The events of a pod's running containers being told to stop: of all, or of those chosen. */
export function killing(pod: Stored<Pod>, isChosen: (name: string) => boolean = () => true): EventText[] {
  const { initContainerStatuses = [], containerStatuses = [] } = pod.status ?? {};
  const stopping = (part: Part, statuses: readonly ContainerStatus[]) =>
    (pod.spec[part] ?? [])
      .filter(({ name }) => isChosen(name) && statuses.find((status) => status.name === name)?.state?.running)
      .map((container) =>
        event({ container, part }, "Normal", "Killing", `Stopping container ${container.name}`),
      );
  return [...stopping("initContainers", initContainerStatuses), ...stopping("containers", containerStatuses)];
}

/** How long the containers of a deleted pod take to stop, from now. */
export function lingersMs(pod: Stored<Pod>, behavior: TimedBehavior, now: number): number {
  const end = millisOf(pod.metadata.deletionTimestamp);
  if (end === undefined) return 0;
  const grace = Number(pod.metadata.deletionGracePeriodSeconds ?? 0) * 1_000;
  const wanted = behavior.lingerMs === "grace" ? grace : Math.min(behavior.lingerMs ?? 0, grace);
  return Math.max(0, end - grace + wanted - now);
}

/** Whether a step changes anything that is stored. */
export function isSettled(pod: Stored<Pod>, { status }: PodStep): boolean {
  return equal(pod.status, status);
}
