import { isRecord } from "@windlass/kinds/json";
import type { FieldsV1 } from "../cache/contract.ts";
import { canonical } from "./json.ts";

interface OwnedItem {
  readonly fields: FieldsV1;
  /** The values of its keys. */
  readonly keys: Readonly<Record<string, unknown>>;
}

/** A list whose items are owned one by one: by the values of their keys, or by their own value. */
export class OwnedList {
  readonly #items = new Map<string, OwnedItem>();
  /** The names of the keys; none where items are known by their value. */
  readonly #keys: readonly string[];

  constructor(fields: FieldsV1) {
    let names: readonly string[] = [];
    for (const [element, below] of Object.entries(fields)) {
      if (element.startsWith("k:")) {
        const keys = JSON.parse(element.slice(2)) as Record<string, unknown>;
        names = Object.keys(keys);
        this.#items.set(idBy(names, keys), { fields: below, keys });
      } else if (element.startsWith("v:"))
        this.#items.set(canonical(JSON.parse(element.slice(2))), { fields: below, keys: {} });
    }
    this.#keys = names;
  }

  get(id: string): FieldsV1 | undefined {
    return this.#items.get(id)?.fields;
  }

  ids(): Iterable<string> {
    return this.#items.keys();
  }

  /**
   * How a wanted item is known. A key that it lacks has a default, which the server has filled in
   * without owning it for us: the owned item tells it.
   */
  idOf(item: unknown): string {
    const id = this.liveIdOf(item);
    if (this.#items.has(id) || !isRecord(item)) return id;
    const given = this.#keys.filter((key) => Object.hasOwn(item, key));
    const lacking = this.#keys.filter((key) => !Object.hasOwn(item, key));
    if (lacking.length === 0) return id;
    const wanted = idBy(given, item);
    for (const [known, { keys, fields }] of this.#items)
      if (idBy(given, keys) === wanted && lacking.every((key) => fields[`f:${key}`] === undefined))
        return known;
    return id;
  }

  /** How an item of the live object is known, which has all its keys. */
  liveIdOf(item: unknown): string {
    return this.#keys.length > 0 && isRecord(item) ? idBy(this.#keys, item) : canonical(item);
  }
}

function idBy(keys: readonly string[], values: Readonly<Record<string, unknown>>): string {
  return keys.map((key) => canonical(values[key])).join();
}
