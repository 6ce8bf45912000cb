import { isObject, type Json, type JsonObject } from "../json.ts";
import type { Steps } from "../steps.ts";
import type { FieldSet } from "./field-set.ts";
import { decodeFields, encodeFields, encodeInSteps } from "./fields-v1.ts";
import { get, put, shallow } from "./plain.ts";

/** Who wrote, how and when: what identifies an entry of `metadata.managedFields`. */
export interface ManagerIdentity {
  manager: string;
  operation: "Apply" | "Update";
  apiVersion: string;
  subresource?: string;
  /** RFC 3339, whole seconds. */
  time: string;
}

/** An entry with its fields read. */
export interface ManagedEntry {
  readonly manager: string;
  readonly operation: "Apply" | "Update";
  readonly apiVersion: string;
  readonly subresource: string;
  readonly time: string | undefined;
  readonly fields: FieldSet;
}

/**
 * Entries by identity: at most one entry per manager, operation, subresource and, for updates,
 * version.
 */
export type Managers = ReadonlyMap<string, ManagedEntry>;

/**
 * The version is no part of an applier's identity: whichever version it applies with next, it
 * replaces its entry.
 */
export function identityOf(entry: Omit<ManagedEntry, "fields" | "time">): string {
  const { manager, operation, apiVersion, subresource } = entry;
  return JSON.stringify({
    ...(manager === "" ? {} : { manager }),
    operation,
    ...(operation === "Apply" ? {} : { apiVersion }),
    ...(subresource === "" ? {} : { subresource }),
  });
}

export function withFields(entry: ManagedEntry, fields: FieldSet): ManagedEntry {
  return { ...entry, fields };
}

/** Undefined when the list is not a valid list of entries, in which case all of it is ignored. */
export function decodeManagers(list: Json | undefined): Managers | undefined {
  if (list === undefined || list === null) return new Map();
  if (!Array.isArray(list)) return undefined;
  const managers = new Map<string, ManagedEntry>();
  for (const item of list) {
    const entry = isObject(item) ? decodeEntry(item) : undefined;
    if (entry === undefined) return undefined;
    managers.set(identityOf(entry), entry);
  }
  return managers;
}

function decodeEntry(item: JsonObject): ManagedEntry | undefined {
  const operation = get(item, "operation");
  const apiVersion = text(get(item, "apiVersion"));
  if (operation !== "Apply" && operation !== "Update") return undefined;
  if (apiVersion === "" || get(item, "fieldsType") !== "FieldsV1") return undefined;
  const fields = decodeOr(get(item, "fieldsV1"));
  if (fields === undefined) return undefined;
  const time = text(get(item, "time"));
  return {
    manager: text(get(item, "manager")),
    operation,
    apiVersion,
    subresource: text(get(item, "subresource")),
    time: time === "" ? undefined : time,
    fields,
  };
}

function decodeOr(fields: Json | undefined): FieldSet | undefined {
  try {
    return decodeFields(fields ?? {});
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/**
 * The entries as `metadata.managedFields` lists them: appliers first, then by time, manager,
 * version and subresource.
 */
export function encodeManagers(managers: Managers): Json[] {
  return [...managers.values()].toSorted(byRank).map((entry) => entryOf(entry, encodeFields(entry.fields)));
}

function entryOf(entry: ManagedEntry, fieldsV1: JsonObject): JsonObject {
  return {
    manager: entry.manager,
    operation: entry.operation,
    apiVersion: entry.apiVersion,
    ...(entry.time === undefined ? {} : { time: entry.time }),
    fieldsType: "FieldsV1",
    fieldsV1,
    ...(entry.subresource === "" ? {} : { subresource: entry.subresource }),
  };
}

function byRank(a: ManagedEntry, b: ManagedEntry): number {
  return (
    compareText(a.operation, b.operation) ||
    seconds(a.time) - seconds(b.time) ||
    compareText(a.manager, b.manager) ||
    compareText(a.apiVersion, b.apiVersion) ||
    compareText(a.subresource, b.subresource)
  );
}

export function seconds(time: string | undefined): number {
  const at = time === undefined ? 0 : Math.floor(Date.parse(time) / 1000);
  return Number.isNaN(at) ? 0 : at;
}

export function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function text(value: Json | undefined): string {
  return typeof value === "string" ? value : "";
}

/** The object with its list of entries replaced, or taken out when there are none. */
export function withManagers(object: JsonObject, managers: Managers): JsonObject {
  return withEntries(object, encodeManagers(managers));
}

/** As {@link withManagers}, with turns of the event loop in between. */
export function* managersInSteps(object: JsonObject, managers: Managers): Steps<JsonObject> {
  const entries: Json[] = [];
  for (const entry of [...managers.values()].toSorted(byRank)) {
    entries.push(entryOf(entry, yield* encodeInSteps(entry.fields)));
  }
  return withEntries(object, entries);
}

function withEntries(object: JsonObject, entries: Json[]): JsonObject {
  const metadata = get(object, "metadata");
  if (entries.length === 0 && (!isObject(metadata) || !Object.hasOwn(metadata, "managedFields")))
    return object;
  const changed = isObject(metadata) ? shallow(metadata) : {};
  if (entries.length > 0) put(changed, "managedFields", entries);
  else delete changed.managedFields;
  const result = shallow(object);
  put(result, "metadata", changed);
  return result;
}

/** The entries as the object carries them, undecoded. */
export function managedFieldsOf(object: JsonObject | undefined): Json | undefined {
  const metadata = object === undefined ? undefined : get(object, "metadata");
  return isObject(metadata) ? get(metadata, "managedFields") : undefined;
}
