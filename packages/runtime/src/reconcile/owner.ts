import {
  type AnyKind,
  apiVersionOf,
  groupOf,
  type KubernetesObject,
  type OwnerReference,
} from "@windlass/client";

/**
 * The owner reference that makes `owner` the one controller of an object: it goes when the owner
 * goes.
 */
export function controllerReference(kind: AnyKind, owner: KubernetesObject): OwnerReference {
  return {
    apiVersion: apiVersionOf(kind),
    kind: kind.kind,
    name: owner.metadata.name,
    uid: owner.metadata.uid ?? "",
    controller: true,
    blockOwnerDeletion: true,
  };
}

/** An object's references, with this one in the place of any other to the same owner. */
export function withOwner(
  given: readonly OwnerReference[] = [],
  owner: OwnerReference,
): readonly OwnerReference[] {
  return [...given.filter((reference) => reference.uid !== owner.uid), owner];
}

/**
 * Whether a reference is to this kind, in whatever version: owners keep the version they were
 * written with.
 */
export function refersTo(reference: OwnerReference, kind: AnyKind): boolean {
  return reference.kind === kind.kind && groupOf(reference.apiVersion) === kind.group;
}
