import { createHash } from "node:crypto";
import type { GroupVersionKind } from "./kind-table.ts";

/**
 * What discovery calls a kind's storage version hash: it changes when objects are stored in another
 * version.
 */
export function storageVersionHash({ group, version, kind }: GroupVersionKind): string {
  return createHash("sha256")
    .update(`${group}/${version}/${kind}`)
    .digest()
    .subarray(0, 8)
    .toString("base64");
}
