import type { Json, JsonObject } from "../json.ts";
import { field, numberAt, specOf, textAt } from "../json-fields.ts";
import type { Strategy } from "../registry/strategy.ts";
import { age, name } from "../table/metadata-cells.ts";
import { Faults } from "../validation/faults.ts";
import type { KindDeclaration } from "./declaration.ts";

/** Parts of leases that need a feature which is off. */
const dropped = ["strategy", "preferredHolder"];

const lease: Strategy = {
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
  const duration = numberAt(spec, "leaseDurationSeconds");
  if (duration !== undefined && duration <= 0) {
    faults.invalid("spec.leaseDurationSeconds", duration, "must be greater than 0");
  }
  faults.atLeast("spec.leaseTransitions", field(spec, "leaseTransitions"));
  return faults;
}

function leaseCells(of: JsonObject, now: number): Json[] {
  return [name(of), textAt(of, "spec", "holderIdentity"), age(of, now)];
}

export const leaseKind = {
  group: "coordination.k8s.io",
  kind: "Lease",
  strategy: lease,
  cells: leaseCells,
} satisfies KindDeclaration;
