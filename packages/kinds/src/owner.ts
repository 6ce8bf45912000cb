import type { OwnerReference } from "./object.ts";

/** The group within `group/version`; empty for the core group. */
export function groupOf(apiVersion: string): string {
  const slash = apiVersion.indexOf("/");
  return slash < 0 ? "" : apiVersion.slice(0, slash);
}

/** The reference of an object's controller, if it has one. */
export function controllerOf(object: {
  readonly metadata: { readonly ownerReferences?: readonly OwnerReference[] };
}): OwnerReference | undefined {
  return object.metadata.ownerReferences?.find((reference) => reference.controller === true);
}
