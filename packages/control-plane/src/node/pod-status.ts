import type { EventText } from "../controllers/events.ts";
import { listAt, numberAt, timeAt } from "../controllers/objects.ts";
import { equal, type Json, type JsonObject, textOf } from "../json.ts";
import { specOf, statusOf } from "../storage/object-fields.ts";
import { field, type StoredObject } from "../storage/store.ts";
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

/** What a pod's node knows about it. */
export interface PodView {
  readonly now: number;
  readonly address: string;
  readonly hostAddress: string;
  /** How a container behaves; without a name, the pod as a whole. */
  readonly behavior: (container?: string) => TimedBehavior;
  /** Why an image is not there; undefined if it is. */
  readonly imageMissing: (container: JsonObject) => string | undefined;
  /** Why the pod's volumes cannot be mounted; undefined if they can. */
  readonly mountError: EventText | undefined;
  /** Why a container cannot be made; undefined if it can. */
  readonly configError: (container: JsonObject) => string | undefined;
  /** A container's next status from its last one. */
  readonly step: (view: ContainerView, status: JsonObject | undefined) => ContainerStep;
}

/** A pod's next status. */
export interface PodStep {
  readonly status: JsonObject;
  readonly events: readonly EventText[];
  readonly againMs?: number;
}

type Part = ContainerView["part"];

/** A pod's next status from its last one: one thing at a time, as a watcher would see it. */
export function stepPod(pod: StoredObject, view: PodView): PodStep {
  const before = statusOf(pod);
  if (before.startTime === undefined) return created(pod, view);
  const thrownOut = evicted(pod, view);
  if (thrownOut) return thrownOut;
  const whole = view.behavior();
  const startMs = (timeAt(before, "startTime") ?? view.now) + (whole.startAfterMs ?? 0) - view.now;
  if (whole.kind === "stuck") return { status: before, events: [] };
  if (view.mountError && !hasStarted(before)) return { status: before, events: [view.mountError] };
  if (startMs > 0 && !hasStarted(before)) return { status: before, events: [], againMs: startMs };
  return assemble(pod, view, stepAll(pod, view));
}

/** The node has taken the pod on, and starts to make its containers. */
function created(pod: StoredObject, view: PodView): PodStep {
  const inits = listAt(pod, "spec", "initContainers");
  const reason = inits.length > 0 ? "PodInitializing" : "ContainerCreating";
  const fresh = (part: Part) =>
    listAt(pod, "spec", part).map((container) =>
      waiting(containerView(pod, view, container, part), undefined, reason),
    );
  const status = statusWith(pod, view, {
    initContainers: fresh("initContainers"),
    containers: fresh("containers"),
  });
  return { status: { ...status, startTime: secondsOf(view.now) }, events: [] };
}

function hasStarted(status: JsonObject): boolean {
  return ["initContainerStatuses", "containerStatuses"].some((part) => hasBegun(listAt(status, part)));
}

