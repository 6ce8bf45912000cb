import { createHash } from "node:crypto";
import type {
  Container,
  ContainerState,
  ContainerStatus,
  Pod,
  ResourceRequirements,
  VolumeMountStatus,
} from "@windlass/kinds/builtin";
import type { EventText } from "../controllers/events.ts";
import { clone } from "../json.ts";
import { millisOf, namespaceOf } from "../json-fields.ts";
import type { Stored } from "../storage/typed.ts";
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
  readonly pod: Stored<Pod>;
  /** As in the pod's spec. */
  readonly container: Container;
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
  readonly status: ContainerStatus;
  readonly events: readonly EventText[];
  /** How long until there is more to do, if nothing changes. */
  readonly againMs?: number;
}

const firstBackoffMs = 10_000;
const lastBackoffMs = 300_000;
/** A container that ran this long has its restart backoff reset. */
const backoffResetMs = 600_000;

/** How long a container that was restarted so often waits for the next time. */
export function backoffMs(restarts: number): number {
  return restarts <= 0 ? 0 : Math.min(firstBackoffMs * 2 ** (restarts - 1), lastBackoffMs);
}

/**
 * A container's next status from its last one. All that the kubelet would remember is in the status
 * itself, so a control plane that starts again goes on where the last one was.
 */
export function stepContainer(view: ContainerView, status: ContainerStatus | undefined): ContainerStep {
  return stepWith({ start, running }, view, status);
}

/** What differs between containers that are simulated and those that are not. */
export interface ContainerLife {
  readonly start: (view: ContainerView, before: ContainerStatus | undefined) => ContainerStep;
  readonly running: (view: ContainerView, status: ContainerStatus) => ContainerStep;
}

/**
 * A container's next status, with its own way to start and to run: waiting, ending and backing off
 * are the same for all.
 */
export function stepWith(
  life: ContainerLife,
  view: ContainerView,
  status: ContainerStatus | undefined,
): ContainerStep {
  if (!status) return life.start(view, status);
  const { state } = status;
  if (state?.running) return life.running(view, status);
  if (state?.terminated) return terminated(life, view, status);
  if (state?.waiting?.reason === "CrashLoopBackOff") return backingOff(life, view, status);
  return life.start(view, status);
}

