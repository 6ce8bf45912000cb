import type { PersistentVolume, PersistentVolumeClaim } from "@windlass/kinds/builtin";
import type { Json } from "../../json.ts";
import { partAt, quantity, shown, textAt, textsAt } from "../../table/fields.ts";
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

/** A volume, or a claim of one. */
type Volume = PersistentVolume | PersistentVolumeClaim;

export function phase(of: Volume): string {
  return textAt(of, "metadata", "deletionTimestamp") === "" ? textAt(of, "status", "phase") : "Terminating";
}

export function storageClass(of: Volume): string {
  return shown(shown("", of, "spec", "storageClassName"), of, "metadata", "annotations", classAnnotation);
}

export function persistentVolumeCells(of: PersistentVolume, now: number): Json[] {
  const claim = partAt(of, "spec", "claimRef");
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
