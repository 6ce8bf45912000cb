import { isObject, type JsonObject } from "../../json.ts";
import { hasAt, metadataOf, specOf, statusOf, textAt, textsAt } from "../../json-fields.ts";
import type { Strategy } from "../../registry/strategy.ts";
import { Faults } from "../../validation/faults.ts";
import { put } from "../../validation/fill.ts";
import { qualifiedName } from "../../validation/names.ts";

const nameLabel = "kubernetes.io/metadata.name";
const finalizersOf = (object: JsonObject): string[] => textsAt(specOf(object), "finalizers");

/**
 * A namespace goes in two steps: it is Terminating until its controller, having emptied it, takes
 * its name off `spec.finalizers`.
 */
export const namespace: Strategy = {
  names: "label",
  returnsDeleted: true,
  selectableFields: ["status.phase"],
  setDefaults: (object) => {
    const metadata = (isObject(object.metadata) ? object.metadata : {}) as JsonObject;
    const name = metadata.name;
    if (typeof name !== "string" || name === "") return;
    metadata.labels = { ...(isObject(metadata.labels) ? metadata.labels : {}), [nameLabel]: name };
    object.metadata = metadata;
  },
  prepareCreate: (object) => {
    const others = finalizersOf(object).filter((name) => name !== "kubernetes");
    object.spec = { finalizers: [...others, "kubernetes"] };
    object.status = { phase: "Active" };
    const metadata = metadataOf(object);
    const name = textAt(metadata, "name");
    if (name !== "" && isObject(metadata.labels)) metadata.labels[nameLabel] = name;
  },
  prepareUpdate: (next, live, { subresource }) => {
    if (subresource === "finalize") {
      put(next, "status", live.status);
      return;
    }
    // Only the finalize subresource may change what keeps a namespace there.
    next.spec = { ...specOf(next), finalizers: finalizersOf(live) };
  },
  validate: (object) => finalizerFaults(object).causes,
  validateUpdate: (next, _live, { subresource }) => {
    const faults = subresource === "status" ? new Faults() : finalizerFaults(next);
    if (subresource === "status") checkPhase(faults, next);
    return faults.causes;
  },
  heldBack: (object) => finalizersOf(object).length > 0,
  onDeletion: (object) => {
    object.status = { ...statusOf(object), phase: "Terminating" };
    // No grace period: a namespace goes when it is empty.
    delete metadataOf(object).deletionGracePeriodSeconds;
  },
};

function finalizerFaults(object: JsonObject): Faults {
  const faults = new Faults();
  for (const name of finalizersOf(object)) {
    const complaints = qualifiedName(name);
    faults.each("spec.finalizers", name, complaints);
    if (complaints.length === 0 && !name.includes("/") && name !== "kubernetes") {
      faults.invalid(
        "spec.finalizers",
        name,
        "name is neither a standard finalizer name nor is it fully qualified",
      );
    }
  }
  return faults;
}

function checkPhase(faults: Faults, object: JsonObject): void {
  const phase = textAt(statusOf(object), "phase");
  if (!hasAt(metadataOf(object), "deletionTimestamp")) {
    if (phase !== "Active") {
      faults.invalid("status.Phase", phase, "may only be 'Active' if `deletionTimestamp` is empty");
    }
  } else if (phase !== "Terminating") {
    faults.invalid("status.Phase", phase, "may only be 'Terminating' if `deletionTimestamp` is not empty");
  }
}
