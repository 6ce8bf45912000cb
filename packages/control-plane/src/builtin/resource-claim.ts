import type { Json, JsonObject } from "../json.ts";
import type { Strategy } from "../registry/strategy.ts";
import { at, list } from "../table/fields.ts";
import { age, name, nameAndAge } from "../table/metadata-cells.ts";
import { Faults } from "../validation/faults.ts";
import { child, has, items, specOf, text } from "../validation/fields.ts";
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
  setDefaults: (template) => setRequestDefaults(child(specOf(template), "spec")),
  validate: (template) => configFaults(child(specOf(template), "spec"), "spec.spec").causes,
  validateUpdate: () => [],
};

function configFaults(spec: JsonObject, at: string): Faults {
  const faults = new Faults();
  for (const [index, config] of items(child(spec, "devices"), "config").entries()) {
    const path = `${at}.devices.config[${index}].opaque`;
    const opaque = child(config, "opaque");
    if (!has(config, "opaque")) faults.required(path);
    else if (text(opaque, "driver") === "") faults.required(`${path}.driver`);
    else if (!has(opaque, "parameters")) faults.required(`${path}.parameters`);
  }
  return faults;
}

function setRequestDefaults(spec: JsonObject): void {
  for (const request of items(child(spec, "devices"), "requests")) {
    if (has(request, "exactly")) setCountDefaults(child(request, "exactly"));
    for (const one of items(request, "firstAvailable")) setCountDefaults(one);
  }
}

function setCountDefaults(request: JsonObject): void {
  request.allocationMode ||= "ExactCount";
  if (request.allocationMode === "ExactCount") request.count ||= 1;
}

function resourceClaimCells(of: JsonObject, now: number): Json[] {
  const deleted = at(of, "metadata", "deletionTimestamp") !== undefined;
  const states: string[] = deleted ? ["deleted"] : [];
  if (at(of, "status", "allocation") !== undefined) {
    states.push("allocated");
    if (list(of, "status", "reservedFor").length > 0) states.push("reserved");
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
