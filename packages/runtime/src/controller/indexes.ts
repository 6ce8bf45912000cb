import type { AnyKind, KubernetesObject, ObjectOf } from "@windlass/client";
import type { Informer } from "../cache/contract.ts";
import { kindIdOf } from "../cache/kind-id.ts";
import type { Bivariant } from "./bivariant.ts";

/** The values under which `cache.byIndex` finds an object. Must be pure. */
export type IndexValues<T extends KubernetesObject = KubernetesObject> = Bivariant<
  [object: T],
  readonly string[]
>;

/**
 * Indexes by name. An object that a function throws for is left out of that index, with a line in
 * the log.
 */
export type Indexes<T extends KubernetesObject = KubernetesObject, Name extends string = string> = {
  readonly [Index in Name]: IndexValues<T>;
};

/**
 * A kind with indexes, for `owns` and `reads`. Make one with {@link indexed}, which knows the type
 * of the objects.
 */
export interface IndexedKind<K extends AnyKind = AnyKind, Name extends string = string> {
  readonly kind: K;
  readonly indexes: Indexes<KubernetesObject, Name>;
}

/**
 * Declares indexes of a kind that a controller owns or reads. The kinds it watches take theirs in
 * `watch`, its own kind in the option `indexes`.
 *
 * @example
 * reads: [indexed(Pod, { node: ({ spec }) => (spec?.nodeName ? [spec.nodeName] : []) })],
 * reconcile: (node, { cache }) => ({ status: { pods: cache.byIndex(Pod, "node", node.metadata.name).length } }),
 */
export function indexed<K extends AnyKind, Name extends string>(
  kind: K,
  indexes: Indexes<ObjectOf<K>, Name>,
): IndexedKind<K, Name> {
  return { kind, indexes };
}

/** One index that a controller declares. */
export interface DeclaredIndex {
  readonly kind: AnyKind;
  readonly name: string;
  readonly values: IndexValues;
  /** Whether the function is content with metadata. */
  readonly metadataOnly: boolean;
}

/** The declarations in a table of indexes. */
export function declared(
  kind: AnyKind,
  indexes: Indexes = {},
  metadataOnly = false,
): readonly DeclaredIndex[] {
  return Object.entries(indexes).map(([name, values]) => ({ kind, name, values, metadataOnly }));
}

/**
 * All indexes that the controllers of a manager declare. Every informer of a kind gets all of them:
 * a controller may read by an index that another declares.
 */
export class IndexTable {
  readonly #byKind = new Map<string, Map<string, DeclaredIndex & { readonly by: string }>>();

  /** @throws TypeError if another function has the name for that kind already. */
  add(controller: string, indexes: readonly DeclaredIndex[]): void {
    for (const index of indexes) {
      const id = kindIdOf(index.kind);
      const known = this.#byKind.get(id) ?? new Map<string, DeclaredIndex & { readonly by: string }>();
      this.#byKind.set(id, known);
      const other = known.get(index.name);
      if (other && other.values !== index.values)
        throw new TypeError(
          `controller ${controller}: ${index.kind.kind} has an index "${index.name}" already, declared by controller ${other.by} with another function; share the function, or choose another name`,
        );
      const metadataOnly = index.metadataOnly || (other?.metadataOnly ?? false);
      known.set(index.name, { ...index, metadataOnly, by: other?.by ?? controller });
    }
  }

  /**
   * Gives an informer the indexes of its kind; one that holds metadata alone, those that are
   * content with it.
   */
  equip<K extends AnyKind>(kind: K, informer: Informer<ObjectOf<K>>): Informer<ObjectOf<K>> {
    for (const { name, values, metadataOnly } of this.#byKind.get(kindIdOf(kind))?.values() ?? [])
      if (metadataOnly || !informer.scope.metadataOnly) informer.addIndex(name, values);
    return informer;
  }
}
