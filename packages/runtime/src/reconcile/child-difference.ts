import type { KubernetesObject } from "@windlass/client";
import type { WantedChild } from "./child.ts";
import type { SeenVersion } from "./child-memory.ts";
import { type Deviations, deviations, type IsSame, notCached } from "./compare.ts";
import type { LiveChild } from "./live-child.ts";
import type { SchemaView } from "./schema-facts.ts";
import { appliedAnnotation } from "./standing.ts";

/** Where an apply would change something. */
export function compareChild(
  { object, owned }: Pick<WantedChild, "object" | "owned">,
  { object: live, owned: fieldsOwned }: LiveChild,
  isSame: IsSame,
  schema: SchemaView,
): Deviations {
  const { apiVersion: _apiVersion, kind: _kind, metadata, ...content } = object;
  const { name: _name, namespace: _namespace, ...tracked } = metadata;
  return deviations({
    wanted: { ...content, metadata: tracked },
    fields: fieldsOwned()?.fields ?? {},
    live: owned.metadataOnly ? partly(content, live) : live,
    isSame,
    schema,
  });
}

/**
 * Whether no more than the status has changed: the spec has the same generation, and nobody has
 * taken a field of ours.
 */
export function isSameSpec(before: SeenVersion, after: SeenVersion): boolean {
  const { generation, owners } = after;
  if (generation === undefined || owners === undefined) return false;
  return generation === before.generation && owners === before.owners;
}

/**
 * Whether labels and annotations are as wanted, and nothing else of the metadata is wanted in an
 * order. A program with our field manager can change their values, and any program the order,
 * without a new generation and without taking a field.
 */
export function hasWantedMetadata(
  { metadata: wanted }: KubernetesObject,
  { metadata }: KubernetesObject,
): boolean {
  const { finalizers, ownerReferences } = wanted;
  return (
    (finalizers?.length ?? 0) <= 1 &&
    (ownerReferences?.length ?? 0) <= 1 &&
    hasValues(metadata.labels, wanted.labels) &&
    hasValues(metadata.annotations, wanted.annotations)
  );
}

function hasValues(
  live: Readonly<Record<string, string>> = {},
  wanted: Readonly<Record<string, string>> = {},
): boolean {
  return Object.entries(wanted).every(([name, value]) => live[name] === value);
}

/**
 * The paths that differ; our own annotation, which always does when something else is wanted, only
 * if there is no other.
 */
export function reasons(found: Deviations): readonly string[] {
  const own = `metadata.annotations.${appliedAnnotation}`;
  const others = [...found.keys()].filter((path) => path !== own);
  return others.length === 0 && found.size > 0 ? [own] : others;
}

/** The live object, of which the cache holds no more than the metadata. */
function partly(content: object, { metadata }: KubernetesObject): object {
  return { ...Object.fromEntries(Object.keys(content).map((key) => [key, notCached])), metadata };
}
