import type { PersistentVolumeClaimInput } from "@windlass/runtime/kinds";
import { labelsOf } from "../names.ts";
import type { Storage } from "./storage.ts";

/** The volumes of a shard, by the store that is on them. */
export const stores = ["cas", "ac"] as const;
/** A store of a shard: that of blobs, or that of action results. */
export type StoreName = (typeof stores)[number];

/** Where a store's volume is mounted. */
export function mountPathOf(store: StoreName): string {
  return `/storage-${store}`;
}

/** A claim template of a shard, and how much it asks for. */
export interface ClaimTemplate {
  readonly store: StoreName;
  readonly size: string;
  readonly template: PersistentVolumeClaimInput;
}

/** The claims of a shard: the user's own, or those of `volume`. */
export function claimTemplates({ metadata: { name }, spec }: Storage): readonly ClaimTemplate[] {
  return stores.map((store) => {
    const own = spec.volumeClaimTemplates?.find(({ metadata }) => metadata.name === store);
    const { size: volumeSize, storageClassName } = spec[store].volume;
    const size = String(own?.spec.resources?.requests?.storage ?? volumeSize);
    return {
      store,
      size,
      template: {
        apiVersion: "v1",
        kind: "PersistentVolumeClaim",
        metadata: { name: store, labels: labelsOf("storage", name, spec.cluster) },
        spec: {
          accessModes: ["ReadWriteOnce"],
          ...(storageClassName !== undefined && { storageClassName }),
          ...own?.spec,
          resources: { requests: { storage: size } },
        },
      },
    };
  });
}

/** The same claims with other sizes. */
export function withSizes(
  claims: readonly ClaimTemplate[],
  sizeOf: (store: StoreName) => string | undefined,
): readonly ClaimTemplate[] {
  return claims.map((claim) => {
    const size = sizeOf(claim.store) ?? claim.size;
    const { template } = claim;
    return {
      ...claim,
      size,
      template: { ...template, spec: { ...template.spec, resources: { requests: { storage: size } } } },
    };
  });
}
