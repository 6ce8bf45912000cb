import { createHash } from "node:crypto";
import type { EventText } from "../controllers/events.ts";
import { listAt, namespaceOf, numberAt, timeAt } from "../controllers/objects.ts";
import { clone, type JsonObject, textOf } from "../json.ts";
import { field, type StoredObject } from "../storage/store.ts";
import { ends, exitOf, type TimedBehavior } from "./behavior.ts";

/** How a container ended. */
export interface ContainerExit {
  readonly exitCode: number;
  readonly reason: string;
  readonly message?: string;
  /** Milliseconds since the epoch. @default now */
  readonly finishedAt?: number;
}

/** What there is to know about a container besides its status. */
export interface ContainerView {
  readonly pod: StoredObject;
  /** As in the pod's spec. */
  readonly container: JsonObject;
  readonly part: "initContainers" | "containers";
  readonly behavior: TimedBehavior;
  /** Why its image is missing, or empty for the default message; undefined if it is there. */
  readonly imageMissing: string | undefined;
  /** Why it cannot be made: a ConfigMap it needs is not there, say. */
  readonly configError: string | undefined;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** Whether it is started again after it ended so. */
  readonly restarts: (exitCode: number) => boolean;
}

/** A container's next status. */
export interface ContainerStep {
  readonly status: JsonObject;
  readonly events: readonly EventText[];
  /** How long until there is more to do, if nothing changes. */
  readonly againMs?: number;
}

const firstBackoffMs = 10_000;
const lastBackoffMs = 300_000;
/** A container that ran this long has its restart backoff reset. */
const forgivenMs = 600_000;

/** How long a container that was restarted so often waits for the next time. */
export function backoffMs(restarts: number): number {
  return restarts <= 0 ? 0 : Math.min(firstBackoffMs * 2 ** (restarts - 1), lastBackoffMs);
}

/**
 * A container's next status from its last one. All that the kubelet would remember is in the status
 * itself, so a control plane that starts again goes on where the last one was.
 */
export function stepContainer(view: ContainerView, status: JsonObject | undefined): ContainerStep {
  return stepWith({ start, running }, view, status);
}

/** What differs between containers that are simulated and those that are not. */
export interface ContainerLife {
  readonly start: (view: ContainerView, before: JsonObject | undefined) => ContainerStep;
  readonly running: (view: ContainerView, status: JsonObject) => ContainerStep;
}

/**
 * A container's next status, with its own way to start and to run: waiting, ending and backing off
 * are the same for all.
 */
export function stepWith(
  life: ContainerLife,
  view: ContainerView,
  status: JsonObject | undefined,
): ContainerStep {
  const state = (status?.state ?? {}) as JsonObject;
  if (field(state, "running")) return life.running(view, status as JsonObject);
  if (field(state, "terminated")) return terminated(life, view, status as JsonObject);
  const reason = field(state, "waiting", "reason");
  if (reason === "CrashLoopBackOff") return backingOff(life, view, status as JsonObject);
  return life.start(view, status);
}

function start(view: ContainerView, before: JsonObject | undefined): ContainerStep {
  const held = heldBack(view, before);
  if (held) return held;
  const status = startedStatus(view, before, view.now);
  // Whether it is ready is seen from the status, not from having just been started.
  const next = running(view, status, "fresh");
  return { ...next, events: [...startEvents(view), ...next.events] };
}

/**
 * What keeps a container from being started: its image, or something that its environment names.
 * Undefined if nothing does.
 */
export function heldBack(view: ContainerView, before: JsonObject | undefined): ContainerStep | undefined {
  const { behavior, imageMissing, configError } = view;
  if (behavior.kind === "image-pull-error" || imageMissing !== undefined) return pullFailure(view, before);
  if (configError === undefined) return undefined;
  return {
    status: waiting(view, before, "CreateContainerConfigError", configError),
    events: isWaitingFor(before, "CreateContainerConfigError")
      ? []
      : [...startEvents(view).slice(0, 1), event(view, "Warning", "Failed", `Error: ${configError}`)],
  };
}

/** How often a container will have been started before, if it is started now. */
export function nextAttempt(before: JsonObject | undefined): number {
  const ran = field(before, "state", "terminated") ?? field(before, "lastState", "terminated");
  return ran === undefined ? 0 : numberAt(before ?? {}, ["restartCount"], 0) + 1;
}

/** The status of a container that has just been started. */
export function startedStatus(
  view: ContainerView,
  before: JsonObject | undefined,
  startedAt: number,
): JsonObject {
  const { container } = view;
  const last = field(before, "state", "terminated") ?? field(before, "lastState", "terminated");
  const restartCount = nextAttempt(before);
  return {
    ...identity(view),
    state: { running: { startedAt: secondsOf(startedAt) } },
    lastState: last === undefined ? {} : { terminated: clone(last) },
    ready: false,
    restartCount,
    imageID: imageId(textOf(container.image)),
    containerID: containerId(view.pod, container, restartCount),
    started: true,
    ...resourcesOf(container),
  };
}

