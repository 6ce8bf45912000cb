import type { PersistentVolume, PersistentVolumeClaim, Pod } from "@windlass/kinds/builtin";
import { type ControllerDependencies, ownKey, type Running, startLoop } from "../../controllers/loop.ts";
import {
  builtin,
  controllerContext,
  isDeleting,
  podBucket,
  setFinalizer,
  stored,
} from "../../controllers/objects.ts";
import { within } from "../../controllers/ownership.ts";
import { isFinished } from "../../controllers/pods.ts";
import { namespaceOf } from "../../json-fields.ts";
import type { StoredObject } from "../../storage/store.ts";
import { type Stored, typed } from "../../storage/typed.ts";

/** Keeps a claim that is being deleted there for as long as a pod uses it. */
export function startClaimProtection(deps: ControllerDependencies): Running {
  const { registry } = deps;
  const finalizer = "kubernetes.io/pvc-protection";
  const claims = builtin<PersistentVolumeClaim>(registry, "", "v1", "persistentvolumeclaims");
  const context = controllerContext("pvc-protection-controller");
  return startLoop(deps, {
    name: "persistentvolumeclaim-protection-controller",
    watches: {
      [claims.bucket]: ownKey,
      pods: ({ entry }) =>
        claimsOf(typed<Pod>(entry.object)).map((claim) => `${namespaceOf(entry.object)}/${claim}`),
    },
    reconcile: async (key) => {
      const claim = stored(registry, claims, key);
      if (!claim) return undefined;
      const protectedBy = hasFinalizer(claim, finalizer);
      if (!isDeleting(claim)) {
        if (!protectedBy) await setFinalizer(registry, claims, claim, context, finalizer, "present");
        return undefined;
      }
      if (!protectedBy || isUsed(claim)) return undefined;
      await setFinalizer(registry, claims, claim, context, finalizer, "absent");
      return undefined;
    },
  });

  function isUsed(claim: Stored<PersistentVolumeClaim>): boolean {
    for (const pod of within(registry, podBucket, namespaceOf(claim))) {
      const runs = pod.spec.nodeName !== undefined && !isFinished(pod);
      if (runs && claimsOf(pod).includes(claim.metadata.name)) return true;
    }
    return false;
  }
}

/** Keeps a volume that is being deleted there for as long as a claim is bound to it. */
export function startVolumeProtection(deps: ControllerDependencies): Running {
  const { registry } = deps;
  const finalizer = "kubernetes.io/pv-protection";
  const volumes = builtin<PersistentVolume>(registry, "", "v1", "persistentvolumes");
  const context = controllerContext("pv-protection-controller");
  return startLoop(deps, {
    name: "persistentvolume-protection-controller",
    watches: { [volumes.bucket]: ownKey },
    reconcile: async (key) => {
      const volume = stored(registry, volumes, key);
      if (!volume) return undefined;
      const protectedBy = hasFinalizer(volume, finalizer);
      if (!isDeleting(volume)) {
        if (!protectedBy) await setFinalizer(registry, volumes, volume, context, finalizer, "present");
      } else if (protectedBy && volume.status?.phase !== "Bound") {
        await setFinalizer(registry, volumes, volume, context, finalizer, "absent");
      }
      return undefined;
    },
  });
}

/** The claims that a pod's volumes name. */
export function claimsOf(pod: Stored<Pod>): string[] {
  return (pod.spec.volumes ?? []).flatMap((volume) => {
    const direct = volume.persistentVolumeClaim?.claimName;
    if (direct !== undefined) return [direct];
    return volume.ephemeral === undefined ? [] : [`${pod.metadata.name}-${volume.name}`];
  });
}

function hasFinalizer(object: StoredObject, finalizer: string): boolean {
  const { finalizers } = object.metadata;
  return Array.isArray(finalizers) && finalizers.includes(finalizer);
}
