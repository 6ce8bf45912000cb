import type { JsonObject } from "../../json.ts";
import type { Strategy } from "../strategy.ts";
import { Faults } from "./faults.ts";
import { has, own } from "./fields.ts";
import { checkSame } from "./workload-template.ts";

/** A snapshot that others compare with: what it holds never changes. */
export const controllerRevision: Strategy = {
  validate: (object) => revisionFaults(object).causes,
  validateUpdate: (next, live) => {
    const faults = revisionFaults(next);
    checkSame(faults, "data", next.data, live.data);
    return faults.causes;
  },
};

function revisionFaults(object: JsonObject): Faults {
  const faults = new Faults();
  if (!has(object, "data")) faults.required("data", "data is mandatory");
  faults.atLeast("revision", own(object, "revision"));
  return faults;
}
