import type { Json, JsonObject } from "../json.ts";
import { hasAt, itemsAt, listAt, objectAt, specOf, textAt, valueAt } from "../json-fields.ts";
import type { Strategy } from "../registry/strategy.ts";
import { age, name, nameAndAge } from "../table/metadata-cells.ts";
import { Faults } from "../validation/faults.ts";
import type { KindDeclaration } from "./declaration.ts";

/** A claim asks for one device of a class, unless it says how many. */
const resourceClaim: Strategy = {
  returnsDeleted: true,
  setDefaults: (claim) => setRequestDefaults(specOf(claim)),
  validate: (claim) => configFaults(specOf(claim), "spec").causes,
  // The spec cannot be changed.
  validateUpdate: () => [],
};

const resourceClaimTemplate: Strategy = {
  returnsDeleted: true,
  setDefaults: (template) => setRequestDefaults(objectAt(specOf(template), "spec")),
  validate: (template) => configFaults(objectAt(specOf(template), "spec"), "spec.spec").causes,
  validateUpdate: () => [],
};

function configFaults(spec: JsonObject, at: string): Faults {
  const faults = new Faults();
  for (const [index, config] of itemsAt(objectAt(spec, "devices"), "config").entries()) {
    const path = `${at}.devices.config[${index}].opaque`;
    const opaque = objectAt(config, "opaque");
    if (!hasAt(config, "opaque")) faults.required(path);
    else if (textAt(opaque, "driver") === "") faults.required(`${path}.driver`);
    else if (!hasAt(opaque, "parameters")) faults.required(`${path}.parameters`);
  }
  return faults;
}

function setRequestDefaults(spec: JsonObject): void {
  for (const request of itemsAt(objectAt(spec, "devices"), "requests")) {
    if (hasAt(request, "exactly")) setCountDefaults(objectAt(request, "exactly"));
    for (const one of itemsAt(request, "firstAvailable")) setCountDefaults(one);
  }
}

function setCountDefaults(request: JsonObject): void {
  request.allocationMode ||= "ExactCount";
  if (request.allocationMode === "ExactCount") request.count ||= 1;
}

function resourceClaimCells(of: JsonObject, now: number): Json[] {
  const deleted = valueAt(of, "metadata", "deletionTimestamp") !== undefined;
  const states: string[] = deleted ? ["deleted"] : [];
  if (valueAt(of, "status", "allocation") !== undefined) {
    states.push("allocated");
    if (listAt(of, "status", "reservedFor").length > 0) states.push("reserved");
  } else if (!deleted) {
    states.push("pending");
  }
  return [name(of), states.join(","), age(of, now)];
}

export const resourceClaimKind = {
  group: "resource.k8s.io",
  kind: "ResourceClaim",
  strategy: resourceClaim,
  cells: resourceClaimCells,
} satisfies KindDeclaration;

export const resourceClaimTemplateKind = {
  group: "resource.k8s.io",
  kind: "ResourceClaimTemplate",
  strategy: resourceClaimTemplate,
  cells: nameAndAge,
} satisfies KindDeclaration;
