import { equal, isObject, type Json, type JsonObject } from "../json.ts";
import type { Schema } from "../schema/schema.ts";
import { finishNow, type Steps, turnIf } from "../steps.ts";
import { everyField, everyFieldInSteps } from "./compare.ts";
import { EMPTY_SET, FieldSet } from "./field-set.ts";
import {
  compareText,
  decodeManagers,
  identityOf,
  type ManagedEntry,
  type Managers,
  managedFieldsOf,
  seconds,
  withFields,
  withManagers,
} from "./managed-fields.ts";
import { fieldElement } from "./path-element.ts";
import { put, shallow } from "./plain.ts";
import { rootType } from "./typed.ts";
import {
  ConversionError,
  type Convert,
  effectOf,
  reconcileManagers,
  resetSet,
  type Subject,
} from "./updater.ts";
import { faultsInSteps, faultsOf } from "./validate.ts";

/** What tracking must know of the object's kind and of the write. */
export interface WriteContext {
  schema: Schema;
  manager: string;
  apiVersion: string;
  /** Entries of a subresource are kept apart from those of the object itself. */
  subresource?: string | undefined;
  /** RFC 3339, whole seconds. */
  time: string;
  /**
   * Paths of field names that this endpoint does not write, for example `[["status"]]`: they are
   * never owned through it.
   */
  resetFields?: readonly (readonly string[])[] | undefined;
  /**
   * The object of this kind with nothing set, in the shape the server gives it: what a created
   * object is compared with. A field that is always there, such as an empty `spec`, is then
   * not owned. @default {}
   */
  empty?: JsonObject | undefined;
  /**
   * Turns an object into the version of another manager's entry.
   *
   * @default every other version is unknown, its entries dropped
   */
  convert?: Convert | undefined;
  /** The schema of another version. @default the same schema */
  schemaFor?: ((apiVersion: string) => Schema | undefined) | undefined;
  /** Whether the event loop gets a turn between two passes over the object. @default false */
  isSlow?: boolean | undefined;
}

export interface TrackedUpdate extends WriteContext {
  /** The object as stored before. Absent for a create. */
  live?: JsonObject | undefined;
  /** The object about to be stored. */
  next: JsonObject;
}

/** At most this many entries of updates; beyond it the oldest are merged into one. */
const MAX_UPDATERS = 10;

/**
 * Records who owns what after a create, an update or a patch: fields that changed or appeared
 * belong to the writer and leave everybody else, fields that vanished leave everybody. A write that
 * changes nothing changes no entry and no time.
 *
 * What `next` carries in `metadata.managedFields` replaces the entries of `live` when it can be
 * read; `[]` and `[{}]` remove all entries. (Of a custom resource the real server does not see
 * `[]`: the empty list is dropped by then.) Anything unreadable, and everything sent through a
 * subresource, is ignored. An object that exists and has no entries is not tracked again until
 * something is applied to it.
 *
 * Returns `next` with its managedFields, sharing the rest; the arguments are not changed. For kinds
 * that no webhook converts; {@link managersAfter} can wait for one.
 */
export function trackUpdate(update: TrackedUpdate): JsonObject {
  return withManagers(update.next, finishNow(managersAfter(update)));
}

/** Who owns what after a write, as {@link trackUpdate} records it. */
export function* managersAfter(update: TrackedUpdate): Steps<Managers> {
  const before = startingManagers(update);
  const live = update.live ?? update.empty ?? {};
  if (before.size === 0 && update.live !== undefined) return before;
  return yield* updateOrForget({ ...update, live }, before);
}

function* updateOrForget(update: TrackedUpdate & { live: JsonObject }, before: Managers): Steps<Managers> {
  try {
    return yield* updateManagers(update, before);
  } catch (error) {
    if (error instanceof ConversionError) return new Map();
    throw error;
  }
}

function startingManagers({ live, next, subresource }: TrackedUpdate): Managers {
  const stored = () => decodeManagers(managedFieldsOf(live)) ?? new Map<string, ManagedEntry>();
  if (subresource) return stored();
  const sent = managedFieldsOf(next);
  if (isReset(sent)) return new Map();
  const managers = decodeManagers(sent);
  return managers === undefined || managers.size === 0 ? stored() : managers;
}

function isReset(sent: Json | undefined): boolean {
  if (!Array.isArray(sent)) return false;
  return sent.length === 0 || (sent.length === 1 && isObject(sent[0]) && Object.keys(sent[0]).length === 0);
}

