import { field, objectAt, specOf, textAt, textsAt } from "../json-fields.ts";
import type { Admission } from "../registry/admission.ts";
import type { Store } from "../storage/store.ts";
import { compareAmounts } from "../validation/amounts.ts";
import { ensure } from "../validation/fill.ts";
import { creationOf, refuse, writeOf } from "./plugin.ts";

const finalizers: { readonly [plural: string]: string } = {
  persistentvolumeclaims: "kubernetes.io/pvc-protection",
  persistentvolumes: "kubernetes.io/pv-protection",
};

/** Adds the finalizers that protect claims and volumes while they are in use. */
export function inUseProtection(): Admission {
  return {
    name: "StorageObjectInUseProtection",
    mutate: (request) => {
      const { plural, group } = request.resource.info;
      const finalizer = group === "" && Object.hasOwn(finalizers, plural) ? finalizers[plural] : undefined;
      const object = finalizer === undefined ? undefined : creationOf(request, "", plural);
      if (!object || finalizer === undefined) return;
      const metadata = ensure(object, "metadata");
      const present = textsAt(metadata, "finalizers");
      if (!present.includes(finalizer)) metadata.finalizers = [...present, finalizer];
    },
  };
}

/** Claims grow only where their class says that volumes can. */
export function claimResize(store: Store): Admission {
  return {
    name: "PersistentVolumeClaimResize",
    validate: (request) => {
      const claim = request.operation === "UPDATE" && writeOf(request, "", "persistentvolumeclaims");
      const before = request.oldObject;
      if (!claim || !before) return;
      const size = (object: typeof claim) =>
        field(objectAt(objectAt(specOf(object), "resources"), "requests"), "storage");
      if (compareAmounts(size(claim), size(before)) <= 0) return;
      const name = textAt(specOf(claim), "storageClassName");
      const found = store.get("storageclasses.storage.k8s.io", name)?.object;
      if (found?.allowVolumeExpansion === true) return;
      throw refuse(
        request,
        "only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize",
      );
    },
  };
}
