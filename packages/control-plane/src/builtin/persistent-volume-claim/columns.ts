import type { Json, JsonObject } from "../../json.ts";
import { textAt, textsAt } from "../../json-fields.ts";
import { quantity, shown } from "../../table/cells.ts";
import { age, name } from "../../table/metadata-cells.ts";
import { accessModes, phase, storageClass } from "../persistent-volume/columns.ts";

export function persistentVolumeClaimCells(of: JsonObject, now: number): Json[] {
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
