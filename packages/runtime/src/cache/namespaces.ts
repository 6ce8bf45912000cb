import type { AnyKind, ResourceKind } from "@windlass/client";
import type { Cache, Namespaces } from "./contract.ts";

/** Namespaces that the program chooses. */
export interface NamespaceSet extends Namespaces {
  /**
   * Chooses these from now on. Objects of other namespaces leave the cache, and handlers get
   * deletes for them.
   */
  set(names: Iterable<string>): void;
}

/**
 * Namespaces to watch, which may be others later: what is cached follows.
 *
 * @example
 * const watched = namespaceSet(["team-a", "team-b"]);
 * const cache = createCache({ source: client, defaultScope: { namespaces: watched } });
 * watched.set(["team-a", "team-c"]);
 */
export function namespaceSet(names: Iterable<string>): NamespaceSet {
  const chosen = new Choice(names);
  return {
    get names() {
      return chosen.names;
    },
    ready: Promise.resolve(),
    subscribe: (listener) => chosen.subscribe(listener),
    set: (next) => chosen.set(new Set(next)),
  };
}

const Namespace: AnyKind = {
  group: "",
  version: "v1",
  kind: "Namespace",
  plural: "namespaces",
  scope: "Cluster",
} satisfies ResourceKind;

/**
 * Namespaces that carry labels, followed by a watch of their own. Needs list and watch of
 * namespaces.
 */
export interface NamespacesByLabel extends Namespaces {
  /** Ends the watch. */
  release(): void;
}

/**
 * Follows the namespaces that a label selector selects.
 *
 * @throws SelectorError if it does not parse.
 */
export function namespacesByLabel(cache: Cache, labelSelector: string): NamespacesByLabel {
  const informer = cache.informer(Namespace, { labelSelector, metadataOnly: true });
  const chosen = new Choice([]);
  let found = new Set<string>();
  informer.subscribe((event) => {
    const { name } = event.object.metadata;
    if (event.type === "updated") return;
    found = new Set(found);
    if (event.type === "added") found.add(name);
    else found.delete(name);
    if (informer.hasSynced && isReady) chosen.set(found);
  });
  let isReady = false;
  const ready = informer.synced.then(() => {
    isReady = true;
    chosen.set(found);
  });
  return {
    get names() {
      return chosen.names;
    },
    ready,
    subscribe: (listener) => chosen.subscribe(listener),
    release: () => informer.release(),
  };
}

class Choice {
  names: ReadonlySet<string>;
  readonly #listeners = new Set<() => void>();

  constructor(names: Iterable<string>) {
    this.names = new Set(names);
  }

  set(names: ReadonlySet<string>): void {
    if (names.size === this.names.size && [...names].every((name) => this.names.has(name))) return;
    this.names = names;
    for (const listener of this.#listeners) listener();
  }

  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}
