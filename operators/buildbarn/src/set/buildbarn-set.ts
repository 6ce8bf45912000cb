import type { CacheReader, MapContext, ObjectKey, ObjectOf } from "@windlass/runtime";
import { isObjectOf, watch } from "@windlass/runtime";
import { type Browser, BuildbarnBrowser } from "../browser/browser.ts";
import { BuildbarnFrontend, type Frontend } from "../frontend/frontend.ts";
import { BuildbarnScheduler, type Scheduler } from "../scheduler/scheduler.ts";
import { BuildbarnStorage, type Storage } from "../storage/storage.ts";
import { BuildbarnWorker, type Worker } from "../worker/worker.ts";

/**
 * The components of a namespace that belong together: those with the same `spec.cluster`, each by
 * name.
 */
export interface BuildbarnSet {
  readonly namespace: string;
  readonly name: string;
  readonly storages: readonly Storage[];
  readonly schedulers: readonly Scheduler[];
  readonly frontends: readonly Frontend[];
  /** With those that are being deleted: until they are gone, they end their actions. */
  readonly workers: readonly Worker[];
  readonly browsers: readonly Browser[];
  /**
   * The authorities that its components trust, if they use TLS among themselves and the ConfigMap
   * with them is there.
   */
  readonly authorities?: string | undefined;
}

/** The kinds of components. */
export type ComponentKind =
  | typeof BuildbarnStorage
  | typeof BuildbarnScheduler
  | typeof BuildbarnFrontend
  | typeof BuildbarnWorker
  | typeof BuildbarnBrowser;

/** All of them. */
export const componentKinds = [
  BuildbarnStorage,
  BuildbarnScheduler,
  BuildbarnFrontend,
  BuildbarnWorker,
  BuildbarnBrowser,
] as const satisfies readonly ComponentKind[];

/** A component of any kind. */
export type ComponentObject = Storage | Scheduler | Frontend | Worker | Browser;

/**
 * The set that a component belongs to, as the cache has it. Components that are being deleted are
 * no longer part of it, except for workers: their scheduler would restart in the middle of what
 * they run.
 */
export function setOf(
  cache: CacheReader<ComponentKind>,
  { metadata: { namespace }, spec: { cluster } }: ComponentObject,
): BuildbarnSet {
  return setFrom(namespace, cluster, (kind) => cache.list(kind, { namespace }));
}

/** Whether an object is a component, by its kind. */
export function isComponent(object: unknown): object is ComponentObject {
  return componentKinds.some((kind) => isObjectOf(kind, object));
}

/** The set of a name, from all components of its namespace. */
export function setFrom(
  namespace: string,
  name: string,
  list: <K extends ComponentKind>(kind: K) => readonly ObjectOf<K>[],
): BuildbarnSet {
  const members = <T extends ComponentObject>(all: readonly T[]): readonly T[] =>
    all
      .filter(({ spec }) => spec.cluster === name)
      .toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
  const staying = <T extends ComponentObject>(all: readonly T[]): readonly T[] =>
    members(all).filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  return {
    namespace,
    name,
    storages: staying(list(BuildbarnStorage)),
    schedulers: staying(list(BuildbarnScheduler)),
    frontends: staying(list(BuildbarnFrontend)),
    workers: members(list(BuildbarnWorker)),
    browsers: staying(list(BuildbarnBrowser)),
  };
}

/** Has every change of a component reconcile the components of one kind in the same set. */
export function watchSet(kind: ComponentKind) {
  const toMembers = (
    { metadata: { namespace }, spec: { cluster } }: ComponentObject,
    { cache }: MapContext,
  ): readonly ObjectKey[] =>
    cache
      .list<ComponentKind>(kind, { namespace })
      .filter(({ spec }) => spec.cluster === cluster)
      .map(({ metadata }) => ({ namespace, name: metadata.name }));
  return [
    watch(BuildbarnStorage, toMembers),
    watch(BuildbarnScheduler, toMembers),
    watch(BuildbarnFrontend, toMembers),
    watch(BuildbarnWorker, toMembers),
    watch(BuildbarnBrowser, toMembers),
  ] as const;
}