function containerView(pod: StoredObject, view: PodView, container: JsonObject, part: Part): ContainerView {
  const policy = container.restartPolicy ?? field(pod, "spec", "restartPolicy") ?? "Always";
  const isInit = part === "initContainers";
  const behavior = view.behavior(textOf(container.name));
  return {
    pod,
    container,
    part,
    // What is said of the pod is meant for its main containers; init containers are named.
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

function stepAll(pod: StoredObject, view: PodView): Stepped {
  const known = (part: string, name: Json | undefined) =>
    listAt(pod, "status", part).find((status) => status.name === name);
  const inits: ContainerStep[] = [];
  const begun = hasBegun(listAt(pod, "status", "containerStatuses"));
  let initialized = true;
  for (const container of listAt(pod, "spec", "initContainers")) {
    const before = known("initContainerStatuses", container.name);
    const own = containerView(pod, view, container, "initContainers");
    if (!initialized) {
      inits.push({ status: before ?? waiting(own, undefined, "PodInitializing"), events: [] });
      continue;
    }
    const step = view.step(own, before);
    inits.push(step);
    initialized = begun || isInitialized(container, step.status);
  }
  const containers = listAt(pod, "spec", "containers").map((container) => {
    const before = known("containerStatuses", container.name);
    const own = containerView(pod, view, container, "containers");
    if (initialized) return view.step(own, before);
    return { status: before ?? waiting(own, undefined, "PodInitializing"), events: [] };
  });
  return { initContainers: inits, containers };
}

/**
 * Whether one of these was ever started. Once a main container was, nobody waits for init
 * containers any more.
 */
function hasBegun(statuses: readonly JsonObject[]): boolean {
  return statuses.some(
    (status) =>
      field(status, "state", "waiting") === undefined ||
      field(status, "lastState", "terminated") !== undefined,
  );
}

/** Whether what comes after an init container may start. */
function isInitialized(container: JsonObject, status: JsonObject): boolean {
  if (container.restartPolicy === "Always") return status.started === true;
  return field(status, "state", "terminated", "exitCode") === 0;
}

function assemble(pod: StoredObject, view: PodView, stepped: Stepped): PodStep {
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

function statusWith(
  pod: StoredObject,
  view: PodView,
  statuses: { readonly initContainers: readonly JsonObject[]; readonly containers: readonly JsonObject[] },
): JsonObject {
  const before = statusOf(pod);
  const phase = phaseOf(pod, statuses.initContainers, statuses.containers);
  const { hostNetwork } = specOf(pod);
  const address = hostNetwork === true ? view.hostAddress : view.address;
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

function phaseOf(pod: StoredObject, inits: readonly JsonObject[], containers: readonly JsonObject[]): string {
  const policy = textOf(field(pod, "spec", "restartPolicy")) || "Always";
  const exit = (status: JsonObject) => field(status, "state", "terminated", "exitCode");
  const specs = listAt(pod, "spec", "initContainers");
  for (const [index, status] of inits.entries()) {
    const container = specs[index] ?? {};
    if (isInitialized(container, status) || container.restartPolicy === "Always") continue;
    const code = exit(status);
    return code !== undefined && code !== 0 && policy === "Never" ? "Failed" : "Pending";
  }
  const neverRan = (status: JsonObject) =>
    field(status, "state", "waiting") !== undefined && field(status, "lastState", "terminated") === undefined;
  if (containers.length === 0 || containers.some(neverRan)) return "Pending";
  if (!containers.every((status) => exit(status) !== undefined)) return "Running";
  const good = containers.every((status) => exit(status) === 0);
  const again = policy === "Always" || (policy === "OnFailure" && !good);
  return again && pod.metadata.deletionTimestamp === undefined ? "Running" : good ? "Succeeded" : "Failed";
}

function conditionsOf(
  pod: StoredObject,
  view: PodView,
  phase: string,
  statuses: { readonly initContainers: readonly JsonObject[]; readonly containers: readonly JsonObject[] },
): JsonObject[] {
  const before = listAt(pod, "status", "conditions");
  const specs = listAt(pod, "spec", "initContainers");
  const begun = hasBegun(statuses.containers);
  const incomplete = statuses.initContainers.flatMap((status, index) =>
    begun || isInitialized(specs[index] ?? {}, status) ? [] : [textOf(status.name)],
  );
  const sidecars = statuses.initContainers.filter((_, index) => specs[index]?.restartPolicy === "Always");
  const unready = [...sidecars, ...statuses.containers].flatMap(({ ready, name }) =>
    ready === true ? [] : [textOf(name)],
  );
  const finished = phase === "Succeeded" ? "PodCompleted" : phase === "Failed" ? "PodFailed" : undefined;
  const started = field(pod, "status", "startTime") !== undefined;
  const make = (type: string, met: boolean, reason?: string, message?: string): JsonObject => {
    const known = before.find((condition) => condition.type === type);
    const status = met ? "True" : "False";
    return {
      type,
      observedGeneration: Number(pod.metadata.generation ?? 1),
      status,
      lastProbeTime: null,
      lastTransitionTime:
        known?.status === status ? (known.lastTransitionTime as string) : secondsOf(view.now),
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
function unmetGates(pod: StoredObject): string | undefined {
  const conditions = listAt(pod, "status", "conditions");
  const words = listAt(pod, "spec", "readinessGates").flatMap(({ conditionType }) => {
    const type = textOf(conditionType);
    const known = conditions.find((condition) => condition.type === type);
    if (known?.status === "True") return [];
    return [
      known
        ? `the status of pod readiness gate "${type}" is not "True", but ${textOf(known.status)}`
        : `corresponding condition of pod readiness gate "${type}" does not exist.`,
    ];
  });
  return words.length > 0 ? words.join(", ") : undefined;
}

function deadlineMs(pod: StoredObject, now: number): number | undefined {
  const limit = field(pod, "spec", "activeDeadlineSeconds");
  const start = timeAt(pod, "status", "startTime");
  return typeof limit === "number" && start !== undefined ? start + limit * 1_000 - now : undefined;
}

function evictionIn(pod: StoredObject, view: PodView): number | undefined {
  const { kind, afterMs = 0 } = view.behavior();
  const start = timeAt(pod, "status", "startTime");
  return kind === "evict" && start !== undefined ? start + afterMs - view.now : undefined;
}

/** The status of a pod that may not stay any longer; undefined if it may. */
function evicted(pod: StoredObject, view: PodView): PodStep | undefined {
  const overdue = (deadlineMs(pod, view.now) ?? 1) <= 0;
  const unwanted = (evictionIn(pod, view) ?? 1) <= 0;
  if (!overdue && !unwanted) return undefined;
  const reason = overdue ? "DeadlineExceeded" : "Evicted";
  const message = overdue
    ? "Pod was active on the node longer than the specified deadline"
    : "The node was low on resource: memory. ";
  const { status } = terminate(pod, view, () => ({ exitCode: 137, reason: "Error" }));
  const target: JsonObject = {
    type: "DisruptionTarget",
    observedGeneration: Number(pod.metadata.generation ?? 1),
    status: "True",
    lastProbeTime: null,
    lastTransitionTime: secondsOf(view.now),
    reason: "TerminationByKubelet",
    message,
  };
  const conditions = conditionsOf(pod, view, "Failed", {
    initContainers: listAt(status, "initContainerStatuses"),
    containers: listAt(status, "containerStatuses"),
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
  pod: StoredObject,
  view: PodView,
  exit: (status: JsonObject) => ContainerExit,
): PodStep {
  const stop = (status: JsonObject): JsonObject =>
    field(status, "state", "running") === undefined ? status : stopped(view, status, exit(status));
  const initContainers = listAt(pod, "status", "initContainerStatuses").map(stop);
  const containers = listAt(pod, "status", "containerStatuses").map(stop);
  const status = statusWith(pod, view, { initContainers, containers });
  // A pod that never ran has no container statuses.
  const phase = status.phase === "Pending" ? "Failed" : textOf(status.phase);
  const conditions = conditionsOf(pod, view, phase, { initContainers, containers });
  return { status: { ...status, phase, conditions }, events: [] };
}

/** What is said when a pod's containers are told to stop. */
export function killing(pod: StoredObject): EventText[] {
  return (["initContainers", "containers"] as const).flatMap((part) =>
    listAt(pod, "spec", part)
      .filter((container) => {
        const statuses = listAt(
          pod,
          "status",
          part === "containers" ? "containerStatuses" : "initContainerStatuses",
        );
        const status = statuses.find(({ name }) => name === container.name);
        return field(status, "state", "running") !== undefined;
      })
      .map((container) =>
        event({ container, part }, "Normal", "Killing", `Stopping container ${textOf(container.name)}`),
      ),
  );
}

/** How long the containers of a deleted pod take to stop, from now. */
export function lingersMs(pod: StoredObject, behavior: TimedBehavior, now: number): number {
  const end = timeAt(pod, "metadata", "deletionTimestamp");
  if (end === undefined) return 0;
  const grace = numberAt(pod, ["metadata", "deletionGracePeriodSeconds"], 0) * 1_000;
  const wanted = behavior.lingerMs === "grace" ? grace : Math.min(behavior.lingerMs ?? 0, grace);
  return Math.max(0, end - grace + wanted - now);
}

/** Whether a step changes anything that is stored. */
export function isSettled(pod: StoredObject, { status }: PodStep): boolean {
  return equal(pod.status, status);
}
