import type { ObjectOf } from "@windlass/runtime";
import type { PersistentVolumeClaim, StatefulSet, StorageClass } from "@windlass/runtime/kinds";
import { bytes } from "../configuration/index.ts";
import type { ClaimTemplate, StoreName } from "./claims.ts";

type Claim = ObjectOf<typeof PersistentVolumeClaim>;

/** How the volumes of shards come to what is wanted. */
export type Growth =
  /** The StatefulSet makes claims as wanted. */
  | { readonly is: "grown" }
  /**
   * These claims are to ask for more. Then the StatefulSet is replaced, and its pods run on: its
   * claims cannot be changed.
   */
  | { readonly is: "growing"; readonly claims: readonly { readonly claim: Claim; readonly size: string }[] }
  | { readonly is: "refused"; readonly message: string };

/** What growing a storage's volumes needs. */
export interface GrowthInput {
  readonly wanted: readonly ClaimTemplate[];
  readonly live: ObjectOf<typeof StatefulSet> | undefined;
  /** The claims of all shards, those that are retired included. */
  readonly claims: readonly Claim[];
  readonly classes: readonly ObjectOf<typeof StorageClass>[];
}

/** The size that a StatefulSet's claims ask for. */
export function liveSize(
  live: ObjectOf<typeof StatefulSet> | undefined,
  store: StoreName,
): string | undefined {
  const found = live?.spec?.volumeClaimTemplates?.find(({ metadata }) => metadata?.name === store);
  const size = found?.spec?.resources?.requests?.storage;
  return size === undefined ? undefined : String(size);
}

/** Claims are called after their template, their StatefulSet and the number of their pod. */
function isClaimOf(claim: string, prefix: string): boolean {
  return claim.startsWith(`${prefix}-`) && /^\d+$/.test(claim.slice(prefix.length + 1));
}

/** Why a volume does not become what its claim asks for, if its driver reports that it cannot. */
export function failedGrowth(claims: readonly Claim[]): string | undefined {
  const said = claims.flatMap(({ metadata, status }) => {
    const failed = status?.conditions?.find(
      ({ type, status: is }) => is === "True" && /^(Controller|Node)ResizeError$/.test(type),
    );
    return failed
      ? [`PersistentVolumeClaim ${metadata.name} does not grow: ${failed.message ?? failed.type}`]
      : [];
  });
  return said.toSorted()[0];
}

/** Decides what to do about volumes that are smaller than wanted. */
export function growthOf({ wanted, live, claims, classes }: GrowthInput): Growth {
  if (!live) return { is: "grown" };
  const changed = wanted.filter(({ store, size }) => {
    const now = liveSize(live, store);
    return now === undefined || bytes(now) !== bytes(size);
  });
  if (changed.length === 0) return { is: "grown" };
  const small = changed.flatMap(({ store, size }) =>
    claims
      .filter(({ metadata }) => isClaimOf(metadata.name, `${store}-${live.metadata.name}`))
      .filter(({ spec }) => bytes(String(spec?.resources?.requests?.storage ?? "0")) < bytes(size))
      .map((claim) => ({ claim, size })),
  );
  for (const { claim, size } of small) {
    const { storageClassName = "" } = claim.spec ?? {};
    const found = classes.find(({ metadata }) => metadata.name === storageClassName);
    if (found?.allowVolumeExpansion !== true)
      return {
        is: "refused",
        message: `PersistentVolumeClaim ${claim.metadata.name} cannot grow to ${size}: its StorageClass ${JSON.stringify(storageClassName)} does not have allowVolumeExpansion`,
      };
  }
  return { is: "growing", claims: small };
}
