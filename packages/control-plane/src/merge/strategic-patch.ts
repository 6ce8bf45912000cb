import { equal, identityText, isLarge, isObject, type Json, type JsonObject } from "../json.ts";
import type { Schema } from "../schema/schema.ts";
import { badRequest, StatusError } from "../status.ts";
import { nextTurn, type Steps, TurnBudget, turnIf } from "../steps.ts";
import { arrange } from "./element-order.ts";
import { goText } from "./go-text.ts";
import { copy, get, put } from "./plain.ts";

const DIRECTIVE = "$patch";
const RETAIN_KEYS = "$retainKeys";
const DELETE_FROM_LIST = "$deleteFromPrimitiveList";
const ELEMENT_ORDER = "$setElementOrder";

/**
 * Applies a strategic merge patch: a merge patch in which the schema's `patchStrategy` and
 * `patchMergeKey` decide which lists are merged item by item, and in which the patch may carry
 * directives: `$patch`, `$retainKeys`, `$deleteFromPrimitiveList/<field>` and
 * `$setElementOrder/<field>`.
 *
 * Neither the document nor the patch is changed.
 *
 * @param nameOf what the type of a node is called, for complaints
 * @throws {StatusError} 400 for a directive of the wrong shape, 422 for an unknown one, and 500
 *   where the real server answers so: an item without its merge key, or an order that leaves out
 *   items of the patch.
 */
export function* applyStrategicMergePatch(
  document: JsonObject,
  patch: JsonObject,
  schema: Schema,
  nameOf: (schema: Schema) => string | undefined = () => undefined,
): Steps<JsonObject> {
  const isSlow = isLarge(patch) || isLarge(document);
  const [original, change] = [copy(document), copy(patch)];
  yield* turnIf(isSlow);
  const budget = new TurnBudget(itemsPerTurn);
  return yield* mergeMap(original, change, schema, { nameOf, budget, isSlow });
}

/** So many items of lists are merged in some 10 ms. */
const itemsPerTurn = 10_000;

interface Merging {
  readonly nameOf: (schema: Schema) => string | undefined;
  readonly budget: TurnBudget;
  readonly isSlow: boolean;
}

/** Changes `original` and `patch` in place: both are private copies. */
function* mergeMap(
  original: JsonObject,
  patch: JsonObject,
  schema: Schema | undefined,
  merging: Merging,
): Steps<JsonObject> {
  if (Object.hasOwn(patch, DIRECTIVE)) return replaceOrDelete(patch);
  retainKeys(original, patch);
  yield* mergeOrderedLists(original, patch, schema, merging);
  for (const patchKey of Object.keys(patch)) {
    const value = patch[patchKey] as Json;
    const deletes = patchKey.startsWith(DELETE_FROM_LIST);
    const key = deletes ? fieldOf(patchKey, DELETE_FROM_LIST) : patchKey;
    if (value === null) {
      delete original[key];
      continue;
    }
    const before = get(original, key);
    if (before === undefined || kindOf(before) !== kindOf(value)) {
      if (!deletes) addAnew(original, key, value);
      continue;
    }
    const field = fieldSchema(schema, key);
    if (isObject(before) && isObject(value)) {
      put(
        original,
        key,
        strategyOf(field) === "replace"
          ? withoutDirectiveKeys(value)
          : yield* mergeMap(before, value, field, merging),
      );
    } else if (Array.isArray(before) && Array.isArray(value)) {
      put(original, key, yield* mergeList(before, value, field, deletes, merging));
    } else {
      put(original, key, value);
    }
  }
  return original;
}

function addAnew(original: JsonObject, key: string, value: Json): void {
  const kept = withoutDirectives(withoutNulls(value));
  if (kept === undefined) delete original[key];
  else put(original, key, kept);
}

function replaceOrDelete(patch: JsonObject): JsonObject {
  const directive = patch[DIRECTIVE] as Json;
  if (directive === "delete") return {};
  if (directive !== "replace") throw unknownDirective(patch);
  return withoutDirectiveKeys(patch);
}

function retainKeys(original: JsonObject, patch: JsonObject): void {
  const kept = get(patch, RETAIN_KEYS);
  if (kept === undefined) return;
  delete patch[RETAIN_KEYS];
  if (!Array.isArray(kept)) throw badRetainKeys();
  const retained = new Set<Json>(kept);
  for (const [key, value] of Object.entries(patch)) {
    const exempt = value === null || key.startsWith(DELETE_FROM_LIST) || key.startsWith(ELEMENT_ORDER);
    if (!exempt && !retained.has(key)) throw badRetainKeys();
  }
  for (const key of Object.keys(original)) {
    if (!retained.has(key)) delete original[key];
  }
}

