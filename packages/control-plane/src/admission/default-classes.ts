import type { JsonObject } from "../json.ts";
import { hasAt, metadataOf, objectAt, textAt } from "../json-fields.ts";
import type { Admission } from "../registry/admission.ts";
import type { Store } from "../storage/store.ts";
import { ensure } from "../validation/fill.ts";
import { creationOf } from "./plugin.ts";

const betaStorageClass = "volume.beta.kubernetes.io/storage-class";

/** Claims that name no class get the cluster's. */
export function defaultStorageClass(store: Store): Admission {
  return {
    name: "DefaultStorageClass",
    mutate: (request) => {
      const claim = creationOf(request, "", "persistentvolumeclaims");
      if (!claim) return;
      const spec = ensure(claim, "spec");
      if (
        hasAt(spec, "storageClassName") ||
        hasAt(objectAt(metadataOf(claim), "annotations"), betaStorageClass)
      )
        return;
      const name = newestDefault(store, "storageclasses.storage.k8s.io", [
        "storageclass.kubernetes.io/is-default-class",
        "storageclass.beta.kubernetes.io/is-default-class",
      ]);
      if (name !== undefined) spec.storageClassName = name;
    },
  };
}

/** Ingresses that name no class get the cluster's. */
export function defaultIngressClass(store: Store): Admission {
  return {
    name: "DefaultIngressClass",
    mutate: (request) => {
      const ingress = creationOf(request, "networking.k8s.io", "ingresses");
      if (!ingress) return;
      const spec = ensure(ingress, "spec");
      const annotated = hasAt(objectAt(metadataOf(ingress), "annotations"), "kubernetes.io/ingress.class");
      if (hasAt(spec, "ingressClassName") || annotated) return;
      const name = newestDefault(store, "ingressclasses.networking.k8s.io", [
        "ingressclass.kubernetes.io/is-default-class",
      ]);
      if (name !== undefined) spec.ingressClassName = name;
    },
  };
}

/**
 * The class that says it is the default; the newest of them if several do, and of one age the first
 * by name.
 */
function newestDefault(store: Store, bucket: string, annotations: readonly string[]): string | undefined {
  const defaults: JsonObject[] = [];
  for (const { object } of store.entries(bucket)) {
    const own = objectAt(object.metadata, "annotations");
    if (annotations.some((annotation) => textAt(own, annotation) === "true")) defaults.push(object);
  }
  defaults.sort((a, b) => {
    const [one, other] = [metadataOf(a), metadataOf(b)];
    const age = textAt(other, "creationTimestamp").localeCompare(textAt(one, "creationTimestamp"));
    return age || (textAt(one, "name") < textAt(other, "name") ? -1 : 1);
  });
  const [first] = defaults;
  return first && textAt(metadataOf(first), "name");
}
