import type { KubernetesObject } from "@windlass/client";
import type { CacheEvent } from "../cache/contract.ts";
import { canonical } from "../reconcile/json.ts";
import type { Bivariant } from "./bivariant.ts";

/**
 * Whether a change is worth a reconcile. Predicates save work, not memory: what they reject is
 * cached anyway.
 */
export type Predicate<T extends KubernetesObject = KubernetesObject> = Bivariant<
  [change: CacheEvent<T>],
  boolean
>;

type Part = (object: KubernetesObject) => unknown;

/**
 * Passes additions and deletions, and those updates that change the part of the object that is
 * looked at.
 */
function whenChanged(part: Part): Predicate {
  return (change) =>
    change.type !== "updated" || canonical(part(change.old)) !== canonical(part(change.object));
}

/**
 * The generation moved: the spec changed. Status updates do not move it. Kinds whose server keeps
 * no generation (ConfigMap, Secret) pass on every change.
 */
export const generationChanged: Predicate = (change) =>
  change.type !== "updated" ||
  change.object.metadata.generation === undefined ||
  change.object.metadata.generation !== change.old.metadata.generation;

/** Labels changed. */
export const labelsChanged: Predicate = whenChanged((object) => object.metadata.labels ?? {});

/** Annotations changed. */
export const annotationsChanged: Predicate = whenChanged((object) => object.metadata.annotations ?? {});

/** Finalizers changed. */
export const finalizersChanged: Predicate = whenChanged((object) => object.metadata.finalizers ?? []);

/** Deletion was asked for. */
export const deletionRequested: Predicate = (change) =>
  change.type !== "updated" ||
  change.object.metadata.deletionTimestamp !== change.old.metadata.deletionTimestamp;

/** Anything at all changed. */
export const resourceVersionChanged: Predicate = (change) =>
  change.type !== "updated" || change.object.metadata.resourceVersion !== change.old.metadata.resourceVersion;

/** Passes what any of the predicates passes. */
export function anyOf<T extends KubernetesObject>(...predicates: readonly Predicate<T>[]): Predicate<T> {
  return (change) => predicates.some((predicate) => predicate(change));
}

/** Passes what all of the predicates pass. */
export function allOf<T extends KubernetesObject>(...predicates: readonly Predicate<T>[]): Predicate<T> {
  return (change) => predicates.every((predicate) => predicate(change));
}

/** Passes what the predicate does not. */
export function not<T extends KubernetesObject>(predicate: Predicate<T>): Predicate<T> {
  return (change) => !predicate(change);
}

/**
 * What a person or another controller can want of an object changed: spec, labels, annotations,
 * finalizers, deletion. A pure status update, most often the controller's own, does not count. The
 * default for a controller's own kind.
 */
export const intentChanged: Predicate = anyOf(
  generationChanged,
  deletionRequested,
  labelsChanged,
  annotationsChanged,
  finalizersChanged,
);
