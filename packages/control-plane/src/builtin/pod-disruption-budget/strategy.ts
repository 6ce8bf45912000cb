import type { JsonObject } from "../../json.ts";
import { checkCountOrPercent, notAboveAll } from "../../registry/strategies/amounts.ts";
import { Faults } from "../../registry/strategies/faults.ts";
import { child, has, own, specOf, text } from "../../registry/strategies/fields.ts";
import { checkSelector } from "../../registry/strategies/selectors.ts";
import { checkCounts } from "../../registry/strategies/workload-template.ts";
import type { Strategy } from "../../registry/strategy.ts";

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
