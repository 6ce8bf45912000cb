import type { Json, JsonObject } from "../json.ts";
import type { Schema } from "../schema/schema.ts";
import { type Steps, turnIf, waitFor } from "../steps.ts";
import { appliedFields } from "./applied-fields.ts";
import { type Comparison, compare, compareInSteps } from "./compare.ts";
import { EMPTY_SET, FieldSet } from "./field-set.ts";
import { type ManagedEntry, type Managers, withFields } from "./managed-fields.ts";
import { mergeValues } from "./merge-values.ts";
import { fieldElement } from "./path-element.ts";
import { removeFields } from "./remove-fields.ts";
import { reconcileWithSchema, withNamedParents } from "./schema-changes.ts";
import { rootType, type Type } from "./typed.ts";
import { faultsOf } from "./validate.ts";

/**
 * Converts an object to another version of its kind; a promise where a webhook does it. Undefined
 * when there is no such version: entries of that version are then dropped. Fails with {@link
 * ConversionError} when the conversion itself fails, as the real server does for a custom resource
 * and a version that its definition does not have: an update then drops all entries, an apply
 * fails.
 */
export type Convert = (
  object: JsonObject,
  apiVersion: string,
) => JsonObject | undefined | Promise<JsonObject>;

/** An object cannot be converted to the version of one of its managers. */
export class ConversionError extends Error {
  override readonly name = "ConversionError";
}

/** Everything about an object that a write does not change. */
export interface Subject {
  readonly apiVersion: string;
  readonly schema: Schema;
  readonly convert?: Convert | undefined;
  readonly schemaFor?: ((apiVersion: string) => Schema | undefined) | undefined;
  /** Fields the endpoint does not write, nor lets anyone own through it. */
  readonly reset: FieldSet;
  /** Whether the event loop gets a turn between two passes over the object. */
  readonly isSlow?: boolean | undefined;
}

export function resetSet(paths: readonly (readonly string[])[] | undefined): FieldSet {
  return FieldSet.of(...(paths ?? []).map((path) => path.map(fieldElement)));
}

/** The fields of an object that another manager owns and a write would change. */
export type Conflicts = ReadonlyMap<string, { readonly entry: ManagedEntry; readonly fields: FieldSet }>;

interface Versioned {
  readonly object: JsonObject;
  readonly type: Type;
}

function typeIn(subject: Subject, apiVersion: string): Type {
  if (apiVersion === subject.apiVersion) return rootType(subject.schema);
  return rootType(subject.schemaFor?.(apiVersion) ?? subject.schema);
}

/**
 * The object in another version, or undefined when that version was removed.
 *
 * @throws ConversionError where its schema lacks what the object has
 */
function* inVersion(
  subject: Subject,
  object: JsonObject,
  { from = subject.apiVersion, to }: { from?: string; to: string },
): Steps<Versioned | undefined> {
  const type = typeIn(subject, to);
  if (from === to) return { object, type };
  const conversion = subject.convert?.(object, to);
  const converted = conversion instanceof Promise ? yield* waitFor(conversion) : conversion;
  if (converted === undefined) return undefined;
  const faults = faultsOf(converted, type, "allowed");
  if (faults !== undefined) throw new ConversionError(faults);
  return { object: converted, type };
}

/** Drops managers of versions that no longer exist, and follows changes of the schema. */
export function* reconcileManagers(subject: Subject, live: JsonObject, managers: Managers): Steps<Managers> {
  const result = new Map<string, ManagedEntry>();
  for (const [id, entry] of managers) {
    const versioned = yield* inVersion(subject, live, { to: entry.apiVersion });
    if (versioned === undefined) continue;
    const fields = reconcileWithSchema(entry.fields, versioned.type);
    yield* turnIf(subject.isSlow);
    result.set(id, fields === entry.fields ? entry : withFields(entry, fields));
  }
  return result;
}

/** What a write did to the object, and whom it concerns. */
export interface Effect {
  readonly comparison: Comparison;
  readonly conflicts: Conflicts;
  /**
   * Everybody's entries once the changed and removed fields have left them. The writer's own is not
   * touched.
   */
  readonly managers: Managers;
}

/**
 * Compares before and after in each manager's version, and works out what the write takes from
 * whom.
 */
