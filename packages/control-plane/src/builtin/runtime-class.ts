import { equal, type Json, type JsonObject } from "../json.ts";
import { field, hasAt, itemsAt, objectAt, textAt } from "../json-fields.ts";
import type { Strategy } from "../registry/strategy.ts";
import { age, name } from "../table/metadata-cells.ts";
import { checkRequirements } from "../validation/amounts.ts";
import { Faults, immutable } from "../validation/faults.ts";
import { checkLabels, dnsLabel } from "../validation/names.ts";
import type { KindDeclaration } from "./declaration.ts";
import { checkTolerations } from "./pod/scheduling.ts";

function runtimeClassCells(of: JsonObject, now: number): Json[] {
  return [name(of), textAt(of, "handler"), age(of, now)];
}

const runtimeClass: Strategy = {
  unconditionalUpdate: false,
  createOnUpdate: true,
  validate: (object) => runtimeFaults(object).causes,
  validateUpdate: (next, live) => {
    const faults = runtimeFaults(next);
    if (textAt(next, "handler") !== textAt(live, "handler"))
      faults.invalid("handler", textAt(next, "handler"), immutable);
    if (!equal(field(next, "overhead"), field(live, "overhead")) && hasAt(live, "overhead")) {
      faults.invalid("overhead", field(next, "overhead") ?? null, immutable);
    }
    return faults.causes;
  },
};

function runtimeFaults(object: JsonObject): Faults {
  const faults = new Faults();
  const handler = textAt(object, "handler");
  faults.each("handler", handler, dnsLabel(handler));
  checkRequirements(faults, "overhead", { limits: objectAt(objectAt(object, "overhead"), "podFixed") });
  const scheduling = objectAt(object, "scheduling");
  checkLabels(faults, "scheduling.nodeSelector", scheduling, "nodeSelector");
  checkTolerations(faults, "scheduling.tolerations", itemsAt(scheduling, "tolerations"));
  return faults;
}

export const runtimeClassKind = {
  group: "node.k8s.io",
  kind: "RuntimeClass",
  strategy: runtimeClass,
  cells: runtimeClassCells,
} satisfies KindDeclaration;
