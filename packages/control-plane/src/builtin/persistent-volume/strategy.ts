import { equal, type JsonObject } from "../../json.ts";
import { field, hasAt, objectAt, specOf, statusOf, textAt, textsAt } from "../../json-fields.ts";
import { timestamp } from "../../registry/metadata.ts";
import type { Strategy } from "../../registry/strategy.ts";
import { amount, checkPlainAmount } from "../../validation/amounts.ts";
import { Faults, immutable } from "../../validation/faults.ts";
import { ensure, fill, put } from "../../validation/fill.ts";
import { dnsSubdomain } from "../../validation/names.ts";
import { checkNodeSelector } from "../../validation/selectors.ts";
import { checkAccessModes, volumeModes } from "../persistent-volume-claim/spec.ts";
import { sharedSourceDefaults } from "../pod/defaults.ts";
import { checkNoBacksteps } from "../pod/volume-mounts.ts";
import {
  checkCephFs,
  checkDriverName,
  checkFc,
  checkHostPath,
  checkNfs,
  checkRbd,
  needs,
} from "../pod/volumes.ts";

const policies = ["Delete", "Recycle", "Retain"];

export const persistentVolume: Strategy = {
  returnsDeleted: true,
  setDefaults: (object) => {
    const spec = ensure(object, "spec");
    if (textAt(spec, "persistentVolumeReclaimPolicy") === "") spec.persistentVolumeReclaimPolicy = "Retain";
    fill(spec, { volumeMode: "Filesystem" });
    sharedSourceDefaults(spec);
    const status = ensure(object, "status");
    if (textAt(status, "phase") === "") status.phase = "Pending";
  },
  prepareCreate: (object, { clock }) => {
    object.status = { phase: "Pending", lastPhaseTransitionTime: timestamp(clock) };
  },
  prepareUpdate: (next, live, { subresource, clock }) => {
    if (subresource !== "status") return;
    const [now, before] = [statusOf(next), statusOf(live)];
    if (textAt(now, "phase") !== textAt(before, "phase")) {
      if (equal(now.lastPhaseTransitionTime, before.lastPhaseTransitionTime)) {
        now.lastPhaseTransitionTime = timestamp(clock);
      }
    } else if (!hasAt(now, "lastPhaseTransitionTime")) {
      put(now, "lastPhaseTransitionTime", before.lastPhaseTransitionTime);
    }
  },
  validate: (object) => specFaults(object).causes,
  validateUpdate: (next, live, { subresource }) => {
    if (subresource === "status") return [];
    const faults = specFaults(next);
    const [now, before] = [specOf(next), specOf(live)];
    if (!equal(sourcesOf(now), sourcesOf(before))) {
      faults.forbidden(
        "spec.persistentvolumesource",
        "spec.persistentvolumesource is immutable after creation\n",
      );
    }
    if (textAt(now, "volumeMode") !== textAt(before, "volumeMode")) {
      faults.invalid("volumeMode", textAt(now, "volumeMode"), immutable);
    }
    if (hasAt(before, "nodeAffinity") && !equal(now.nodeAffinity, before.nodeAffinity)) {
      faults.invalid("nodeAffinity", now.nodeAffinity, immutable);
    }
    return faults.causes;
  },
};

/** Fields of the spec that are not a volume's source. */
const plain = new Set([
  "capacity",
  "accessModes",
  "claimRef",
  "persistentVolumeReclaimPolicy",
  "storageClassName",
  "mountOptions",
  "volumeMode",
  "nodeAffinity",
  "volumeAttributesClassName",
]);

function sourcesOf(spec: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(spec).filter(([name]) => !plain.has(name)));
}

