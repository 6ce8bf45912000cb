import type { CustomResourceDefinitionInput } from "@windlass/runtime/kinds";

/**
 * A definition to install: a CRD, or anything that makes one, such as what `defineResource`
 * returns.
 */
export type Installable = { crd(): Crd } | CustomResourceDefinitionInput;

/** A CRD with its name. */
export type Crd = CustomResourceDefinitionInput & { readonly metadata: { readonly name: string } };

/** The CRD that a definition is, or makes. @throws TypeError for one without a name. */
export function crdOf(definition: Installable): Crd {
  if ("crd" in definition) return definition.crd();
  const { metadata, spec } = definition;
  const { name } = metadata;
  if (name === undefined) throw new TypeError(`the CRD of ${spec.names.kind} has no metadata.name`);
  return { ...definition, metadata: { ...metadata, name } };
}
