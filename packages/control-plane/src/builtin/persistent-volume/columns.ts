import type { Json, JsonObject } from "../../json.ts";
import { textAt, textsAt, valueAt } from "../../json-fields.ts";
import { quantity, shown } from "../../table/cells.ts";
import { age, name } from "../../table/metadata-cells.ts";

const classAnnotation = "volume.beta.kubernetes.io/storage-class";

const shortModes: readonly (readonly [mode: string, short: string])[] = [
  ["ReadWriteOnce", "RWO"],
  ["ReadOnlyMany", "ROX"],
  ["ReadWriteMany", "RWX"],
  ["ReadWriteOncePod", "RWOP"],
];

export function accessModes(modes: readonly string[]): string {
  return shortModes
    .filter(([mode]) => modes.includes(mode))
    .map(([, short]) => short)
    .join(",");
}

export function phase(of: JsonObject): string {
  return valueAt(of, "metadata", "deletionTimestamp") === undefined
    ? textAt(of, "status", "phase")
    : "Terminating";
}

export function storageClass(of: JsonObject): string {
  const annotated = valueAt(of, "metadata", "annotations", classAnnotation);
  return typeof annotated === "string" ? annotated : shown("", of, "spec", "storageClassName");
}

export function persistentVolumeCells(of: JsonObject, now: number): Json[] {
  const claim = valueAt(of, "spec", "claimRef");
  return [
    name(of),
    quantity("0", of, "spec", "capacity", "storage"),
    accessModes(textsAt(of, "spec", "accessModes")),
    textAt(of, "spec", "persistentVolumeReclaimPolicy"),
    phase(of),
    claim === undefined ? "" : `${textAt(claim, "namespace")}/${textAt(claim, "name")}`,
    storageClass(of),
    shown("<unset>", of, "spec", "volumeAttributesClassName"),
    textAt(of, "status", "reason"),
    age(of, now),
    shown("<unset>", of, "spec", "volumeMode"),
  ];
}