function specFaults(object: JsonObject): Faults {
  const faults = new Faults();
  const spec = specOf(object);
  const modes = textsAt(spec, "accessModes");
  if (modes.length === 0) faults.required("spec.accessModes");
  checkAccessModes(faults, "spec.accessModes", modes);
  const capacity = objectAt(spec, "capacity");
  if (Object.keys(capacity).length === 0) faults.required("spec.capacity");
  const size = field(capacity, "storage");
  if (size === undefined || Object.keys(capacity).length > 1) {
    faults.unsupported("spec.capacity", capacityShown(capacity), ["storage"]);
  }
  for (const [name, value] of Object.entries(capacity)) {
    checkPlainAmount(faults, `spec.capacity[${name}]`, value);
    if (amount(value).nanos <= 0n)
      faults.invalid(`spec.capacity[${name}]`, value, "must be greater than zero");
  }
  const policy = textAt(spec, "persistentVolumeReclaimPolicy");
  if (policy !== "") faults.oneOf("spec.persistentVolumeReclaimPolicy", policy, policies);
  if (hasAt(spec, "nodeAffinity")) {
    const affinity = objectAt(spec, "nodeAffinity");
    if (hasAt(affinity, "required")) {
      checkNodeSelector(faults, "spec.nodeAffinity.required", objectAt(affinity, "required"));
    } else faults.required("spec.nodeAffinity.required", "must specify required node constraints");
  }
  checkSource(faults, spec);
  if (policy === "Recycle" && textAt(objectAt(spec, "hostPath"), "path") === "/") {
    faults.forbidden(
      "spec.persistentVolumeReclaimPolicy",
      "may not be 'recycle' for a hostPath mount of '/'",
    );
  }
  const className = textAt(spec, "storageClassName");
  if (className !== "") faults.each("spec.storageClassName", className, dnsSubdomain(className));
  if (hasAt(spec, "volumeMode")) faults.oneOf("spec.volumeMode", textAt(spec, "volumeMode"), volumeModes);
  return faults;
}

function capacityShown(capacity: JsonObject): JsonObject | null {
  return Object.keys(capacity).length === 0 ? null : capacity;
}

function checkSource(faults: Faults, spec: JsonObject): void {
  const used = Object.keys(sourcesOf(spec));
  if (used.length === 0) {
    faults.required("spec", "must specify a volume type");
    return;
  }
  const order = Object.keys(checks);
  const sorted = used.sort((a, b) => order.indexOf(a) - order.indexOf(b));
  for (const [index, name] of sorted.entries()) {
    if (index > 0) faults.forbidden(`spec.${name}`, "may not specify more than 1 volume type");
    else checks[name]?.(faults, `spec.${name}`, objectAt(spec, name), spec);
  }
}

type SourceCheck = (faults: Faults, at: string, source: JsonObject, spec: JsonObject) => void;

function needing(...parts: string[]): SourceCheck {
  return (faults, at, source) => needs(faults, at, source, ...parts);
}

/** In the order the real server looks at them. */
const checks: { readonly [source: string]: SourceCheck } = {
  hostPath: checkHostPath,
  // Its path is not that of the field.
  gcePersistentDisk: (faults, _at, source) => needs(faults, "spec.persistentDisk", source, "pdName"),
  awsElasticBlockStore: needing("volumeID"),
  glusterfs: needing("endpoints", "path"),
  flocker: (faults, at, source) => {
    if (textAt(source, "datasetName") === "" && textAt(source, "datasetUUID") === "")
      faults.required(at, "one of datasetName and datasetUUID is required");
  },
  nfs: checkNfs,
  rbd: checkRbd,
  quobyte: (faults, at, source) => {
    if (textAt(source, "registry") === "") {
      const why = "must be a host:port pair or multiple pairs separated by commas";
      faults.required(`${at}.registry`, why);
    }
    needs(faults, at, source, "volume");
  },
  cephfs: checkCephFs,
  iscsi: needing("targetPortal", "iqn"),
  cinder: needing("volumeID"),
  fc: checkFc,
  flexVolume: needing("driver"),
  azureFile: needing("secretName", "shareName"),
  vsphereVolume: needing("volumePath"),
  photonPersistentDisk: needing("pdID"),
  portworxVolume: needing("volumeID"),
  azureDisk: needing("diskName", "diskURI"),
  scaleIO: needing("gateway", "system", "volumeName"),
  local: (faults, at, source, spec) => {
    const path = textAt(source, "path");
    if (path === "") faults.required(`${at}.path`);
    else checkNoBacksteps(faults, `${at}.path`, path);
    if (!hasAt(spec, "nodeAffinity")) {
      faults.required("spec.nodeAffinity", "Local volume requires node affinity");
    }
  },
  storageos: needing("volumeName"),
  csi: (faults, at, source) => {
    checkDriverName(faults, `${at}.driver`, textAt(source, "driver"));
    needs(faults, at, source, "volumeHandle");
  },
};
