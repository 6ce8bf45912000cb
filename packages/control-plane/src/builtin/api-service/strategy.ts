import type { JsonObject } from "../../json.ts";
import type { Strategy } from "../../registry/strategy.ts";
import { Faults } from "../../validation/faults.ts";
import { child, has, metadataOf, number, specOf, text } from "../../validation/fields.ts";
import { fill } from "../../validation/fill.ts";
import { dnsLabel1035, dnsSubdomain } from "../../validation/names.ts";

/** A group version that another server answers for. */
export const apiService: Strategy = {
  names: "path",
  unconditionalUpdate: false,
  setDefaults: (object) => {
    const spec = specOf(object);
    if (has(spec, "service")) fill(child(spec, "service"), { port: 443 });
  },
  prepareCreate: (object) => {
    object.status = {};
  },
  validate: (object) => registrationFaults(object).causes,
  validateUpdate: (next, _live, { subresource }) =>
    subresource === "status" ? [] : registrationFaults(next).causes,
};

function registrationFaults(object: JsonObject): Faults {
  const faults = new Faults();
  const spec = specOf(object);
  const [group, version] = [text(spec, "group"), text(spec, "version")];
  const expected = `${version}.${group}`;
  const name = text(metadataOf(object), "name");
  if (name !== expected) {
    faults.invalid(
      "metadata.name",
      name,
      `must be \`spec.version+"."+spec.group\`: ${JSON.stringify(expected)}`,
    );
  }
  if (group !== "") faults.each("spec.group", group, dnsSubdomain(group));
  else if (version !== "v1") {
    faults.required("spec.group", "only v1 may have an empty group and it better be legacy kube");
  }
  faults.each("spec.version", version, dnsLabel1035(version));
  const [groupPriority, versionPriority] = [
    number(spec, "groupPriorityMinimum") ?? 0,
    number(spec, "versionPriority") ?? 0,
  ];
  if (groupPriority <= 0 || groupPriority > 20_000) {
    faults.invalid("spec.groupPriorityMinimum", groupPriority, "must be positive and less than 20000");
  }
  if (versionPriority <= 0 || versionPriority > 1000) {
    faults.invalid("spec.versionPriority", versionPriority, "must be positive and less than 1000");
  }
  if (!has(spec, "service")) {
    if (text(spec, "caBundle") !== "")
      faults.invalid(
        "spec.caBundle",
        `${text(spec, "caBundle").length} bytes`,
        "local APIServices may not have a caBundle",
      );
    if (spec.insecureSkipTLSVerify === true)
      faults.invalid(
        "spec.insecureSkipTLSVerify",
        true,
        "local APIServices may not have insecureSkipTLSVerify",
      );
    return faults;
  }
  const service = child(spec, "service");
  for (const part of ["namespace", "name"])
    if (text(service, part) === "") faults.required(`spec.service.${part}`);
  if (spec.insecureSkipTLSVerify === true && text(spec, "caBundle") !== "") {
    faults.invalid("spec.insecureSkipTLSVerify", true, "may not be true if caBundle is present");
  }
  return faults;
}
