import type { JsonObject } from "../../json.ts";
import { amount, checkResourceName } from "../../validation/amounts.ts";
import type { Faults } from "../../validation/faults.ts";
import { child, has, own, text, texts } from "../../validation/fields.ts";
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
  const modes = texts(spec, "accessModes");
  if (modes.length === 0) faults.required(`${at}.accessModes`, "at least 1 access mode is required");
  if (has(spec, "selector")) checkSelector(faults, `${at}.selector`, child(spec, "selector"));
  checkAccessModes(faults, `${at}.accessModes`, modes);
  const wanted = own(child(child(spec, "resources"), "requests"), "storage");
  if (wanted === undefined) faults.required(`${at}.resources[storage]`);
  else {
    checkResourceName(faults, `${at}.resources[storage]`, "storage");
    if (amount(wanted).nanos <= 0n) {
      faults.invalid(`${at}.resources[storage]`, wanted, "must be greater than zero");
    }
  }
  const className = text(spec, "storageClassName");
  if (className !== "") faults.each(`${at}.storageClassName`, className, dnsSubdomain(className));
  if (has(spec, "volumeMode")) faults.oneOf(`${at}.volumeMode`, text(spec, "volumeMode"), volumeModes);
  const attributes = text(spec, "volumeAttributesClassName");
  if (attributes !== "") faults.each(`${at}.volumeAttributesClassName`, attributes, dnsSubdomain(attributes));
  checkDataSource(faults, `${at}.dataSource`, spec, "dataSource");
  checkDataSource(faults, `${at}.dataSourceRef`, spec, "dataSourceRef");
}

function checkDataSource(faults: Faults, at: string, spec: JsonObject, name: string): void {
  if (!has(spec, name)) return;
  const source = child(spec, name);
  if (text(source, "name") === "") faults.required(`${at}.name`);
  if (text(source, "kind") === "") faults.required(`${at}.kind`);
  const group = text(source, "apiGroup");
  if (group === "" && text(source, "kind") !== "PersistentVolumeClaim") {
    faults.invalid(
      at,
      text(source, "kind"),
      "must be 'PersistentVolumeClaim' when referencing the default apiGroup",
    );
  }
  if (group !== "") faults.each(at, group, dnsSubdomain(group));
}
