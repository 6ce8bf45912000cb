import type { AnyKind } from "@windlass/client";

/**
 * What a comparison asks about lists that are wanted empty: where such a list is not owned, either it never is, because its
 * items are owned one by one and there are none, or it is owned as a whole and somebody has taken it.
 */
export interface EmptyLists {
  /** Of which type a list is that is wanted empty and not owned. */
  whenNotOwned(path: string): "atomic" | "associative" | "unknown";
  /** A list that is wanted empty is owned. */
  owned(path: string): void;
}

/**
 * The types of lists that were once wanted empty, by kind and path. They are facts of the kind's schema, and the server's answer
 * to an apply tells them: right after it, everything that can be owned is.
 */
export class ListTypes {
  readonly #types = new Map<string, "atomic" | "associative">();

  /** For a comparison with the cached object. */
  known(kind: AnyKind): EmptyLists {
    return {
      whenNotOwned: (path) => this.#types.get(idOf(kind, path)) ?? "unknown",
      owned: () => undefined,
    };
  }

  /** For a comparison with the answer to an apply. */
  learning(kind: AnyKind): EmptyLists {
    return {
      whenNotOwned: (path) => {
        this.#types.set(idOf(kind, path), "associative");
        return "associative";
      },
      owned: (path) => void this.#types.set(idOf(kind, path), "atomic"),
    };
  }
}

/** The items of a list have the same type, whichever they are. */
const itemInPath = /\[(?:[^"[\]]|"(?:[^"\\]|\\.)*")*\]/g;

function idOf({ group, version, kind }: AnyKind, path: string): string {
  return `${group}/${version}/${kind} ${path.replaceAll(itemInPath, "[]")}`;
}
