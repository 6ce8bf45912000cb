import type { JsonObject } from "../../json.ts";
import { field, hasAt, objectAt, specOf, textAt } from "../../json-fields.ts";
import type { Strategy } from "../../registry/strategy.ts";
import { checkCountOrPercent, notAboveAll } from "../../validation/amounts.ts";
import { Faults } from "../../validation/faults.ts";
import { checkSelector } from "../../validation/selectors.ts";
import { checkCounts } from "../pod/template.ts";

export const podDisruptionBudget: Strategy = {
  generation: true,
  unconditionalUpdate: false,
  metadataLast: true,
  prepareCreate: (object) => {
    object.status = {};
  },
  validate: (object) => budgetFaults(object).causes,
  validateUpdate: (next, _live, { subresource }) => {
    if (subresource !== "status") return budgetFaults(next).causes;
    const faults = new Faults();
    checkCounts(faults, next, ["disruptionsAllowed", "currentHealthy", "desiredHealthy", "expectedPods"]);
    return faults.causes;
  },
};

function budgetFaults(object: JsonObject): Faults {
  const faults = new Faults();
  const spec = specOf(object);
  if (hasAt(spec, "minAvailable") && hasAt(spec, "maxUnavailable")) {
    const shown = {
      MinAvailable: field(spec, "minAvailable") ?? null,
      Selector: field(spec, "selector") ?? null,
      MaxUnavailable: field(spec, "maxUnavailable") ?? null,
      UnhealthyPodEvictionPolicy: field(spec, "unhealthyPodEvictionPolicy") ?? null,
    };
    faults.invalid("spec", shown, "minAvailable and maxUnavailable cannot be both set");
  }
  for (const part of ["minAvailable", "maxUnavailable"]) {
    checkCountOrPercent(faults, `spec.${part}`, field(spec, part));
    notAboveAll(faults, `spec.${part}`, field(spec, part));
  }
  if (hasAt(spec, "selector")) checkSelector(faults, "spec.selector", objectAt(spec, "selector"));
  if (hasAt(spec, "unhealthyPodEvictionPolicy")) {
    faults.oneOf("spec.unhealthyPodEvictionPolicy", textAt(spec, "unhealthyPodEvictionPolicy"), [
      "AlwaysAllow",
      "IfHealthyBudget",
    ]);
  }
  return faults;
}