/** The entries after an update from `live` to `next`. */
export function* updateManagers(
  update: TrackedUpdate & { live: JsonObject },
  before: Managers,
): Steps<Managers> {
  const live = withoutManagedFields(update.live);
  const next = withoutManagedFields(update.next);
  const type = rootType(update.schema);
  const subject: Subject = { ...update, reset: resetSet(update.resetFields) };
  if (before.size === 0 && Object.keys(live).length === 0) {
    const every = update.isSlow ? yield* everyFieldInSteps(next, type) : everyField(next, type);
    return credit(before, update, stripped(every.recursiveDifference(subject.reset)));
  }
  for (const object of [next, live]) {
    const faults = update.isSlow
      ? yield* faultsInSteps(object, type, "allowed")
      : faultsOf(object, type, "allowed");
    if (faults !== undefined) return before;
    yield* turnIf(update.isSlow);
  }
  const known = yield* reconcileManagers(subject, live, before);
  const { comparison, managers } = yield* effectOf(subject, live, next, known, undefined);
  yield* turnIf(update.isSlow);
  const gained = comparison.modified.union(comparison.added).recursiveDifference(subject.reset);
  return capped(credit(managers, update, stripped(gained)));
}

function credit(managers: Managers, context: WriteContext, gained: FieldSet): Managers {
  if (gained.empty) return managers;
  const entry: ManagedEntry = {
    manager: context.manager,
    operation: "Update",
    apiVersion: context.apiVersion,
    subresource: context.subresource ?? "",
    time: context.time,
    fields: gained,
  };
  const id = identityOf(entry);
  const previous = managers.get(id)?.fields ?? EMPTY_SET;
  return new Map(managers).set(id, withFields(entry, gained.union(previous)));
}

const META = fieldElement("metadata");

/** Fields that say which object this is, or that the server alone writes: no manager owns them. */
const NOBODYS = FieldSet.of(
  [fieldElement("apiVersion")],
  [fieldElement("kind")],
  [META],
  ...[
    "name",
    "namespace",
    "creationTimestamp",
    "selfLink",
    "uid",
    "clusterName",
    "generation",
    "managedFields",
    "resourceVersion",
  ].map((name) => [META, fieldElement(name)]),
);

export function stripped(fields: FieldSet): FieldSet {
  return fields.difference(NOBODYS);
}

/** The object as it is compared: entries say who owns fields and are no field themselves. */
export function withoutManagedFields(object: JsonObject): JsonObject {
  const metadata = object.metadata;
  if (!isObject(metadata) || !Object.hasOwn(metadata, "managedFields")) return object;
  const bare = shallow(metadata);
  delete bare.managedFields;
  const result = shallow(object);
  put(result, "metadata", bare);
  return result;
}

/**
 * Merges the oldest update entries of a version into one called `ancient-changes` until there are
 * few enough.
 */
function capped(managers: Managers): Managers {
  const updaters = [...managers].filter(([, entry]) => entry.operation === "Update");
  if (updaters.length <= MAX_UPDATERS) return managers;
  updaters.sort(([aId, a], [bId, b]) => seconds(a.time) - seconds(b.time) || compareText(aId, bId));
  const result = new Map(managers);
  const firsts = new Map<string, string>();
  const merged = new Map<string, FieldSet[]>();
  let count = updaters.length;
  for (const [id, entry] of updaters) {
    if (count <= MAX_UPDATERS) break;
    const first = firsts.get(entry.apiVersion);
    if (first === undefined) {
      firsts.set(entry.apiVersion, id);
      continue;
    }
    const bucket: ManagedEntry = { ...entry, manager: "ancient-changes", subresource: "" };
    const bucketId = identityOf(bucket);
    const older = result.get(bucketId) ?? result.get(first);
    if (!result.has(bucketId)) result.delete(first);
    result.delete(id);
    const sets = merged.get(bucketId) ?? [older?.fields ?? EMPTY_SET];
    sets.push(entry.fields);
    merged.set(bucketId, sets);
    result.set(bucketId, bucket);
    count--;
  }
  for (const [id, sets] of merged) {
    result.set(id, withFields(result.get(id) as ManagedEntry, FieldSet.unionOf(sets)));
  }
  return result;
}

/**
 * Whether a write would store what is stored already: the two objects differ in nothing but the
 * times of their managedFields. Such a write is skipped, and the stored times stay.
 */
export function noOp(live: JsonObject, next: JsonObject): boolean {
  if (!equal(withoutManagedFields(live), withoutManagedFields(next))) return false;
  return equal(timeless(managedFieldsOf(live)), timeless(managedFieldsOf(next)));
}

function timeless(list: Json | undefined): Json {
  if (!Array.isArray(list)) return [];
  return list.map((item) => {
    if (!isObject(item)) return item;
    const { time: _, ...rest } = item;
    return rest;
  });
}
