import { milliseconds } from "@windlass/clock";
import type { Browser } from "../browser/browser.ts";
import {
  type PlatformProperty,
  type PlatformQueue,
  ports,
  type SchedulerRoute,
  type Shards,
  sorted,
  type Version,
} from "../configuration/index.ts";
import type { Frontend } from "../frontend/frontend.ts";
import {
  type Layout,
  layout,
  mapText,
  parseLayout,
  type Resharding,
  type ResultUse,
  type Ring,
  shardMap,
} from "../resharding/index.ts";
import type { Scheduler } from "../scheduler/scheduler.ts";
import type { Storage } from "../storage/storage.ts";
import type { Worker } from "../worker/worker.ts";
import type { BuildbarnSet } from "./buildbarn-set.ts";
import { SetFault } from "./fault.ts";
import { tlsOf } from "./internal-tls.ts";

/** A span of time as Buildbarn's configuration wants it: in seconds, such as `1800s`. */
export function seconds(span: string, field: string): string {
  return `${milliseconds(span, field) / 1_000}s`;
}

/** The one storage of a set. @throws SetFault */
export function storageOf({ name, storages }: BuildbarnSet): Storage {
  const [storage, ...others] = storages;
  if (!storage)
    throw new SetFault("MissingReference", `no BuildbarnStorage has spec.cluster ${JSON.stringify(name)}`);
  if (others.length > 0)
    throw new SetFault(
      "Ambiguous",
      `a set has one BuildbarnStorage, and these have spec.cluster ${JSON.stringify(name)}: ${storages.map(({ metadata }) => metadata.name).join(", ")}`,
    );
  return storage;
}

/**
 * How clients of the shards see them. It goes by what the storage's controller has stored, and by
 * nothing else: so no client is ahead of it.
 *
 * @param version That of the client: releases place blobs differently.
 * @param use What the client does with the results of actions.
 * @throws SetFault
 */
export function shardsOfSet(
  set: BuildbarnSet,
  version: Version,
  use: ResultUse,
): Shards & { readonly text: string } {
  const { metadata, spec, status } = storageOf(set);
  if (spec.version !== version)
    throw new SetFault(
      "VersionMismatch",
      `spec.version is ${version}, and that of BuildbarnStorage ${metadata.name} is ${spec.version}: releases place blobs differently, so all of a set must have the same`,
    );
  const state = reshardingOf(status?.resharding);
  if (!state)
    throw new SetFault("MissingReference", `BuildbarnStorage ${metadata.name} has not been looked at yet`);
  const map = shardMap(state, use);
  const { name, namespace } = metadata;
  return {
    map,
    text: mapText(map),
    tls: tlsOf(set),
    addressOf: ({ ring, number }) =>
      `${ringName(name, ring)}-${number}.${name}.${namespace}:${ports.storage}`,
  };
}

/** The name of the StatefulSet with the shards, or with their mirrors. */
export function ringName(storage: string, ring: Ring): string {
  return ring === "a" ? storage : `${storage}-${ring}`;
}

/** What the shards of a storage should be. */
export function layoutOf({ spec }: Storage): Layout {
  const { replicas: shards, weights = [], drained = [], mirrored: isMirrored } = spec;
  return layout({ shards, weights, drained, isMirrored });
}

/** The stored state of a change of shards. */
export function reshardingOf(
  stored: NonNullable<Storage["status"]>["resharding"] | undefined,
): Resharding | undefined {
  if (!stored) return undefined;
  const { phase } = stored;
  const to = storedLayout(stored.layout?.to, stored.to);
  if (phase === "Stable") return { phase, at: to };
  const from = storedLayout(stored.layout?.from, stored.from);
  if (phase === "Starting" || phase === "Copying")
    return { phase, from, to, since: Date.parse(stored.since) };
  return { phase, from, to };
}

/** A layout as it is written, or one that its number of shards describes in full. */
function storedLayout(text: string | undefined, shards: number): Layout {
  return (text === undefined ? undefined : parseLayout(text)) ?? layout({ shards });
}

/**
 * The frontend through which a scheduler reads actions. A change of it restarts the scheduler: so
 * it stays the one in use while that is there, and moves only to one that is ready.
 *
 * @throws SetFault
 */
export function frontendOf({ name, frontends }: BuildbarnSet, { status }: Scheduler): Frontend {
  const [first] = frontends;
  if (!first)
    throw new SetFault("MissingReference", `no BuildbarnFrontend has spec.cluster ${JSON.stringify(name)}`);
  const inUse = status?.frontend;
  const found =
    frontends.find(({ metadata }) => metadata.name === inUse) ??
    frontends.find((frontend) => frontend.status?.state === "Ready") ??
    // None of a new set is ready yet.
    (inUse === undefined ? first : undefined);
  if (!found)
    throw new SetFault(
      "MissingReference",
      `BuildbarnFrontend ${inUse} is gone, and none of ${frontends.map(({ metadata }) => metadata.name).join(", ")} is ready yet`,
    );
  return found;
}

/** Where a scheduler reads actions. @throws SetFault */
export function frontendAddress(set: BuildbarnSet, scheduler: Scheduler): string {
  const frontend = frontendOf(set, scheduler);
  const { name } = frontend.metadata;
  return hasInternalWay(set, frontend)
    ? `${internalName(name)}:${ports.frontendInternal}`
    : `${name}:${ports.frontend}`;
}

/** Whether a frontend makes a difference between those who use it, or shows a certificate. */
export function isGuarded({ spec }: Frontend): boolean {
  return spec.tls !== undefined || spec.authentication !== undefined || spec.authorization !== undefined;
}

/** Whether a frontend has a second port, for the scheduler of its set and the operator. */
export function hasInternalWay({ storages: [storage] }: BuildbarnSet, frontend: Frontend): boolean {
  return isGuarded(frontend) || storage?.spec.internalTls !== undefined;
}

