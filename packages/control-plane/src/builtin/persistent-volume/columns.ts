import type { Json, JsonObject } from "../../json.ts";
import { at, quantity, shown, text, texts } from "../../table/fields.ts";
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
  return at(of, "metadata", "deletionTimestamp") === undefined ? text(of, "status", "phase") : "Terminating";
}

export function storageClass(of: JsonObject): string {
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
