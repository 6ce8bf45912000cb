import type { Json, JsonObject } from "../json.ts";
import { since } from "./duration.ts";
import { at, list, orNone, quantity, shown, text, texts } from "./fields.ts";

const name = (of: JsonObject) => text(of, "metadata", "name");
const age = (of: JsonObject, now: number) => since(text(of, "metadata", "creationTimestamp"), now);

const classAnnotation = "volume.beta.kubernetes.io/storage-class";
const defaultAnnotations = [
  "storageclass.kubernetes.io/is-default-class",
  "storageclass.beta.kubernetes.io/is-default-class",
];

const shortModes: readonly (readonly [mode: string, short: string])[] = [
  ["ReadWriteOnce", "RWO"],
  ["ReadOnlyMany", "ROX"],
  ["ReadWriteMany", "RWX"],
  ["ReadWriteOncePod", "RWOP"],
];

function accessModes(modes: readonly string[]): string {
  return shortModes
    .filter(([mode]) => modes.includes(mode))
    .map(([, short]) => short)
    .join(",");
}

function phase(of: JsonObject): string {
  return at(of, "metadata", "deletionTimestamp") === undefined ? text(of, "status", "phase") : "Terminating";
}

function storageClass(of: JsonObject): string {
  const annotated = at(of, "metadata", "annotations", classAnnotation);
  return typeof annotated === "string" ? annotated : shown("", of, "spec", "storageClassName");
}

export function persistentVolumeCells(of: JsonObject, now: number): Json[] {
  const claim = at(of, "spec", "claimRef");
  return [
    name(of),
    quantity("0", of, "spec", "capacity", "storage"),
    accessModes(texts(of, "spec", "accessModes")),
    text(of, "spec", "persistentVolumeReclaimPolicy"),
    phase(of),
    claim === undefined ? "" : `${text(claim, "namespace")}/${text(claim, "name")}`,
    storageClass(of),
    shown("<unset>", of, "spec", "volumeAttributesClassName"),
    text(of, "status", "reason"),
    age(of, now),
    shown("<unset>", of, "spec", "volumeMode"),
  ];
}

export function persistentVolumeClaimCells(of: JsonObject, now: number): Json[] {
  const volume = text(of, "spec", "volumeName");
  return [
    name(of),
    phase(of),
    volume,
    volume === "" ? "" : quantity("0", of, "status", "capacity", "storage"),
    volume === "" ? "" : accessModes(texts(of, "status", "accessModes")),
    storageClass(of),
    shown("<unset>", of, "spec", "volumeAttributesClassName"),
    age(of, now),
    shown("<unset>", of, "spec", "volumeMode"),
  ];
}

export function storageClassCells(of: JsonObject, now: number): Json[] {
  const isDefault = defaultAnnotations.some((key) => at(of, "metadata", "annotations", key) === "true");
  return [
    `${name(of)}${isDefault ? " (default)" : ""}`,
    text(of, "provisioner"),
    shown("Delete", of, "reclaimPolicy"),
    shown("Immediate", of, "volumeBindingMode"),
    at(of, "allowVolumeExpansion") === true,
    age(of, now),
  ];
}

export function volumeAttributesClassCells(of: JsonObject, now: number): Json[] {
  return [name(of), text(of, "driverName"), age(of, now)];
}

export function volumeAttachmentCells(of: JsonObject, now: number): Json[] {
  return [
    name(of),
    text(of, "spec", "attacher"),
    text(of, "spec", "source", "persistentVolumeName"),
    text(of, "spec", "nodeName"),
    at(of, "status", "attached") === true,
    age(of, now),
  ];
}

export function csiDriverCells(of: JsonObject, now: number): Json[] {
  const requests = list(of, "spec", "tokenRequests");
  return [
    name(of),
    at(of, "spec", "attachRequired") !== false,
    at(of, "spec", "podInfoOnMount") === true,
    at(of, "spec", "storageCapacity") === true,
    requests.length === 0 ? "<unset>" : requests.map((request) => text(request, "audience")).join(","),
    at(of, "spec", "requiresRepublish") === true,
    orNone(texts(of, "spec", "volumeLifecycleModes").join(",")),
    age(of, now),
  ];
}

export function csiNodeCells(of: JsonObject, now: number): Json[] {
  return [name(of), list(of, "spec", "drivers").length, age(of, now)];
}