/** What is told of a container's start. */
export function startEvents(view: ContainerView): EventText[] {
  const image = textOf(view.container.image);
  return [
    event(
      view,
      "Normal",
      "Pulled",
      `Container image "${image}" already present on machine and can be accessed by the pod`,
    ),
    event(view, "Normal", "Created", "Container created"),
    event(view, "Normal", "Started", "Container started"),
  ];
}

/**
 * First the failure, then that it is waited before the next try, which comes when the image may be
 * there.
 */
function pullFailure(view: ContainerView, before: JsonObject | undefined): ContainerStep {
  const image = textOf(view.container.image);
  const why =
    view.imageMissing ||
    `failed to pull and unpack image "${image}": failed to resolve reference "${image}": ${image}: not found`;
  if (isWaitingFor(before, "ImagePullBackOff")) return { status: before as JsonObject, events: [] };
  if (isWaitingFor(before, "ErrImagePull")) {
    return {
      status: waiting(
        view,
        before,
        "ImagePullBackOff",
        `Back-off pulling image "${image}": ErrImagePull: ${why}`,
      ),
      events: [
        event(view, "Normal", "BackOff", `Back-off pulling image "${image}"`),
        event(view, "Warning", "Failed", "Error: ImagePullBackOff"),
      ],
    };
  }
  return {
    status: waiting(view, before, "ErrImagePull", why),
    events: [
      event(view, "Normal", "Pulling", `Pulling image "${image}"`),
      event(view, "Warning", "Failed", `Failed to pull image "${image}": ${why}`),
      event(view, "Warning", "Failed", "Error: ErrImagePull"),
    ],
  };
}

function running(view: ContainerView, status: JsonObject, age: "fresh" | "known" = "known"): ContainerStep {
  const { container, behavior, part, now } = view;
  const startedAt = timeAt(status, "state", "running", "startedAt") ?? now;
  const restartCount = numberAt(status, ["restartCount"], 0);
  if (isOutdated(view, status)) {
    return {
      status: stopped(view, status, { exitCode: 137, reason: "Error" }),
      events: [definitionChanged(view)],
    };
  }
  // Init containers do their work and end; those that are restarted for ever stay.
  const isInit = part === "initContainers" && container.restartPolicy !== "Always";
  const ending = ends(behavior, restartCount) || isInit;
  const dueMs = startedAt + (behavior.afterMs ?? 0) - now;
  if (ending && dueMs <= 0 && age === "known") {
    const exit =
      isInit && !ends(behavior, restartCount) ? { exitCode: 0, reason: "Completed" } : exitOf(behavior);
    return { status: stopped(view, status, exit), events: [] };
  }
  const readyMs = startedAt + (behavior.readyAfterMs ?? probeDelayMs(container)) - now;
  const ready = !isInit && behavior.kind !== "never-ready" && readyMs <= 0;
  const waits = [...(ending ? [Math.max(0, dueMs)] : []), ...(readyMs > 0 ? [readyMs] : [])];
  const unhealthy = behavior.kind === "never-ready" && age === "fresh";
  return {
    status: { ...status, ready },
    events: unhealthy ? [event(view, "Warning", "Unhealthy", "Readiness probe failed: ")] : [],
    ...(waits.length > 0 ? { againMs: Math.min(...waits) } : {}),
  };
}

/** Probes do not run before this, so the container cannot be ready. */
function probeDelayMs(container: JsonObject): number {
  const delays = ["startupProbe", "readinessProbe"].map((probe) =>
    numberAt(container, [probe, "initialDelaySeconds"], 0),
  );
  return Math.max(...delays) * 1_000;
}

/** Whether a container runs another image than it should by now. */
export function isOutdated({ container }: ContainerView, status: JsonObject): boolean {
  return textOf(status.image) !== textOf(container.image);
}

export function definitionChanged(view: ContainerView): EventText {
  const name = textOf(view.container.name);
  return event(view, "Normal", "Killing", `Container ${name} definition changed, will be restarted`);
}

/** A container's status once it has ended. */
export function stopped(
  view: Pick<ContainerView, "now">,
  status: JsonObject,
  exit: ContainerExit,
): JsonObject {
  const startedAt = field(status, "state", "running", "startedAt");
  return {
    ...status,
    state: {
      terminated: {
        exitCode: exit.exitCode,
        reason: exit.reason,
        ...(exit.message === undefined ? {} : { message: exit.message }),
        ...(startedAt === undefined ? {} : { startedAt }),
        finishedAt: secondsOf(exit.finishedAt ?? view.now),
        ...(status.containerID === undefined ? {} : { containerID: status.containerID }),
      },
    },
    ready: false,
    started: false,
  };
}