function start(view: ContainerView, before: ContainerStatus | undefined): ContainerStep {
  const held = blockedStart(view, before);
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
export function blockedStart(
  view: ContainerView,
  before: ContainerStatus | undefined,
): ContainerStep | undefined {
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
export function nextAttempt(before: ContainerStatus | undefined): number {
  return before === undefined || lastEnd(before) === undefined ? 0 : before.restartCount + 1;
}

/** How a container ended the last time. */
function lastEnd(status: ContainerStatus | undefined): ContainerState["terminated"] {
  return status?.state?.terminated ?? status?.lastState?.terminated;
}

/** The status of a container that has just been started. */
export function startedStatus(
  view: ContainerView,
  before: ContainerStatus | undefined,
  startedAt: number,
): ContainerStatus {
  const { container } = view;
  const last = lastEnd(before);
  const restartCount = nextAttempt(before);
  return {
    ...identity(view),
    state: { running: { startedAt: secondsOf(startedAt) } },
    lastState: last === undefined ? {} : { terminated: clone(last) },
    ready: false,
    restartCount,
    imageID: imageId(imageOf(container)),
    containerID: containerId(view.pod, container.name, restartCount),
    started: true,
    ...resourcesOf(container),
  };
}

/** The events of a container's start. */
export function startEvents(view: ContainerView): EventText[] {
  const image = imageOf(view.container);
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
 * ErrImagePull first, then ImagePullBackOff. The next attempt is made when images may have
 * changed.
 */
function pullFailure(view: ContainerView, before: ContainerStatus | undefined): ContainerStep {
  const image = imageOf(view.container);
  const why =
    view.imageMissing ||
    `failed to pull and unpack image "${image}": failed to resolve reference "${image}": ${image}: not found`;
  if (before && isWaitingFor(before, "ImagePullBackOff")) return { status: before, events: [] };
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

function running(
  view: ContainerView,
  status: ContainerStatus,
  age: "fresh" | "known" = "known",
): ContainerStep {
  const { container, behavior, part, now } = view;
  const startedAt = millisOf(status.state?.running?.startedAt) ?? now;
  const { restartCount } = status;
  if (isOutdated(view, status)) {
    return {
      status: stopped(view, status, { exitCode: 137, reason: "Error" }),
      events: [definitionChanged(view)],
    };
  }
  // Init containers do their work and end; those that are restarted indefinitely stay.
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
function probeDelayMs({ startupProbe, readinessProbe }: Container): number {
  const delays = [startupProbe, readinessProbe].map((probe) => probe?.initialDelaySeconds ?? 0);
  return Math.max(...delays) * 1_000;
}

/** Whether a container runs another image than it should by now. */
export function isOutdated({ container }: ContainerView, status: ContainerStatus): boolean {
  return status.image !== imageOf(container);
}

export function definitionChanged(view: ContainerView): EventText {
  const { name } = view.container;
  return event(view, "Normal", "Killing", `Container ${name} definition changed, will be restarted`);
}

/** A container's status once it has ended. */
export function stopped(
  view: Pick<ContainerView, "now">,
  status: ContainerStatus,
  exit: ContainerExit,
): ContainerStatus {
  const startedAt = status.state?.running?.startedAt;
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

function terminated(life: ContainerLife, view: ContainerView, status: ContainerStatus): ContainerStep {
  const ended = status.state?.terminated;
  const code = ended?.exitCode ?? 0;
  const isInit = view.part === "initContainers" && view.container.restartPolicy !== "Always";
  if (isInit && code === 0) return { status: { ...status, ready: true }, events: [] };
  if (!view.restarts(code)) return { status, events: [] };
  // The first restart has no backoff, nor has one after a long run.
  const startedAt = millisOf(ended?.startedAt);
  const ranMs = startedAt === undefined ? 0 : (millisOf(ended?.finishedAt) ?? startedAt) - startedAt;
  if (status.restartCount === 0 || ranMs >= backoffResetMs) return life.start(view, status);
  const { pod, container } = view;
  const { name } = container;
  const place = `${pod.metadata.name}_${namespaceOf(pod)}(${pod.metadata.uid})`;
  const wait = backoffMs(status.restartCount);
  return {
    status: {
      ...status,
      state: {
        waiting: {
          reason: "CrashLoopBackOff",
          message: `back-off ${durationText(wait)} restarting failed container=${name} pod=${place}`,
        },
      },
      lastState: ended === undefined ? {} : { terminated: clone(ended) },
    },
    events: [
      event(view, "Warning", "BackOff", `Back-off restarting failed container ${name} in pod ${place}`),
    ],
    againMs: wait,
  };
}

function backingOff(life: ContainerLife, view: ContainerView, status: ContainerStatus): ContainerStep {
  const finished = millisOf(status.lastState?.terminated?.finishedAt) ?? view.now;
  const left = finished + backoffMs(status.restartCount) - view.now;
  return left > 0 ? { status, events: [], againMs: left } : life.start(view, status);
}

/** A container that has not been started yet. */
export function waiting(
  view: ContainerView,
  before: ContainerStatus | undefined,
  reason: string,
  message?: string,
): ContainerStatus {
  return {
    ...identity(view),
    state: { waiting: { reason, ...(message === undefined ? {} : { message }) } },
    // The ended state becomes `lastState`, so that a container that waits for its restart does not
    // look as if it never ran.
    lastState: clone(terminatedIn(before) ?? before?.lastState ?? {}),
    ready: false,
    restartCount: before?.restartCount ?? 0,
    imageID: "",
    started: false,
  };
}

function terminatedIn(status: ContainerStatus | undefined): ContainerState | undefined {
  const terminated = status?.state?.terminated;
  return terminated === undefined ? undefined : { terminated };
}

function isWaitingFor(status: ContainerStatus | undefined, reason: string): boolean {
  return status?.state?.waiting?.reason === reason;
}

function identity({ container }: ContainerView): Pick<ContainerStatus, "name" | "image" | "volumeMounts"> {
  const { volumeMounts = [] } = container;
  const mounts = volumeMounts.map(
    ({ name, mountPath, readOnly }): VolumeMountStatus => ({
      name,
      mountPath,
      ...(readOnly === true ? { readOnly, recursiveReadOnly: "Disabled" } : {}),
    }),
  );
  return {
    name: container.name,
    image: imageOf(container),
    ...(mounts.length > 0 ? { volumeMounts: mounts } : {}),
  };
}

function resourcesOf(container: Container): Pick<ContainerStatus, "resources" | "allocatedResources"> {
  const resources: ResourceRequirements = clone(container.resources ?? {});
  const { requests } = resources;
  return { resources, ...(requests === undefined ? {} : { allocatedResources: clone(requests) }) };
}

export function event(
  { container, part }: Pick<ContainerView, "container" | "part">,
  type: "Normal" | "Warning",
  reason: string,
  message: string,
): EventText {
  return { type, reason, message, fieldPath: `spec.${part}{${container.name}}` };
}

export function secondsOf(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}

/** A duration as Go writes it: `1m20s`. */
function durationText(ms: number): string {
  const [minutes, seconds] = [Math.floor(ms / 60_000), (ms % 60_000) / 1_000];
  return minutes === 0 ? `${seconds}s` : `${minutes}m${seconds}s`;
}

function imageOf({ image = "" }: Container): string {
  return image;
}

function imageId(image: string): string {
  return `sha256:${createHash("sha256").update(image).digest("hex")}`;
}

function containerId(pod: Stored<Pod>, name: string, restarts: number): string {
  return `windlass://${createHash("sha256").update(`${pod.metadata.uid}/${name}/${restarts}`).digest("hex")}`;
}
