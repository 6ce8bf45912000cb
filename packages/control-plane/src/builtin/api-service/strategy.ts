import type { JsonObject } from "../../json.ts";
import { hasAt, metadataOf, numberAt, objectAt, specOf, textAt } from "../../json-fields.ts";
import type { Strategy } from "../../registry/strategy.ts";
import { Faults } from "../../validation/faults.ts";
import { fill } from "../../validation/fill.ts";
import { dnsLabel1035, dnsSubdomain } from "../../validation/names.ts";

/** A group version that another server answers for. */
export const apiService: Strategy = {
  names: "path",
  unconditionalUpdate: false,
  setDefaults: (object) => {
    const spec = specOf(object);
    if (hasAt(spec, "service")) fill(objectAt(spec, "service"), { port: 443 });
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
  const [group, version] = [textAt(spec, "group"), textAt(spec, "version")];
  const expected = `${version}.${group}`;
  const name = textAt(metadataOf(object), "name");
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
    numberAt(spec, "groupPriorityMinimum") ?? 0,
    numberAt(spec, "versionPriority") ?? 0,
  ];
  if (groupPriority <= 0 || groupPriority > 20_000) {
    faults.invalid("spec.groupPriorityMinimum", groupPriority, "must be positive and less than 20000");
  }
  if (versionPriority <= 0 || versionPriority > 1000) {
    faults.invalid("spec.versionPriority", versionPriority, "must be positive and less than 1000");
  }
  if (!hasAt(spec, "service")) {
    if (textAt(spec, "caBundle") !== "")
      faults.invalid(
        "spec.caBundle",
        `${textAt(spec, "caBundle").length} bytes`,
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
  const service = objectAt(spec, "service");
  for (const part of ["namespace", "name"])
    if (textAt(service, part) === "") faults.required(`spec.service.${part}`);
  if (spec.insecureSkipTLSVerify === true && textAt(spec, "caBundle") !== "") {
    faults.invalid("spec.insecureSkipTLSVerify", true, "may not be true if caBundle is present");
  }
  return faults;
}