function terminated(life: ContainerLife, view: ContainerView, status: JsonObject): ContainerStep {
  const code = numberAt(status, ["state", "terminated", "exitCode"], 0);
  const isInit = view.part === "initContainers" && view.container.restartPolicy !== "Always";
  if (isInit && code === 0) return { status: { ...status, ready: true }, events: [] };
  if (!view.restarts(code)) return { status, events: [] };
  // The first restart has no backoff, nor has one after a long run.
  const began = timeAt(status, "state", "terminated", "startedAt") ?? 0;
  const ended = timeAt(status, "state", "terminated", "finishedAt") ?? 0;
  if (numberAt(status, ["restartCount"], 0) === 0 || ended - began >= forgivenMs)
    return life.start(view, status);
  const { pod, container } = view;
  const name = textOf(container.name);
  const place = `${pod.metadata.name}_${namespaceOf(pod)}(${pod.metadata.uid})`;
  const wait = backoffMs(numberAt(status, ["restartCount"], 0));
  return {
    status: {
      ...status,
      state: {
        waiting: {
          reason: "CrashLoopBackOff",
          message: `back-off ${durationText(wait)} restarting failed container=${name} pod=${place}`,
        },
      },
      lastState: { terminated: clone(field(status, "state", "terminated") ?? {}) },
    },
    events: [
      event(view, "Warning", "BackOff", `Back-off restarting failed container ${name} in pod ${place}`),
    ],
    againMs: wait,
  };
}

function backingOff(life: ContainerLife, view: ContainerView, status: JsonObject): ContainerStep {
  const finished = timeAt(status, "lastState", "terminated", "finishedAt") ?? view.now;
  const left = finished + backoffMs(numberAt(status, ["restartCount"], 0)) - view.now;
  return left > 0 ? { status, events: [], againMs: left } : life.start(view, status);
}

/** A container that has not been started yet. */
export function waiting(
  view: ContainerView,
  before: JsonObject | undefined,
  reason: string,
  message?: string,
): JsonObject {
  return {
    ...identity(view),
    state: { waiting: { reason, ...(message === undefined ? {} : { message }) } },
    // The ended state becomes `lastState`, so that a container that waits for its restart does not
    // look as if it never ran.
    lastState: clone((terminatedIn(before) ?? before?.lastState ?? {}) as JsonObject),
    ready: false,
    restartCount: numberAt(before ?? {}, ["restartCount"], 0),
    imageID: "",
    started: false,
  };
}

function terminatedIn(status: JsonObject | undefined): JsonObject | undefined {
  const terminated = field(status, "state", "terminated");
  return terminated === undefined ? undefined : { terminated };
}

function isWaitingFor(status: JsonObject | undefined, reason: string): boolean {
  return field(status, "state", "waiting", "reason") === reason;
}

function identity({ container }: ContainerView): JsonObject {
  const mounts = listAt(container, "volumeMounts").map(({ name, mountPath, readOnly }) => ({
    name: textOf(name),
    mountPath: textOf(mountPath),
    ...(readOnly === true ? { readOnly, recursiveReadOnly: "Disabled" } : {}),
  }));
  return {
    name: textOf(container.name),
    image: textOf(container.image),
    ...(mounts.length > 0 ? { volumeMounts: mounts } : {}),
  };
}

function resourcesOf(container: JsonObject): JsonObject {
  const resources = clone((container.resources ?? {}) as JsonObject);
  const requests = field(resources, "requests");
  return { resources, ...(requests === undefined ? {} : { allocatedResources: clone(requests) }) };
}

export function event(
  { container, part }: Pick<ContainerView, "container" | "part">,
  type: "Normal" | "Warning",
  reason: string,
  message: string,
): EventText {
  return { type, reason, message, fieldPath: `spec.${part}{${textOf(container.name)}}` };
}

export function secondsOf(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}

/** A duration as Go writes it: `1m20s`. */
function durationText(ms: number): string {
  const [minutes, seconds] = [Math.floor(ms / 60_000), (ms % 60_000) / 1_000];
  return minutes === 0 ? `${seconds}s` : `${minutes}m${seconds}s`;
}

function imageId(image: string): string {
  return `sha256:${createHash("sha256").update(image).digest("hex")}`;
}

function containerId(pod: StoredObject, { name }: JsonObject, restarts: number): string {
  return `windlass://${createHash("sha256")
    .update(`${pod.metadata.uid}/${textOf(name)}/${restarts}`)
    .digest("hex")}`;
}
