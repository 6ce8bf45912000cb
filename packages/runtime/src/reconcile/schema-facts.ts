import type { AnyKind } from "@windlass/client";

/**
 * How the server takes values of one kind apart, as far as what is owned does not say it itself.
 */
export interface SchemaView {
  /**
   * The type of a list that is wanted empty and not owned. Either it never is, because its items
   * are owned one by one and there are none; or it is owned as a whole, and another manager has
   * taken it.
   */
  typeOfNotOwned(list: string): "atomic" | "associative" | "unknown";
  /** A list that is wanted empty is owned. */
  ownedEmpty(list: string): void;
  /**
   * Whether the entries of a map are owned field by field: then one of which no field is owned is
   * not ours as a whole.
   */
  hasEntriesInParts(map: string): boolean;
  /** An entry of a map is owned field by field. */
  ownedInParts(map: string): void;
}

/**
 * What the server's answers show about the schemas of kinds, by kind and path: right after an
 * apply, everything that can be owned is. Few facts are needed, and each is learnt at the first
 * apply that needs it.
 */
export class SchemaFacts {
  readonly #lists = new Map<string, "atomic" | "associative">();
  readonly #mapsInParts = new Set<string>();

  /** For a comparison with the cached object. */
  known(kind: AnyKind): SchemaView {
    return {
      typeOfNotOwned: (list) => this.#lists.get(fieldId(kind, list)) ?? "unknown",
      ownedEmpty: () => undefined,
      hasEntriesInParts: (map) => this.#mapsInParts.has(fieldId(kind, map)),
      ownedInParts: () => undefined,
    };
  }

  /** For a comparison with the answer to an apply. */
  learning(kind: AnyKind): SchemaView {
    return {
      typeOfNotOwned: (list) => {
        this.#lists.set(fieldId(kind, list), "associative");
        return "associative";
      },
      ownedEmpty: (list) => void this.#lists.set(fieldId(kind, list), "atomic"),
      hasEntriesInParts: () => false,
      ownedInParts: (map) => void this.#mapsInParts.add(fieldId(kind, map)),
    };
  }
}

/** The items of a list have the same type, whichever they are. */
const itemInPath = /\[(?:[^"[\]]|"(?:[^"\\]|\\.)*")*\]/g;

function fieldId({ group, version, kind }: AnyKind, path: string): string {
  return `${group}/${version}/${kind} ${path.replaceAll(itemInPath, "[]")}`;
}
