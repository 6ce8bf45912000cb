import { equal, type JsonObject } from "../../json.ts";
import type { Strategy } from "../strategy.ts";
import { checkRequirements } from "./amounts.ts";
import { Faults, immutable } from "./faults.ts";
import { child, has, items, metadataOf, number, own, text } from "./fields.ts";
import { fill } from "./fill.ts";
import { checkLabels, dnsLabel } from "./names.ts";
import { checkTolerations } from "./scheduling.ts";

const highestOfUsers = 1_000_000_000;

export const priorityClass: Strategy = {
  generation: true,
  setDefaults: (object) => fill(object, { preemptionPolicy: "PreemptLowerPriority" }),
  validate: (object) => {
    const faults = new Faults();
    const name = text(metadataOf(object), "name");
    if (name.startsWith("system-")) {
      faults.forbidden(
        "metadata.name",
        `priority class names with 'system-' prefix are reserved for system use only. error: ${name} is not a known system priority class`,
      );
    } else if ((number(object, "value") ?? 0) > highestOfUsers) {
      faults.forbidden("value", `maximum allowed value of a user defined priority is ${highestOfUsers}`);
    }
    if (has(object, "preemptionPolicy")) {
      faults.oneOf("preemptionPolicy", text(object, "preemptionPolicy"), ["PreemptLowerPriority", "Never"]);
    }
    return faults.causes;
  },
  validateUpdate: (next, live) => {
    const faults = new Faults();
    if (number(next, "value") !== number(live, "value")) {
      faults.forbidden("value", "may not be changed in an update.");
    }
    if (text(next, "preemptionPolicy") !== text(live, "preemptionPolicy")) {
      faults.invalid("preemptionPolicy", text(next, "preemptionPolicy"), immutable);
    }
    return faults.causes;
  },
};

export const runtimeClass: Strategy = {
  unconditionalUpdate: false,
  createOnUpdate: true,
  validate: (object) => runtimeFaults(object).causes,
  validateUpdate: (next, live) => {
    const faults = runtimeFaults(next);
    if (text(next, "handler") !== text(live, "handler"))
      faults.invalid("handler", text(next, "handler"), immutable);
    if (!equal(own(next, "overhead"), own(live, "overhead")) && has(live, "overhead")) {
      faults.invalid("overhead", own(next, "overhead") ?? null, immutable);
    }
    return faults.causes;
  },
};

function runtimeFaults(object: JsonObject): Faults {
  const faults = new Faults();
  const handler = text(object, "handler");
  faults.each("handler", handler, dnsLabel(handler));
  checkRequirements(faults, "overhead", { limits: child(child(object, "overhead"), "podFixed") });
  const scheduling = child(object, "scheduling");
  checkLabels(faults, "scheduling.nodeSelector", scheduling, "nodeSelector");
  checkTolerations(faults, "scheduling.tolerations", items(scheduling, "tolerations"));
  return faults;
}
