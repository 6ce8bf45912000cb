import { hasAt, objectAt, specOf, textAt } from "../../json-fields.ts";
import type { Strategy } from "../../registry/strategy.ts";
import { Faults } from "../../validation/faults.ts";

/** An address that something has taken. It is named by the address. */
export const ipAddress: Strategy = {
  names: "address",
  validate: (object) => {
    const faults = new Faults();
    const spec = specOf(object);
    if (!hasAt(spec, "parentRef")) faults.required("spec.parentRef");
    else {
      const parent = objectAt(spec, "parentRef");
      for (const name of ["resource", "name"]) {
        if (textAt(parent, name) === "") faults.required(`spec.parentRef.${name}`);
      }
    }
    return faults.causes;
  },
};