/** Lists whose order the patch dictates are merged here, and taken out of the patch. */
function* mergeOrderedLists(
  original: JsonObject,
  patch: JsonObject,
  schema: Schema | undefined,
  merging: Merging,
): Steps<void> {
  for (const directive of Object.keys(patch)) {
    if (!directive.startsWith(ELEMENT_ORDER)) continue;
    const order = patch[directive] as Json;
    delete patch[directive];
    if (!Array.isArray(order)) throw notList(order);
    const key = fieldOf(directive, ELEMENT_ORDER);
    const before = get(original, key);
    const changes = get(patch, key);
    if (before !== undefined && !Array.isArray(before)) throw notList(before);
    if (changes !== undefined && !Array.isArray(changes)) throw notList(changes);
    const field = fieldSchema(schema, key);
    checkOrdered(field, key, schema && merging.nameOf(schema));
    const mergeKey = field?.["x-kubernetes-patch-merge-key"];
    checkOrder(changes ?? [], order, mergeKey);
    const merged = yield* mergedList(before, changes, field, merging);
    if (merged === undefined) continue;
    if (!before?.length && !changes?.length) throw failed("no elements in any of the given slices");
    yield* turnIf(merging.isSlow);
    put(original, key, arrange(merged, order, before ?? [], mergeKeyFor(merged, mergeKey)));
    delete patch[key];
  }
}

function* mergedList(
  before: Json[] | undefined,
  changes: Json[] | undefined,
  field: Schema | undefined,
  merging: Merging,
): Steps<Json[] | undefined> {
  if (changes === undefined) return before;
  if (before === undefined) return withoutDirectives(changes) as Json[];
  return yield* mergeList([...before], changes, field, false, merging);
}

/** Each item that the patch brings must be named by the order it dictates, in the same order. */
function checkOrder(changes: readonly Json[], order: readonly Json[], mergeKey: string | undefined): void {
  if (order.length === 0) return;
  const brought = mergeKey === undefined ? changes : changes.filter((item) => !isDeletion(item));
  let position = 0;
  for (const item of order) {
    const next = brought[position];
    if (next === undefined) return;
    const same =
      mergeKey === undefined
        ? equal(next, item)
        : equal(requireKey(next, mergeKey), requireKey(item, mergeKey));
    if (same) position++;
  }
  if (position < brought.length) {
    throw failed(
      `The order in patch list:\n${goText(changes)}\n doesn't match ${ELEMENT_ORDER} list:\n${goText(order)}\n`,
    );
  }
}

/** Only lists have an order. */
function checkOrdered(field: Schema | undefined, key: string, parent: string | undefined): void {
  if (parent === undefined) return;
  if (field === undefined) {
    throw failed(`unable to find api field in struct ${parent} for the json field ${JSON.stringify(key)}`);
  }
  if (field.type !== "array") throw failed("expected slice or array type, but got: struct");
}

function* mergeList(
  before: Json[],
  changes: Json[],
  field: Schema | undefined,
  deletes: boolean,
  merging: Merging,
): Steps<Json[]> {
  if (strategyOf(field) !== "merge" && !deletes) return withoutDirectiveKeys(changes);
  if (before.length === 0 && changes.length === 0) return before;
  if (!allMaps(before, changes)) {
    if (deletes) {
      const gone = new Set(changes.map(identityText));
      return before.filter((item) => !gone.has(identityText(item)));
    }
    return arrange(unique([...before, ...changes]), changes, before, undefined);
  }
  const mergeKey = field?.["x-kubernetes-patch-merge-key"];
  if (mergeKey === undefined || mergeKey === "") throw failed("cannot merge lists without merge key for ");
  yield* turnIf(merging.isSlow);
  const { kept, rest } = applyItemDirectives(before as JsonObject[], changes as JsonObject[], mergeKey);
  const merged = [...kept];
  const places = new Map<string, number>();
  for (const [at, item] of kept.entries()) {
    const id = identityText(requireKey(item, mergeKey));
    if (!places.has(id)) places.set(id, at);
  }
  for (const item of rest) {
    if (merging.budget.spend(1)) yield nextTurn;
    const id = identityText(requireKey(item, mergeKey));
    const at = places.get(id);
    if (at === undefined) places.set(id, merged.push(withoutDirectiveKeys(item)) - 1);
    else merged[at] = yield* mergeMap(merged[at] as JsonObject, item, field?.items, merging);
  }
  yield* turnIf(merging.isSlow);
  return arrange(merged, rest, kept, mergeKey);
}

function applyItemDirectives(
  before: JsonObject[],
  changes: JsonObject[],
  mergeKey: string,
): { kept: JsonObject[]; rest: JsonObject[] } {
  const deleted = new Set<string>();
  let replaces = false;
  const rest: JsonObject[] = [];
  for (const item of changes) {
    switch (get(item, DIRECTIVE)) {
      case undefined:
        rest.push(item);
        break;
      case "delete":
        deleted.add(identityText(requireKey(item, mergeKey)));
        break;
      case "replace":
        replaces = true;
        break;
      case "merge":
        throw failed("merging lists cannot yet be specified in the patch");
      default:
        throw unknownDirective(item);
    }
  }
  if (replaces) return { kept: withoutDirectiveKeys(rest), rest: [] };
  if (deleted.size === 0) return { kept: before, rest };
  return { kept: before.filter((item) => !deleted.has(identityText(requireKey(item, mergeKey)))), rest };
}

