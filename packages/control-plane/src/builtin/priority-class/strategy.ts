import { hasAt, metadataOf, numberAt, textAt } from "../../json-fields.ts";
import type { Strategy } from "../../registry/strategy.ts";
import { Faults, immutable } from "../../validation/faults.ts";
import { fill } from "../../validation/fill.ts";

const highestOfUsers = 1_000_000_000;

export const priorityClass: Strategy = {
  generation: true,
  setDefaults: (object) => fill(object, { preemptionPolicy: "PreemptLowerPriority" }),
  validate: (object) => {
    const faults = new Faults();
    const name = textAt(metadataOf(object), "name");
    if (name.startsWith("system-")) {
      faults.forbidden(
        "metadata.name",
        `priority class names with 'system-' prefix are reserved for system use only. error: ${name} is not a known system priority class`,
      );
    } else if ((numberAt(object, "value") ?? 0) > highestOfUsers) {
      faults.forbidden("value", `maximum allowed value of a user defined priority is ${highestOfUsers}`);
    }
    if (hasAt(object, "preemptionPolicy")) {
      faults.oneOf("preemptionPolicy", textAt(object, "preemptionPolicy"), ["PreemptLowerPriority", "Never"]);
    }
    return faults.causes;
  },
  validateUpdate: (next, live) => {
    const faults = new Faults();
    if (numberAt(next, "value") !== numberAt(live, "value")) {
      faults.forbidden("value", "may not be changed in an update.");
    }
    if (textAt(next, "preemptionPolicy") !== textAt(live, "preemptionPolicy")) {
      faults.invalid("preemptionPolicy", textAt(next, "preemptionPolicy"), immutable);
    }
    return faults.causes;
  },
};
