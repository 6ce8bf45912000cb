import { equal, isObject, type JsonObject } from "../json.ts";
import { badRequest, StatusError } from "../status.ts";
import { finishNow, type Steps, turnIf } from "../steps.ts";
import { appliedFields } from "./applied-fields.ts";
import { EMPTY_SET, type FieldSet } from "./field-set.ts";
import { ordered } from "./fields-v1.ts";
import { lastAppliedFields, syncLastApplied } from "./last-applied.ts";
import {
  compareText,
  decodeManagers,
  identityOf,
  type ManagedEntry,
  type Managers,
  managedFieldsOf,
  withManagers,
} from "./managed-fields.ts";
import { elementText, type PathElement } from "./path-element.ts";
import { get } from "./plain.ts";
import { stripped, updateManagers, type WriteContext, withoutManagedFields } from "./track-update.ts";
import { rootType } from "./typed.ts";
import {
  type Conflicts,
  ConversionError,
  effectOf,
  mergeAndPrune,
  reconcileManagers,
  resetSet,
  type Subject,
} from "./updater.ts";
import { faultsInSteps, faultsOf } from "./validate.ts";

export interface ServerSideApply extends WriteContext {
  /** The object as stored. Absent when the apply creates it. */
  live?: JsonObject | undefined;
  /** Its entries, where they have been read already. @default read from it */
  before?: Managers | undefined;
  /** What the manager wants: only the fields it has an opinion on. */
  config: JsonObject;
  /** Take over fields that other managers own with other values, instead of failing. */
  force: boolean;
}

/** The manager under which fields are filed that were written before anybody tracked them. */
const BEFORE_FIRST_APPLY = "before-first-apply";

/**
 * Merges a configuration into the live object as its manager's whole intent: fields it no longer
 * has, and that no other manager owns, are removed. Returns the merged object with its
 * managedFields; the arguments are not changed. For kinds that no webhook converts; {@link
 * mergeApplied} can wait for one.
 *
 * Where the removal empties something that is not itself removed, null is left in its place, for
 * decoding to drop.
 *
 * @throws {StatusError} 409 when another manager owns a field that would change and `force` is not
 *   set; 400 for the wrong version or managedFields in the configuration; 500 for a configuration
 *   that does not fit the schema.
 */
export function serverSideApply(apply: ServerSideApply): JsonObject {
  const { object, managers } = finishNow(mergeApplied(apply));
  return withManagers(object, managers);
}

/** The result of an apply: the merged object and the owners of its fields. */
export interface Applied {
  readonly object: JsonObject;
  readonly managers: Managers;
}

/**
 * Merges like {@link serverSideApply}, and leaves it to the caller to write the managers into the
 * object.
 */
export function* mergeApplied(apply: ServerSideApply): Steps<Applied> {
  checkConfig(apply);
  const stored = apply.live ?? apply.empty ?? {};
  const live = withoutManagedFields(stored);
  const before = apply.before ?? decodeManagers(managedFieldsOf(apply.live));
  if (before === undefined) throw failed("failed to decode managed fields");
  const known = before.size > 0 ? before : yield* fileUntracked(apply, live);
  const { object, managers } = yield* mergeOrFail(apply, live, known);
  const synced = apply.manager === "kubectl" ? syncLastApplied(object, apply.config) : object;
  return { object: synced, managers };
}

function* fileUntracked(apply: ServerSideApply, live: JsonObject): Steps<Managers> {
  return yield* updateManagers(
    { ...apply, manager: BEFORE_FIRST_APPLY, live: apply.empty ?? {}, next: live },
    new Map(),
  );
}

function* mergeOrFail(apply: ServerSideApply, live: JsonObject, before: Managers): Steps<Applied> {
  try {
    return yield* mergeFor(apply, live, before);
  } catch (error) {
    if (error instanceof ConversionError) throw failed(error.message);
    throw error;
  }
}

