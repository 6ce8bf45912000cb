import type { JsonObject } from "../../json.ts";
import type { Strategy } from "../strategy.ts";
import { Faults } from "./faults.ts";
import { number, own, specOf } from "./fields.ts";

/** Parts of leases that need a feature which is off. */
const dropped = ["strategy", "preferredHolder"];

export const lease: Strategy = {
  unconditionalUpdate: false,
  createOnUpdate: true,
  prepareCreate: drop,
  prepareUpdate: drop,
  validate: (object) => leaseFaults(object).causes,
  validateUpdate: (next) => leaseFaults(next).causes,
};

function drop(object: JsonObject): void {
  const spec = specOf(object);
  for (const part of dropped) if (spec[part] !== undefined) delete spec[part];
}

function leaseFaults(object: JsonObject): Faults {
  const faults = new Faults();
  const spec = specOf(object);
  const duration = number(spec, "leaseDurationSeconds");
  if (duration !== undefined && duration <= 0) {
    faults.invalid("spec.leaseDurationSeconds", duration, "must be greater than 0");
  }
  faults.atLeast("spec.leaseTransitions", own(spec, "leaseTransitions"));
  return faults;
}
