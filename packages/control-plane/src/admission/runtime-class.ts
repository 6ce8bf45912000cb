import { clone, equal, type JsonObject } from "../json.ts";
import { hasAt, itemsAt, objectAt, pairsAt, specOf, textAt } from "../json-fields.ts";
import type { Admission, AdmissionRequest } from "../registry/admission.ts";
import type { Store } from "../storage/store.ts";
import { ensure } from "../validation/fill.ts";
import { creationOf, refuse } from "./plugin.ts";

/** Pods of a runtime class get its overhead and run where it says. */
export function runtimeClasses(store: Store): Admission {
  return {
    name: "RuntimeClass",
    mutate: (request) => {
      const pod = creationOf(request, "", "pods");
      const name = pod && textAt(specOf(pod), "runtimeClassName");
      if (!pod || !name) return;
      const found = store.get("runtimeclasses.node.k8s.io", name)?.object;
      if (!found) throw refuse(request, `pod rejected: RuntimeClass ${JSON.stringify(name)} not found`);
      setOverhead(request, specOf(pod), found);
      setScheduling(request, specOf(pod), objectAt(found, "scheduling"));
    },
    validate: (request) => {
      const pod = creationOf(request, "", "pods");
      if (!pod || !hasAt(specOf(pod), "overhead")) return;
      const found = store.get("runtimeclasses.node.k8s.io", textAt(specOf(pod), "runtimeClassName"))?.object;
      if (!found || !hasAt(found, "overhead")) {
        throw refuse(
          request,
          "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead",
        );
      }
    },
  };
}

function setOverhead(request: AdmissionRequest, spec: JsonObject, found: JsonObject): void {
  if (!hasAt(found, "overhead")) return;
  const fixed = objectAt(objectAt(found, "overhead"), "podFixed");
  if (hasAt(spec, "overhead") && !equal(spec.overhead, fixed)) {
    throw refuse(request, "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead");
  }
  spec.overhead = clone(fixed);
}

function setScheduling(request: AdmissionRequest, spec: JsonObject, scheduling: JsonObject): void {
  for (const [key, value] of pairsAt(scheduling, "nodeSelector")) {
    const selector = ensure(spec, "nodeSelector");
    const own = selector[key];
    if (own !== undefined && own !== value) {
      throw refuse(
        request,
        `conflict: runtimeClass.scheduling.nodeSelector[${key}] = ${value}; pod.spec.nodeSelector[${key}] = ${String(own as string)}`,
      );
    }
    selector[key] = value;
  }
  const added = itemsAt(scheduling, "tolerations").filter(
    (toleration) => !itemsAt(spec, "tolerations").some((own) => equal(own, toleration)),
  );
  if (added.length > 0) spec.tolerations = [...itemsAt(spec, "tolerations"), ...clone(added)];
}
