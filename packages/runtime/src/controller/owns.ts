import type { AnyKind, KubernetesObject } from "@windlass/client";
import type { Indexes } from "./indexes.ts";
import type { Predicate } from "./predicate.ts";

/** A kind that the controller owns objects of, with options. */
export interface Owns<K extends AnyKind = AnyKind, Index extends string = string> {
  readonly kind: K;
  /**
   * Cache metadata alone: a fraction of the memory. `owned(metadataOnly(Secret))` then gives
   * objects without spec and status. Edits of a child are still noticed, except for the
   * order of items in a list. @default false
   */
  readonly metadataOnly?: boolean;
  /** Which changes of a child count. @default all */
  readonly predicate?: Predicate;
  /** For `cache.byIndex`; {@link indexed} knows the type of the objects. @default none */
  readonly indexes?: Indexes<KubernetesObject, Index>;
}
