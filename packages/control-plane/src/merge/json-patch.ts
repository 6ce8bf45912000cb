import { equal, isObject, type Json, type JsonObject } from "../json.ts";
import { badRequest, StatusError } from "../status.ts";
import { nextTurn, type Steps } from "../steps.ts";
import { copy, get, put } from "./plain.ts";

const MAX_OPERATIONS = 10_000;
/** As much JSON as this may be copied in all: copies of copies grow without bound. */
const MAX_COPIED = 3 * 1024 * 1024;
/** So many items of lists are moved up or down before others get their turn. */
const ITEMS_PER_TURN = 20_000_000;

/**
 * Applies an RFC 6902 patch the way the API server does, which is more lenient than the RFC in
 * these places:
 *
 * - `replace` of a member that is missing adds it, `copy` of one yields null, `test` of one passes
 *   against null;
 * - whatever stands before the first `/` of a path is ignored;
 * - array indices may be negative (counted from the end), signed or zero-padded;
 * - a missing `value` means null, and null for the whole patch means no operations.
 *
 * Neither the document nor the patch is changed.
 *
 * @throws {StatusError} 400 when the patch is not a list of operations, 413 above 10,000
 *   operations, and a 422 without details when an operation does not apply.
 */
export function* applyJsonPatch(document: Json, patch: unknown): Steps<Json> {
  if (patch === null) return document;
  if (!Array.isArray(patch)) throw cannotUnmarshal(patch, "Go value of type []handlers.jsonPatchOp");
  for (const operation of patch) checkShape(operation);
  if (patch.length > MAX_OPERATIONS) {
    throw new StatusError({
      code: 413,
      reason: "RequestEntityTooLarge",
      message: `Request entity too large: The allowed maximum operations in a JSON patch is ${MAX_OPERATIONS}, got ${patch.length}`,
    });
  }
  const patched = new PatchedDocument(document);
  for (const operation of patch as (JsonObject | null)[]) {
    patched.apply(operation ?? {});
    if (patched.takeTurn()) yield nextTurn;
  }
  return patched.value;
}

/** A document of its own that operations are applied to, one after the other. */
export class PatchedDocument {
  /** How many items of lists made room for others, or closed a gap, in this turn. */
  #itemsMoved = 0;
  #value: Json;
  #copied = 0;

  constructor(document: Json) {
    this.#value = copy(document);
  }

  get value(): Json {
    return this.#value;
  }

  /** @returns whether so much was done that everything else should have a turn now */
  takeTurn(): boolean {
    if (this.#itemsMoved < ITEMS_PER_TURN) return false;
    this.#itemsMoved = 0;
    return true;
  }

  /** @throws StatusError 422 if the operation does not apply */
  apply(operation: JsonObject): void {
    const path = get(operation, "path");
    if (typeof path !== "string") throw doesNotApply();
    const value = copy(get(operation, "value") ?? null);
    switch (get(operation, "op")) {
      case "add":
        this.#locate(path).add(value);
        return;
      case "remove":
        this.#locate(path).remove();
        return;
      case "replace":
        if (path !== "") this.#locate(path).replace(value);
        else if (typeof value !== "object" || value === null) throw doesNotApply();
        else this.#value = value;
        return;
      case "move": {
        const source = this.#locate(requireFrom(operation));
        const moved = source.get();
        source.remove();
        this.#locate(path).add(moved);
        return;
      }
      case "copy": {
        const source = this.#locate(requireFrom(operation)).get();
        this.#copied += Buffer.byteLength(JSON.stringify(source));
        if (this.#copied > MAX_COPIED) throw doesNotApply();
        this.#locate(path).add(copy(source));
        return;
      }
      case "test": {
        const found = path === "" ? this.#value : this.#locate(path).get();
        if (!equal(found, value)) throw doesNotApply();
        return;
      }
      default:
        throw doesNotApply();
    }
  }

  #locate(path: string): PointerTarget {
    const [, ...keys] = path
      .split("/")
      .map((key) => key.replaceAll(/~[01]/g, (code) => (code === "~1" ? "/" : "~")));
    const last = keys.pop();
    if (last === undefined) throw doesNotApply();
    let container = this.#value;
    for (const key of keys) container = this.#placeIn(container, key).get();
    return this.#placeIn(container, last);
  }

  #placeIn(container: Json, key: string): PointerTarget {
    if (Array.isArray(container)) {
      return placeInList(container, key, (moved) => {
        this.#itemsMoved += moved;
      });
    }
    if (isObject(container)) return placeInObject(container, key);
    throw doesNotApply();
  }
}

function requireFrom(operation: JsonObject): string {
  const from = get(operation, "from");
  if (typeof from !== "string") throw doesNotApply();
  return from;
}

/**
 * A place inside a document: the container and the key in it. The container exists; the key may
 * not.
 */
interface PointerTarget {
  get(): Json;
  add(value: Json): void;
  replace(value: Json): void;
  remove(): void;
}

function placeInObject(container: JsonObject, key: string): PointerTarget {
  return {
    get: () => get(container, key) ?? null,
    add: (value) => put(container, key, value),
    replace: (value) => put(container, key, value),
    remove: () => {
      if (!Object.hasOwn(container, key)) throw doesNotApply();
      delete container[key];
    },
  };
}

function placeInList(list: Json[], key: string, moving: (items: number) => void): PointerTarget {
  return {
    get: () => list[index(key, list.length)] as Json,
    add: (value) => {
      const at = key === "-" ? list.length : index(key, list.length + 1);
      moving(list.length - at);
      list.splice(at, 0, value);
    },
    replace: (value) => {
      list[index(key, list.length)] = value;
    },
    remove: () => {
      const at = index(key, list.length);
      moving(list.length - at);
      list.splice(at, 1);
    },
  };
}

/** The position that a key names among `size` positions. */
function index(key: string, size: number): number {
  if (!/^[+-]?\d+$/.test(key)) throw doesNotApply();
  const given = Number(key);
  const position = given < 0 ? given + size : given;
  if (position < 0 || position >= size) throw doesNotApply();
  return position;
}

function checkShape(operation: unknown): void {
  if (operation === null) return;
  if (!isObject(operation)) throw cannotUnmarshal(operation, "Go value of type handlers.jsonPatchOp");
  for (const field of ["op", "path", "from"]) {
    const value = get(operation, field);
    if (value !== undefined && value !== null && typeof value !== "string") {
      throw cannotUnmarshal(value, `Go struct field jsonPatchOp.${field} of type string`);
    }
  }
}

function cannotUnmarshal(value: unknown, into: string): StatusError {
  const kind = Array.isArray(value)
    ? "array"
    : typeof value === "boolean"
      ? "bool"
      : isObject(value)
        ? "object"
        : typeof value;
  return badRequest(`error decoding patch: json: cannot unmarshal ${kind} into ${into}`);
}

function doesNotApply(): StatusError {
  return new StatusError({
    code: 422,
    reason: "Invalid",
    message: "the server rejected our request due to an error in our request",
    details: {},
  });
}
