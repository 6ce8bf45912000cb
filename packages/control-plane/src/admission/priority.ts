import type { JsonObject } from "../json.ts";
import { metadataOf, numberAt, textAt } from "../json-fields.ts";
import type { Admission, AdmissionRequest } from "../registry/admission.ts";
import type { Store } from "../storage/store.ts";
import { ensure } from "../validation/fill.ts";
import { creationOf, refuse, writeOf } from "./plugin.ts";

const bucket = "priorityclasses.scheduling.k8s.io";

/** Pods get the value of their priority class; at most one class is the default. */
export function priorities(store: Store): Admission {
  return {
    name: "Priority",
    mutate: (request) => {
      const pod = creationOf(request, "", "pods");
      if (pod) setPriority(request, ensure(pod, "spec"), store);
    },
    validate: (request) => {
      const made = writeOf(request, "scheduling.k8s.io", "priorityclasses");
      if (made?.globalDefault !== true || request.operation === "DELETE") return;
      const name = textAt(metadataOf(made), "name");
      for (const { object } of store.entries(bucket)) {
        if (object.globalDefault === true && object.metadata.name !== name) {
          throw refuse(
            request,
            `PriorityClass ${object.metadata.name} is already marked as default. Only one default can exist`,
          );
        }
      }
    },
  };
}

function setPriority(request: AdmissionRequest, spec: JsonObject, store: Store): void {
  let name = textAt(spec, "priorityClassName");
  let found: JsonObject | undefined;
  if (name === "") {
    found = defaultClass(store);
    name = found ? textAt(metadataOf(found), "name") : "";
    if (name !== "") spec.priorityClassName = name;
  } else {
    found = store.get(bucket, name)?.object;
    if (!found) throw refuse(request, `no PriorityClass with name ${name} was found`);
  }
  const priority = found ? (numberAt(found, "value") ?? 0) : 0;
  const given = numberAt(spec, "priority");
  if (given !== undefined && given !== priority) {
    throw refuse(
      request,
      `the integer value of priority (${given}) must not be provided in pod spec; priority admission controller computed ${priority} from the given PriorityClass name`,
    );
  }
  spec.priority = priority;
  const policy = (found && textAt(found, "preemptionPolicy")) || "PreemptLowerPriority";
  const asked = textAt(spec, "preemptionPolicy");
  if (asked !== "" && asked !== policy) {
    throw refuse(
      request,
      `the string value of PreemptionPolicy (${asked}) must not be provided in pod spec; priority admission controller computed ${policy} from the given PriorityClass name`,
    );
  }
  spec.preemptionPolicy = policy;
}

/** The lowest of the default classes, should there be several. */
function defaultClass(store: Store): JsonObject | undefined {
  let lowest: JsonObject | undefined;
  for (const { object } of store.entries(bucket)) {
    if (object.globalDefault !== true) continue;
    if (!lowest || (numberAt(object, "value") ?? 0) < (numberAt(lowest, "value") ?? 0)) lowest = object;
  }
  return lowest;
}
