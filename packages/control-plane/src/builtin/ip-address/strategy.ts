import type { Strategy } from "../../registry/strategy.ts";
import { Faults } from "../../validation/faults.ts";
import { child, has, specOf, text } from "../../validation/fields.ts";

/** An address that something has taken. It is named by the address. */
export const ipAddress: Strategy = {
  names: "address",
  validate: (object) => {
    const faults = new Faults();
    const spec = specOf(object);
    if (!has(spec, "parentRef")) faults.required("spec.parentRef");
    else {
      const parent = child(spec, "parentRef");
      for (const name of ["resource", "name"]) {
        if (text(parent, name) === "") faults.required(`spec.parentRef.${name}`);
      }
    }
    return faults.causes;
  },
};
