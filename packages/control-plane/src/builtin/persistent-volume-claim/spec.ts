import type { JsonObject } from "../../json.ts";
import { field, hasAt, objectAt, textAt, textsAt } from "../../json-fields.ts";
import { amount, checkResourceName } from "../../validation/amounts.ts";
import type { Faults } from "../../validation/faults.ts";
import { dnsSubdomain } from "../../validation/names.ts";
import { checkSelector } from "../../validation/selectors.ts";

export const accessModes = ["ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"];
export const volumeModes = ["Block", "Filesystem"];

/** The modes that a claim or a volume asks for. */
export function checkAccessModes(faults: Faults, at: string, modes: readonly string[]): void {
  let alone = false;
  for (const mode of modes) {
    faults.oneOf(at, mode, accessModes);
    if (mode === "ReadWriteOncePod") alone = true;
  }
  if (alone && modes.length > 1) {
    faults.forbidden(at, "may not use ReadWriteOncePod with other access modes");
  }
}

/** The spec of a PersistentVolumeClaim, of its own or in a template. */
export function checkClaimSpec(faults: Faults, at: string, spec: JsonObject): void {
  const modes = textsAt(spec, "accessModes");
  if (modes.length === 0) faults.required(`${at}.accessModes`, "at least 1 access mode is required");
  if (hasAt(spec, "selector")) checkSelector(faults, `${at}.selector`, objectAt(spec, "selector"));
  checkAccessModes(faults, `${at}.accessModes`, modes);
  const wanted = field(objectAt(objectAt(spec, "resources"), "requests"), "storage");
  if (wanted === undefined) faults.required(`${at}.resources[storage]`);
  else {
    checkResourceName(faults, `${at}.resources[storage]`, "storage");
    if (amount(wanted).nanos <= 0n) {
      faults.invalid(`${at}.resources[storage]`, wanted, "must be greater than zero");
    }
  }
  const className = textAt(spec, "storageClassName");
  if (className !== "") faults.each(`${at}.storageClassName`, className, dnsSubdomain(className));
  if (hasAt(spec, "volumeMode")) faults.oneOf(`${at}.volumeMode`, textAt(spec, "volumeMode"), volumeModes);
  const attributes = textAt(spec, "volumeAttributesClassName");
  if (attributes !== "") faults.each(`${at}.volumeAttributesClassName`, attributes, dnsSubdomain(attributes));
  checkDataSource(faults, `${at}.dataSource`, spec, "dataSource");
  checkDataSource(faults, `${at}.dataSourceRef`, spec, "dataSourceRef");
}

function checkDataSource(faults: Faults, at: string, spec: JsonObject, name: string): void {
  if (!hasAt(spec, name)) return;
  const source = objectAt(spec, name);
  if (textAt(source, "name") === "") faults.required(`${at}.name`);
  if (textAt(source, "kind") === "") faults.required(`${at}.kind`);
  const group = textAt(source, "apiGroup");
  if (group === "" && textAt(source, "kind") !== "PersistentVolumeClaim") {
    faults.invalid(
      at,
      textAt(source, "kind"),
      "must be 'PersistentVolumeClaim' when referencing the default apiGroup",
    );
  }
  if (group !== "") faults.each(at, group, dnsSubdomain(group));
}
