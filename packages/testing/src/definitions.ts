import type { InputOf } from "@windlass/client";
import type { CustomResourceDefinition } from "@windlass/runtime/kinds";

/** A definition to install: a CRD, or anything that makes one, such as what `defineResource` returns. */
export type Installable = { crd(): object } | InputOf<typeof CustomResourceDefinition>;

/** What is read of a CRD here. */
export interface Crd {
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly group: string;
    readonly names: { readonly plural: string };
    readonly versions: readonly { readonly name: string; readonly served: boolean }[];
  };
}

/** The CRD that a definition is, or makes. */
export function crdOf(definition: Installable): Crd {
  return ("crd" in definition ? definition.crd() : definition) as Crd;
}