function* mergeFor(apply: ServerSideApply, live: JsonObject, before: Managers): Steps<Applied> {
  const subject: Subject = { ...apply, reset: resetSet(apply.resetFields) };
  const type = rootType(apply.schema);
  const faults = apply.isSlow
    ? yield* faultsInSteps(apply.config, type, "refused")
    : faultsOf(apply.config, type, "refused");
  if (faults !== undefined)
    throw failed(`failed to create typed patch object (${describe(apply.config)}): ${faults}`);
  yield* turnIf(apply.isSlow);
  const liveFaults = apply.isSlow
    ? yield* faultsInSteps(live, type, "allowed")
    : faultsOf(live, type, "allowed");
  if (liveFaults !== undefined)
    throw failed(`failed to create typed live object (${describe(live)}): ${liveFaults}`);

  yield* turnIf(apply.isSlow);
  const known = yield* reconcileManagers(subject, live, before);
  const identity = {
    manager: apply.manager,
    operation: "Apply" as const,
    apiVersion: apply.apiVersion,
    subresource: apply.subresource ?? "",
  };
  const id = identityOf(identity);
  const last = known.get(id);
  const claimed = appliedFields(apply.config, type).recursiveDifference(subject.reset);
  yield* turnIf(apply.isSlow);
  const entry: ManagedEntry = { ...identity, time: last?.time, fields: claimed };
  const claiming = new Map(known).set(id, entry);
  const object = yield* mergeAndPrune(subject, live, apply.config, claiming, {
    last: withoutReset(last, subject.reset),
    claimed,
  });
  const effect = yield* effectOf(subject, live, object, claiming, id);
  yield* turnIf(apply.isSlow);
  if (!apply.force) refuse(apply, live, effect.conflicts);

  const same = equal(live, object);
  yield* turnIf(apply.isSlow);
  const owned = stripped(claimed);
  const managers = new Map(effect.managers);
  if (owned.empty) managers.delete(id);
  else managers.set(id, { ...entry, fields: owned, time: same ? last?.time : apply.time });
  return { object: same ? live : object, managers };
}

function withoutReset(last: ManagedEntry | undefined, reset: FieldSet): ManagedEntry | undefined {
  return last === undefined ? undefined : { ...last, fields: last.fields.recursiveDifference(reset) };
}

/**
 * kubectl may take over what it owned as a client-side applier: its old annotation says which
 * fields those are.
 */
function refuse(apply: ServerSideApply, live: JsonObject, conflicts: Conflicts): void {
  if (conflicts.size === 0) return;
  const mine = apply.manager === "kubectl" ? lastAppliedFields(live, apply) : undefined;
  const left = [...conflicts]
    .map(([id, { entry, fields }]) => ({ id, entry, fields: fields.difference(mine ?? EMPTY_SET) }))
    .filter(({ fields }) => !fields.empty);
  if (left.length > 0) throw conflictError(left);
}

interface Contested {
  readonly id: string;
  readonly entry: ManagedEntry;
  readonly fields: FieldSet;
}

function conflictError(contested: readonly Contested[]): StatusError {
  const found = contested
    .toSorted((a, b) => compareText(a.id, b.id))
    .map(({ entry, fields }) => ({
      owner: ownerText(entry),
      paths: [...pathsInOrder(fields, "")],
    }));
  const causes = found.flatMap(({ owner, paths }) =>
    paths.map((field) => ({ reason: "FieldManagerConflict", message: `conflict with ${owner}`, field })),
  );
  const only = causes.length === 1 ? causes[0] : undefined;
  const list = found.map(
    ({ owner, paths }) => `conflicts with ${owner}:\n${paths.map((path) => `- ${path}`).join("\n")}`,
  );
  return new StatusError({
    code: 409,
    reason: "Conflict",
    message: only
      ? `Apply failed with 1 conflict: ${only.message}: ${only.field}`
      : `Apply failed with ${causes.length} conflicts: ${list.join("\n")}`,
    details: { causes },
  });
}

function ownerText({ manager, operation, apiVersion, subresource }: ManagedEntry): string {
  const name =
    JSON.stringify(manager) + (subresource === "" ? "" : ` with subresource ${JSON.stringify(subresource)}`);
  return operation === "Update" ? `${name} using ${apiVersion}` : name;
}

/** The members of a level before those below it, as the API server lists conflicts. */
function* pathsInOrder(set: FieldSet, prefix: string): Generator<string> {
  const nodes = [...ordered(set)];
  const text = (element: PathElement) => prefix + elementText(element);
  for (const [element, node] of nodes) if (node.member) yield text(element);
  for (const [element, node] of nodes) if (node.children) yield* pathsInOrder(node.children, text(element));
}

function checkConfig({ config, apiVersion }: ServerSideApply): void {
  const given = get(config, "apiVersion");
  if (given !== apiVersion) {
    const specified = typeof given === "string" ? given : "";
    throw badRequest(
      `Incorrect version specified in apply patch. Specified patch version: ${specified}, expected: ${apiVersion}`,
    );
  }
  const managed = managedFieldsOf(config);
  if (managed !== undefined && managed !== null) throw badRequest("metadata.managedFields must be nil");
}

/** How errors name an object: `namespace/name; group/version, Kind=Kind`. */
export function describe(object: JsonObject): string {
  const metadata = isObject(object.metadata) ? object.metadata : {};
  const text = (value: unknown) => (typeof value === "string" ? value : "");
  const apiVersion = text(object.apiVersion);
  const groupVersion = apiVersion.includes("/") ? apiVersion : `/${apiVersion}`;
  return `${text(metadata.namespace)}/${text(metadata.name)}; ${groupVersion}, Kind=${text(object.kind)}`;
}

/** The real server has no code for these faults and answers 500 with the bare message. */
function failed(message: string): StatusError {
  return new StatusError({ code: 500, message });
}
