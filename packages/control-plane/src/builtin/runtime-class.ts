import { equal, type Json, type JsonObject } from "../json.ts";
import type { Strategy } from "../registry/strategy.ts";
import { age, name } from "../table/metadata-cells.ts";
import { checkRequirements } from "../validation/amounts.ts";
import { Faults, immutable } from "../validation/faults.ts";
import { child, has, items, own, text } from "../validation/fields.ts";
import { checkLabels, dnsLabel } from "../validation/names.ts";
import type { KindDeclaration } from "./declaration.ts";
import { checkTolerations } from "./pod/scheduling.ts";

function runtimeClassCells(of: JsonObject, now: number): Json[] {
  return [name(of), text(of, "handler"), age(of, now)];
}

const runtimeClass: Strategy = {
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

export const runtimeClassKind = {
  group: "node.k8s.io",
  kind: "RuntimeClass",
  strategy: runtimeClass,
  cells: runtimeClassCells,
} satisfies KindDeclaration;
