import { clone, equal, type JsonObject } from "../../json.ts";
import { field, hasAt, metadataOf, objectAt, specOf, statusOf, textAt, textsAt } from "../../json-fields.ts";
import type { Strategy } from "../../registry/strategy.ts";
import { checkPlainAmount, compareAmounts } from "../../validation/amounts.ts";
import { Faults } from "../../validation/faults.ts";
import { ensure, fill, put } from "../../validation/fill.ts";
import { checkAccessModes, checkClaimSpec } from "./spec.ts";

const classAnnotation = "volume.beta.kubernetes.io/storage-class";
const onlyGrows =
  "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims\n";

export const persistentVolumeClaim: Strategy = {
  returnsDeleted: true,
  settlesLate: () => true,
  setDefaults: (object) => {
    fill(ensure(object, "spec"), { volumeMode: "Filesystem" });
    const status = ensure(object, "status");
    if (textAt(status, "phase") === "") status.phase = "Pending";
  },
  prepareCreate: (object, { warn }) => {
    object.status = { phase: "Pending" };
    settleDataSources(specOf(object));
    if (hasAt(objectAt(metadataOf(object), "annotations"), classAnnotation)) {
      warn(
        `metadata.annotations[${classAnnotation}]: deprecated since v1.8; use "storageClassName" attribute instead`,
      );
    }
  },
  validate: (object) => {
    const faults = new Faults();
    checkClaimSpec(faults, "spec", specOf(object));
    return faults.causes;
  },
  validateUpdate: (next, live, { subresource }) =>
    subresource === "status" ? statusFaults(next).causes : updateFaults(next, live).causes,
};

/**
 * The older and the newer name of where a volume's content comes from are kept the same; what
 * neither allows is dropped.
 */
function settleDataSources(spec: JsonObject): void {
  const source = objectAt(spec, "dataSource");
  if (hasAt(spec, "dataSource")) {
    const group = textAt(source, "apiGroup");
    const kind = textAt(source, "kind");
    const known =
      (kind === "PersistentVolumeClaim" && group === "") ||
      (kind === "VolumeSnapshot" && group === "snapshot.storage.k8s.io");
    if (!known) delete spec.dataSource;
  }
  if (hasAt(spec, "dataSource") && !hasAt(spec, "dataSourceRef")) put(spec, "dataSourceRef", spec.dataSource);
  else if (!hasAt(spec, "dataSource") && hasAt(spec, "dataSourceRef")) {
    const reference = objectAt(spec, "dataSourceRef");
    if (hasAt(reference, "namespace")) return;
    put(spec, "dataSource", reference);
  }
  for (const name of ["dataSource", "dataSourceRef"]) {
    const value = spec[name];
    if (hasAt(spec, name) && !Object.hasOwn(value as JsonObject, "apiGroup")) {
      spec[name] = { apiGroup: null, ...(value as JsonObject) };
    }
  }
}

function statusFaults(next: JsonObject): Faults {
  const faults = new Faults();
  const status = statusOf(next);
  if (textsAt(status, "accessModes").length > 0) {
    checkAccessModes(faults, "status.accessModes", textsAt(status, "accessModes"));
  }
  for (const [name, value] of Object.entries(objectAt(status, "capacity"))) {
    checkPlainAmount(faults, `status.capacity[${name}]`, value);
  }
  return faults;
}

function updateFaults(next: JsonObject, live: JsonObject): Faults {
  const faults = new Faults();
  const now = clone(specOf(next));
  const before = specOf(live);
  checkClaimSpec(faults, "spec", now);
  // The binder names the volume, once.
  if (textAt(before, "volumeName") === "" && textAt(now, "volumeName") !== "")
    put(now, "volumeName", undefined);
  // A claim that came without a class may be given one.
  if (!hasAt(before, "storageClassName")) delete now.storageClassName;
  const bound = textAt(statusOf(live), "phase") === "Bound";
  const [size, had] = [requested(now), requested(before)];
  if (bound) {
    put(ensure(now, "resources"), "requests", objectAt(objectAt(before, "resources"), "requests"));
    put(now, "volumeAttributesClassName", before.volumeAttributesClassName);
  }
  if (!equal(now, before)) faults.forbidden("spec", `${onlyGrows}${differing(now, before)}`);
  else if (bound && size !== undefined && had !== undefined && compareAmounts(size, had) < 0) {
    const capacity = field(objectAt(statusOf(live), "capacity"), "storage");
    if (capacity !== undefined && compareAmounts(size, capacity) <= 0) {
      faults.forbidden("spec.resources.requests.storage", "field can not be less than status.capacity");
    }
  }
  return faults;
}

function requested(spec: JsonObject) {
  return field(objectAt(objectAt(spec, "resources"), "requests"), "storage");
}

function differing(now: JsonObject, before: JsonObject): string {
  const names = new Set([...Object.keys(now), ...Object.keys(before)]);
  return [...names].filter((name) => !equal(now[name], before[name])).join(", ");
}
