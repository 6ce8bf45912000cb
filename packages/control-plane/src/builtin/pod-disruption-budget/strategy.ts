import type { JsonObject } from "../../json.ts";
import type { Strategy } from "../../registry/strategy.ts";
import { checkCountOrPercent, notAboveAll } from "../../validation/amounts.ts";
import { Faults } from "../../validation/faults.ts";
import { child, has, own, specOf, text } from "../../validation/fields.ts";
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
  if (has(spec, "minAvailable") && has(spec, "maxUnavailable")) {
    const shown = {
      MinAvailable: own(spec, "minAvailable") ?? null,
      Selector: own(spec, "selector") ?? null,
      MaxUnavailable: own(spec, "maxUnavailable") ?? null,
      UnhealthyPodEvictionPolicy: own(spec, "unhealthyPodEvictionPolicy") ?? null,
    };
    faults.invalid("spec", shown, "minAvailable and maxUnavailable cannot be both set");
  }
  for (const part of ["minAvailable", "maxUnavailable"]) {
    checkCountOrPercent(faults, `spec.${part}`, own(spec, part));
    notAboveAll(faults, `spec.${part}`, own(spec, part));
  }
  if (has(spec, "selector")) checkSelector(faults, "spec.selector", child(spec, "selector"));
  if (has(spec, "unhealthyPodEvictionPolicy")) {
    faults.oneOf("spec.unhealthyPodEvictionPolicy", text(spec, "unhealthyPodEvictionPolicy"), [
      "AlwaysAllow",
      "IfHealthyBudget",
    ]);
  }
  return faults;
}