/**
 * Directives say how to change what is there: a value that the patch adds has nothing for
 * them to change, and a map that carries `$patch`, whatever it says, is not brought in at all.
 */
function withoutDirectives(value: Json): Json | undefined {
  if (Array.isArray(value)) return value.map(withoutDirectives).filter((item) => item !== undefined);
  if (!isObject(value)) return value;
  if (Object.hasOwn(value, DIRECTIVE)) return undefined;
  const result: JsonObject = {};
  for (const key of Object.keys(value)) {
    if (isDirective(key)) continue;
    const kept = withoutDirectives(value[key] as Json);
    if (kept !== undefined) put(result, key, kept);
  }
  return result;
}

/**
 * Directives that no step acted on, such as those inside an item that is new: the item stays, the
 * directive does not.
 */
function withoutDirectiveKeys<T extends Json>(value: T): T {
  if (Array.isArray(value)) return value.map(withoutDirectiveKeys) as T;
  if (!isObject(value)) return value;
  const result: JsonObject = {};
  for (const key of Object.keys(value)) {
    if (!isDirective(key)) put(result, key, withoutDirectiveKeys(value[key] as Json));
  }
  return result as T;
}

function isDirective(key: string): boolean {
  if (!key.startsWith("$")) return false;
  return (
    key === DIRECTIVE ||
    key === RETAIN_KEYS ||
    key.startsWith(`${DELETE_FROM_LIST}/`) ||
    key.startsWith(`${ELEMENT_ORDER}/`)
  );
}

function withoutNulls(value: Json): Json {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (!isObject(value)) return value;
  const result: JsonObject = {};
  for (const key of Object.keys(value)) {
    if (value[key] !== null) put(result, key, withoutNulls(value[key] as Json));
  }
  return result;
}

function fieldSchema(schema: Schema | undefined, key: string): Schema | undefined {
  if (schema?.properties && Object.hasOwn(schema.properties, key)) return schema.properties[key];
  return typeof schema?.additionalProperties === "object" ? schema.additionalProperties : undefined;
}

/** `retainKeys` may stand beside a strategy and says nothing about how the field itself merges. */
function strategyOf(field: Schema | undefined): string | undefined {
  return field?.["x-kubernetes-patch-strategy"]?.split(",").find((strategy) => strategy !== "retainKeys");
}

function fieldOf(directive: string, prefix: string): string {
  if (!directive.startsWith(`${prefix}/`)) {
    throw badRequest(
      prefix === DELETE_FROM_LIST
        ? "invalid patch format of primitive list"
        : "invalid patch format of setElementOrder list",
    );
  }
  return directive.slice(prefix.length + 1);
}

function isDeletion(item: Json): boolean {
  return isObject(item) && get(item, DIRECTIVE) === "delete";
}

function requireKey(item: Json, mergeKey: string): Json {
  if (!isObject(item)) throw failed("value for key 0 is not a map");
  const id = get(item, mergeKey);
  if (id === undefined) throw failed(`map: ${goText(item)} does not contain declared merge key: ${mergeKey}`);
  return id;
}

function mergeKeyFor(items: readonly Json[], mergeKey: string | undefined): string | undefined {
  return items.every(isObject) ? mergeKey : undefined;
}

function allMaps(before: readonly Json[], changes: readonly Json[]): boolean {
  const kinds = new Set([...before, ...changes].map(kindOf));
  if (kinds.size > 1) throw failed(`list element types are not identical: ${goText([before, changes])}`);
  if (kinds.has("list")) throw unprocessable();
  return kinds.has("map");
}

function kindOf(value: Json): string {
  if (Array.isArray(value)) return "list";
  return isObject(value) ? "map" : value === null ? "null" : typeof value;
}

function unique(items: readonly Json[]): Json[] {
  const seen = new Set<string>();
  return items.filter((item) => {
    const identity = identityText(item);
    return !seen.has(identity) && seen.add(identity);
  });
}

function badRetainKeys(): StatusError {
  return badRequest("invalid patch format of retainKeys");
}

function notList(actual: Json): StatusError {
  const kind = isObject(actual) ? "map[string]interface {}" : kindOf(actual);
  return failed(`expected a []interface {}, but received a ${kind}`);
}

function unknownDirective(patch: JsonObject): StatusError {
  return failed(`unknown patch type: ${goText(patch[DIRECTIVE])} in map: ${goText(patch)}`);
}

function unprocessable(): StatusError {
  return new StatusError({
    code: 422,
    reason: "Invalid",
    message: "the server rejected our request due to an error in our request",
    details: {},
  });
}

/**
 * The real server has no code for these faults of a patch and answers 500 with the bare message.
 */
function failed(message: string): StatusError {
  return new StatusError({ code: 500, message });
}
