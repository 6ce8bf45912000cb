import type { AnyKind } from "@windlass/client";

/** A kind in one version as one string, to look things up by: `apps/v1/deployments`. */
export function kindIdOf({ group, version, plural }: AnyKind): string {
  return `${group}/${version}/${plural}`;
}
