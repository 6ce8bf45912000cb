import type { JsonObject } from "../json.ts";
import type { Admission } from "../registry/admission.ts";
import type { Store } from "../storage/store.ts";
import { child, has, metadataOf, text } from "../validation/fields.ts";
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
      if (has(spec, "storageClassName") || has(child(metadataOf(claim), "annotations"), betaStorageClass))
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
      const annotated = has(child(metadataOf(ingress), "annotations"), "kubernetes.io/ingress.class");
      if (has(spec, "ingressClassName") || annotated) return;
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
    const own = child(object.metadata, "annotations");
    if (annotations.some((annotation) => text(own, annotation) === "true")) defaults.push(object);
  }
  defaults.sort((a, b) => {
    const [one, other] = [metadataOf(a), metadataOf(b)];
    const age = text(other, "creationTimestamp").localeCompare(text(one, "creationTimestamp"));
    return age || (text(one, "name") < text(other, "name") ? -1 : 1);
  });
  const [first] = defaults;
  return first && text(metadataOf(first), "name");
}
