import type { JsonObject } from "../json.ts";
import { FieldSet } from "./field-set.ts";
import {
  decodeManagers,
  type ManagedEntry,
  type Managers,
  managedFieldsOf,
  withManagers,
} from "./managed-fields.ts";
import { fieldElement } from "./path-element.ts";

/** Where an object keeps the replicas that its Scale shows. */
export interface ScaledObject {
  readonly object: JsonObject;
  /** The version that the Scale is asked of. */
  readonly apiVersion: string;
  /** The names of the fields down to the replicas. */
  readonly replicas: readonly string[];
  /** Whether the kind has a version: entries of others are dropped. @default it has all */
  readonly hasVersion?: (apiVersion: string) => boolean;
}

const scaleVersion = "autoscaling/v1";
const scalePath = [fieldElement("spec"), fieldElement("replicas")];
const scaleReplicas = FieldSet.of(scalePath);

/** The Scale of an object with its owners: those who own the object's replicas. */
export function withScaleManagers(
  scale: JsonObject,
  { object, replicas, hasVersion }: ScaledObject,
): JsonObject {
  const path = replicas.map(fieldElement);
  const owners = [...managersOf(object)]
    .filter(([, { fields, apiVersion }]) => fields.has(path) && hasVersion?.(apiVersion) !== false)
    .map(([id, entry]): [string, ManagedEntry] => [
      id,
      { ...entry, apiVersion: scaleVersion, fields: scaleReplicas },
    ]);
  return withManagers(scale, new Map(owners));
}

/**
 * The object with the owners that its Scale has after a write. The manager that owns the replicas
 * through the Scale owns them in an entry of its own, which has no time: that is how the real
 * server leaves it.
 */
export function withScaledManagers(scale: JsonObject, scaled: ScaledObject): JsonObject {
  const path = scaled.replicas.map(fieldElement);
  const own = FieldSet.of(path);
  const owners = new Map(managersOf(scale));
  const managers = new Map<string, ManagedEntry>();
  for (const [id, entry] of managersOf(scaled.object)) {
    if (scaled.hasVersion?.(entry.apiVersion) === false) continue;
    const isHeld = entry.fields.has(path);
    if (!isHeld || owners.has(id)) {
      managers.set(id, entry);
      if (isHeld) owners.delete(id);
      continue;
    }
    const left = entry.fields.difference(own);
    if (!left.empty) managers.set(id, { ...entry, fields: left });
  }
  for (const [id, entry] of owners) {
    if (!entry.fields.has(scalePath)) continue;
    managers.set(id, { ...entry, apiVersion: scaled.apiVersion, time: undefined, fields: own });
  }
  return withManagers(scaled.object, managers);
}

function managersOf(object: JsonObject): Managers {
  return decodeManagers(managedFieldsOf(object)) ?? new Map<string, ManagedEntry>();
}
