import { isRecord } from "@windlass/kinds/json";
import type { FieldsV1 } from "../cache/contract.ts";
import { canonical } from "./json.ts";
import { OwnedList } from "./owned-list.ts";
import type { SchemaView } from "./schema-facts.ts";

/** How one field of a live object is not as it is wanted. */
export interface Deviation {
  /**
   * `value`: it has another value. `owner`: it is not ours, because it was never applied or
   * somebody changed it. `dropped`: it is ours and no longer wanted. `order`: the items of the list
   * are in another order.
   */
  readonly in: "value" | "owner" | "dropped" | "order";
  /** What is there, as JSON; empty if nothing is, or if it is not known. */
  readonly live: string;
}

/**
 * Where an apply of what is wanted may change the object on the server, by path. Empty if it
 * changes nothing.
 */
export type Deviations = ReadonlyMap<string, Deviation>;

const none: Deviations = new Map();

/** Stands for the part of a live object that the cache does not hold. */
export const notCached = Symbol("not cached");

/** Whether a live value is what the server makes of a wanted one. */
export type IsSame = (wanted: unknown, live: unknown) => boolean;

/** What is wanted, what is there, and which of it is ours. */
export interface Comparison {
  /** Plain JSON: what is applied, without what the server does not track. */
  readonly wanted: Readonly<Record<string, unknown>>;
  /** What this field manager owns of the live object. */
  readonly fields: FieldsV1;
  readonly live: unknown;
  readonly isSame: IsSame;
  readonly schema: SchemaView;
}

/**
 * Compares what is wanted with what is there as the server does for server-side apply.
 *
 * The server's record of who owns which fields carries what is needed to do that without a schema.
 * It says how the server takes the object apart: what has no fields below it is replaced as a
 * whole, the items of a list are found by their keys or have none. It says what was wanted before
 * and is not any more. And it reports whether another manager changed a field: that takes the field
 * from its owner, even if the value was changed back.
 *
 * What it does not say is the order of lists, and what webhooks and the server itself made of
 * values, so these are compared.
 */
export function deviations({ wanted, fields, live, isSame, schema }: Comparison): Deviations {
  const walk = new Walk(isSame, schema);
  walk.members(wanted, fields, live, "");
  return walk.found ?? none;
}

/** Whether two comparisons found the same. */
export function sameDeviations(a: Deviations, b: Deviations): boolean {
  if (a.size !== b.size) return false;
  for (const [path, { in: kind, live }] of a) {
    const other = b.get(path);
    if (other?.in !== kind || other.live !== live) return false;
  }
  return true;
}

/**
 * Whether an apply that left these deviations would leave them again: what it found and did not
 * change, it will not change the next time. A value that the apply itself brought there may be
 * different after one more: the server removes a map whose last field is no longer wanted, though
 * the map is, and puts it back empty only then.
 */
export function isFinal(after: Deviations, before: Deviations): boolean {
  for (const [path, { live }] of after) if (before.get(path)?.live !== live) return false;
  return true;
}

class Walk {
  readonly #isSame: IsSame;
  readonly #schema: SchemaView;
  found: Map<string, Deviation> | undefined;

  constructor(isSame: IsSame, schema: SchemaView) {
    this.#isSame = isSame;
    this.#schema = schema;
  }

  members(wanted: Readonly<Record<string, unknown>>, fields: FieldsV1, live: unknown, path: string): void {
    let owned = "." in fields ? 1 : 0;
    for (const key of Object.keys(wanted)) {
      const below = fields[`f:${key}`];
      if (below === undefined) this.#notOwned(wanted[key], memberOf(live, key), join(path, key));
      else {
        owned += 1;
        this.#member(wanted[key], below, memberOf(live, key), path, key);
      }
    }
    if (owned === Object.keys(fields).length) return;
    for (const element of Object.keys(fields)) {
      const key = element.slice(2);
      if (element !== "." && !(element.startsWith("f:") && Object.hasOwn(wanted, key)))
        this.#note(join(path, key), "dropped", memberOf(live, key));
    }
  }

  #member(wanted: unknown, fields: FieldsV1, live: unknown, path: string, key: string): void {
    if ("." in fields && isRecord(wanted)) this.#schema.ownedInParts(path);
    const isEmptied = isWhole(fields) && isRecord(wanted) && Object.keys(wanted).length > 0;
    if (isEmptied && this.#schema.hasEntriesInParts(path)) this.#note(join(path, key), "owner", live);
    else this.#value(wanted, fields, live, join(path, key));
  }

  #notOwned(wanted: unknown, live: unknown, path: string): void {
    if (!isEmptyList(wanted)) {
      this.#note(path, "owner", live);
      return;
    }
    const type = this.#schema.typeOfNotOwned(path);
    const isTaken = type === "unknown" ? Array.isArray(live) && live.length > 0 : type === "atomic";
    if (isTaken) this.#note(path, "owner", live);
    else if (!Array.isArray(live) && live !== notCached && !this.#isSame(wanted, live))
      this.#note(path, "value", live);
  }

  #value(wanted: unknown, fields: FieldsV1, live: unknown, path: string): void {
    if (isWhole(fields)) {
      if (isEmptyList(wanted)) this.#schema.ownedEmpty(path);
      if (live !== notCached && !this.#isSame(wanted, live)) this.#note(path, "value", live);
    } else if (isRecord(wanted)) this.members(wanted, fields, live, path);
    else if (Array.isArray(wanted)) this.#items(wanted, fields, live, path);
    else this.#note(path, "value", live);
  }

  #items(wanted: readonly unknown[], fields: FieldsV1, live: unknown, path: string): void {
    const list = new OwnedList(fields);
    const there = Array.isArray(live)
      ? new Map(live.map((item, place) => [list.liveIdOf(item), place]))
      : undefined;
    const seen = new Set<string>();
    let last = -1;
    for (const item of wanted) {
      const id = list.idOf(item);
      const below = list.get(id);
      if (below === undefined) {
        const place = there?.get(id);
        this.#note(`${path}[${id}]`, "owner", place === undefined ? undefined : (live as unknown[])[place]);
        continue;
      }
      seen.add(id);
      const place = there?.get(id);
      const other =
        live === notCached ? notCached : place === undefined ? undefined : (live as unknown[])[place];
      this.#value(item, below, other, `${path}[${id}]`);
      if (place === undefined) continue;
      if (place < last) this.#note(`${path}[]`, "order", [...(there?.keys() ?? [])]);
      last = place;
    }
    for (const id of list.ids()) if (!seen.has(id)) this.#note(`${path}[${id}]`, "dropped", undefined);
  }

  #note(path: string, kind: Deviation["in"], live: unknown): void {
    this.found ??= new Map();
    this.found.set(path, { in: kind, live: live === undefined || live === notCached ? "" : canonical(live) });
  }
}

/** Whether nothing is owned below: a scalar, or what is replaced as a whole. */
function isWhole(fields: FieldsV1): boolean {
  for (const _ in fields) return false;
  return true;
}

function isEmptyList(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0;
}

function memberOf(live: unknown, key: string): unknown {
  if (live === notCached) return notCached;
  return isRecord(live) && Object.hasOwn(live, key) ? live[key] : undefined;
}

function join(path: string, key: string): string {
  return path === "" ? key : `${path}.${key}`;
}