/** The Service by which the scheduler of the set reaches a frontend that is guarded. */
export function internalName(frontend: string): string {
  return `${frontend}-internal`;
}

/** Where a frontend sends actions. @throws SetFault */
export function schedulerRoutes({ name, schedulers }: BuildbarnSet): readonly SchedulerRoute[] {
  if (schedulers.length === 0)
    throw new SetFault("MissingReference", `no BuildbarnScheduler has spec.cluster ${JSON.stringify(name)}`);
  const byPrefix = Map.groupBy(schedulers, ({ spec }) => spec.instanceNamePrefix);
  for (const [prefix, all] of byPrefix)
    if (all.length > 1)
      throw new SetFault(
        "Ambiguous",
        `these BuildbarnSchedulers have spec.instanceNamePrefix ${JSON.stringify(prefix)}: ${all.map(({ metadata }) => metadata.name).join(", ")}`,
      );
  return schedulers.map(({ metadata, spec }) => ({
    instanceNamePrefix: spec.instanceNamePrefix,
    address: `${metadata.name}:${ports.schedulerClients}`,
  }));
}

/** Whether a prefix covers an instance name. */
function covers(prefix: string, name: string): boolean {
  return prefix === "" || prefix === name || name.startsWith(`${prefix}/`);
}

/**
 * The scheduler whose actions a worker runs: of those that its instance name falls under, the most
 * particular.
 *
 * @throws SetFault
 */
export function schedulerOf({ name, schedulers }: BuildbarnSet, worker: Worker): Scheduler {
  const { instanceNamePrefix } = worker.spec;
  const [found] = schedulers
    .filter(({ spec }) => covers(spec.instanceNamePrefix, instanceNamePrefix))
    .toSorted((a, b) => b.spec.instanceNamePrefix.length - a.spec.instanceNamePrefix.length);
  if (!found)
    throw new SetFault(
      "MissingReference",
      `no BuildbarnScheduler with spec.cluster ${JSON.stringify(name)} takes actions of the instance name ${JSON.stringify(instanceNamePrefix)}`,
    );
  return found;
}

/** The platform of a worker: what actions must ask for. */
export function platformOf({ spec }: Worker): readonly PlatformProperty[] {
  return (
    spec.platform ?? [
      { name: "OSFamily", value: "linux" },
      { name: "container-image", value: `docker://${spec.runnerImage}` },
    ]
  );
}

/**
 * The queues of a scheduler: one for each platform of its workers, so that actions wait while there
 * are none.
 *
 * @throws SetFault
 */
export function platformQueues(set: BuildbarnSet, scheduler: Scheduler): readonly PlatformQueue[] {
  const own = set.workers.filter((worker) => takesFrom(set, scheduler, worker));
  return [...Map.groupBy(own, queueKey)]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([, workers]) => {
      const [first] = workers;
      if (!first) return [];
      const { instanceNamePrefix } = first.spec;
      return [{ instanceNamePrefix, platform: platformOf(first), sizeClasses: sizeClassesOf(workers) }];
    });
}

/**
 * Checks the size class of a worker against those of the other workers of its queue.
 *
 * @throws SetFault
 */
export function checkSizeClass(set: BuildbarnSet, worker: Worker): void {
  sizeClassesOf(set.workers.filter((one) => queueKey(one) === queueKey(worker)));
}

/** Whether a worker runs actions of this scheduler. */
function takesFrom(set: BuildbarnSet, scheduler: Scheduler, worker: Worker): boolean {
  try {
    return schedulerOf(set, worker).metadata.name === scheduler.metadata.name;
  } catch (error) {
    if (error instanceof SetFault) return false;
    throw error;
  }
}

/** The same for all workers that take actions from one queue. */
function queueKey(worker: Worker): string {
  return JSON.stringify([worker.spec.instanceNamePrefix, sorted(platformOf(worker))]);
}

/**
 * The size classes of one queue, in ascending order.
 *
 * @throws SetFault if there are several and one is 0: present releases of bb_scheduler do not start
 *   with such a queue.
 */
function sizeClassesOf(workers: readonly Worker[]): readonly number[] {
  const classes = [...new Set(workers.map(({ spec }) => spec.sizeClass))].toSorted((a, b) => a - b);
  if (classes.length > 1 && classes[0] === 0) {
    const names = (all: readonly Worker[]) => all.map(({ metadata }) => metadata.name).join(", ");
    const [unsized, sized] = [
      workers.filter(({ spec }) => spec.sizeClass === 0),
      workers.filter(({ spec }) => spec.sizeClass !== 0),
    ];
    throw new SetFault(
      "SizeClassInvalid",
      `spec.sizeClass of BuildbarnWorker ${names(unsized)} is 0, and must be above 0 beside BuildbarnWorker ${names(sized)} with the same platform and another size class`,
    );
  }
  return classes;
}

/**
 * Where links to actions lead. Empty where there is no browser. Another address restarts the
 * scheduler and the workers: so it is that of the oldest browser, whichever are added.
 */
export function browserUrl({ namespace, browsers }: BuildbarnSet): string {
  const [browser] = browsers.toSorted((a, b) => createdAt(a) - createdAt(b));
  if (!browser) return "";
  const { ingressHost, ingress } = browser.spec;
  if (ingressHost === undefined) return `http://${browser.metadata.name}.${namespace}.svc:${ports.browser}`;
  return `${ingress.tlsSecretName === undefined ? "http" : "https"}://${ingressHost}`;
}

function createdAt({ metadata: { creationTimestamp } }: Browser): number {
  return creationTimestamp === undefined ? 0 : Date.parse(creationTimestamp);
}
