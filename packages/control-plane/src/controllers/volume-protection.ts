import { textOf } from "../json.ts";
import { field, type StoredObject } from "../storage/store.ts";
import { type ControllerDependencies, ownKey, type Running, startLoop } from "./loop.ts";
import { builtin, controllerContext, isDeleting, listAt, namespaceOf, setFinalizer } from "./objects.ts";
import { within } from "./ownership.ts";
import { isFinished } from "./pods.ts";

/** Keeps a claim that is being deleted there for as long as a pod uses it. */
export function startClaimProtection(deps: ControllerDependencies): Running {
  const { registry } = deps;
  const finalizer = "kubernetes.io/pvc-protection";
  const claims = builtin(registry, "", "v1", "persistentvolumeclaims");
  const context = controllerContext("pvc-protection-controller");
  return startLoop(deps, {
    name: "persistentvolumeclaim-protection-controller",
    watches: {
      [claims.bucket]: ownKey,
      pods: ({ entry }) => claimsOf(entry.object).map((claim) => `${namespaceOf(entry.object)}/${claim}`),
    },
    reconcile: async (key) => {
      const claim = registry.store.get(claims.bucket, key)?.object;
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

  function isUsed(claim: StoredObject): boolean {
    for (const pod of within(registry, "pods", namespaceOf(claim))) {
      const runs = field(pod, "spec", "nodeName") !== undefined && !isFinished(pod);
      if (runs && claimsOf(pod).includes(claim.metadata.name)) return true;
    }
    return false;
  }
}

/** Keeps a volume that is being deleted there for as long as a claim is bound to it. */
export function startVolumeProtection(deps: ControllerDependencies): Running {
  const { registry } = deps;
  const finalizer = "kubernetes.io/pv-protection";
  const volumes = builtin(registry, "", "v1", "persistentvolumes");
  const context = controllerContext("pv-protection-controller");
  return startLoop(deps, {
    name: "persistentvolume-protection-controller",
    watches: { [volumes.bucket]: ownKey },
    reconcile: async (key) => {
      const volume = registry.store.get(volumes.bucket, key)?.object;
      if (!volume) return undefined;
      const protectedBy = hasFinalizer(volume, finalizer);
      if (!isDeleting(volume)) {
        if (!protectedBy) await setFinalizer(registry, volumes, volume, context, finalizer, "present");
      } else if (protectedBy && field(volume, "status", "phase") !== "Bound") {
        await setFinalizer(registry, volumes, volume, context, finalizer, "absent");
      }
      return undefined;
    },
  });
}

/** The claims that a pod's volumes name. */
export function claimsOf(pod: StoredObject): string[] {
  return listAt(pod, "spec", "volumes").flatMap((volume) => {
    const direct = field(volume, "persistentVolumeClaim", "claimName");
    if (typeof direct === "string") return [direct];
    return volume.ephemeral === undefined ? [] : [`${pod.metadata.name}-${textOf(volume.name)}`];
  });
}

function hasFinalizer(object: StoredObject, finalizer: string): boolean {
  const { finalizers } = object.metadata;
  return Array.isArray(finalizers) && finalizers.includes(finalizer);
}
