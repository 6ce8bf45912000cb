import type { PersistentVolumeClaim } from "@windlass/kinds/builtin";
import type { Json } from "../../json.ts";
import { quantity, shown, textAt, textsAt } from "../../table/fields.ts";
import { age, name } from "../../table/metadata-cells.ts";
import { accessModes, phase, storageClass } from "../persistent-volume/columns.ts";

export function persistentVolumeClaimCells(of: PersistentVolumeClaim, now: number): Json[] {
  const volume = textAt(of, "spec", "volumeName");
  return [
    name(of),
    phase(of),
    volume,
    volume === "" ? "" : quantity("0", of, "status", "capacity", "storage"),
    volume === "" ? "" : accessModes(textsAt(of, "status", "accessModes")),
    storageClass(of),
    shown("<unset>", of, "spec", "volumeAttributesClassName"),
    age(of, now),
    shown("<unset>", of, "spec", "volumeMode"),
  ];
}