export function* effectOf(
  subject: Subject,
  live: JsonObject,
  next: JsonObject,
  managers: Managers,
  writer: string | undefined,
): Steps<Effect> {
  const type = rootType(subject.schema);
  const comparison = subject.isSlow ? yield* compareInSteps(live, next, type) : compare(live, next, type);
  yield* turnIf(subject.isSlow);
  const versions = new Map<string, Comparison>([[subject.apiVersion, without(comparison, subject.reset)]]);
  const conflicts = new Map<string, { entry: ManagedEntry; fields: FieldSet }>();
  const result = new Map<string, ManagedEntry>();
  for (const [id, entry] of managers) {
    if (id === writer) {
      result.set(id, entry);
      continue;
    }
    const seen = versions.get(entry.apiVersion) ?? (yield* compareIn(subject, live, next, entry.apiVersion));
    if (seen === undefined) continue;
    versions.set(entry.apiVersion, seen);
    const contested = entry.fields.intersection(seen.modified.union(seen.added));
    if (!contested.empty) conflicts.set(id, { entry, fields: contested });
    yield* turnIf(subject.isSlow);
    const left = entry.fields.difference(contested).difference(seen.removed);
    if (!left.empty) result.set(id, left === entry.fields ? entry : withFields(entry, left));
  }
  return { comparison, conflicts, managers: result };
}

function* compareIn(
  subject: Subject,
  live: JsonObject,
  next: JsonObject,
  apiVersion: string,
): Steps<Comparison | undefined> {
  const before = yield* inVersion(subject, live, { to: apiVersion });
  const after = yield* inVersion(subject, next, { to: apiVersion });
  if (!before || !after) return undefined;
  const comparison = subject.isSlow
    ? yield* compareInSteps(before.object, after.object, before.type)
    : compare(before.object, after.object, before.type);
  return without(comparison, subject.reset);
}

function without({ added, removed, modified }: Comparison, reset: FieldSet): Comparison {
  return {
    added: added.recursiveDifference(reset),
    removed: removed.recursiveDifference(reset),
    modified: modified.recursiveDifference(reset),
  };
}

/**
 * Live object and configuration merged, less what the applier held before, no longer claims, and
 * no other manager holds. An applier that gives nothing up, by far the usual case, costs no
 * pruning.
 */
export function* mergeAndPrune(
  subject: Subject,
  live: JsonObject,
  config: JsonObject,
  managers: Managers,
  { last, claimed }: { last: ManagedEntry | undefined; claimed: FieldSet },
): Steps<JsonObject> {
  const merged = mergeValues(live, config, rootType(subject.schema)) as JsonObject;
  yield* turnIf(subject.isSlow);
  if (last === undefined || last.fields.difference(claimed).empty) return merged;
  const old = yield* inVersion(subject, merged, { to: last.apiVersion });
  if (old === undefined) return merged;
  const pruned = asObject(removeFields(old.object, withNamedParents(last.fields, old.type), old.type));
  yield* turnIf(subject.isSlow);
  const kept = yield* keepOwned(subject, old.object, pruned, last.apiVersion, managers);
  yield* turnIf(subject.isSlow);
  const final = keepUnclaimed(old, kept, last.fields);
  yield* turnIf(subject.isSlow);
  const back = yield* inVersion(subject, final, { from: last.apiVersion, to: subject.apiVersion });
  return back?.object ?? merged;
}

/** Puts back what pruning took but some manager owns, version by version, the pruned one first. */
function* keepOwned(
  subject: Subject,
  merged: JsonObject,
  pruned: JsonObject,
  version: string,
  managers: Managers,
): Steps<JsonObject> {
  const owned = new Map<string, FieldSet>();
  for (const { apiVersion, fields } of managers.values()) {
    owned.set(apiVersion, (owned.get(apiVersion) ?? EMPTY_SET).union(fields));
  }
  let result = pruned;
  for (const apiVersion of [version, ...[...owned.keys()].filter((other) => other !== version)]) {
    const fields = owned.get(apiVersion);
    if (fields === undefined) continue;
    const whole = yield* inVersion(subject, merged, { from: version, to: apiVersion });
    const part = yield* inVersion(subject, result, { from: version, to: apiVersion });
    if (whole === undefined || part === undefined) continue;
    const present = withNamedParents(appliedFields(whole.object, whole.type), whole.type);
    yield* turnIf(subject.isSlow);
    const left = withNamedParents(appliedFields(part.object, whole.type), whole.type);
    yield* turnIf(subject.isSlow);
    const held = withNamedParents(fields, whole.type);
    const restored = asObject(removeFields(whole.object, present.difference(left.union(held)), whole.type));
    const back = yield* inVersion(subject, restored, { from: apiVersion, to: version });
    result = back?.object ?? result;
  }
  return result;
}

/**
 * Of what is still missing, only fields that the applier owned before are removed: the rest had no
 * owner.
 */
function keepUnclaimed(merged: Versioned, pruned: JsonObject, last: FieldSet): JsonObject {
  const { object, type } = merged;
  const present = withNamedParents(appliedFields(object, type), type);
  const left = withNamedParents(appliedFields(pruned, type), type);
  const gone = present.difference(left).intersection(withNamedParents(last, type));
  return asObject(removeFields(object, gone, type));
}

function asObject(value: Json): JsonObject {
  return value === null ? {} : (value as JsonObject);
}
