import type { Json, JsonObject } from "../json.ts";
import type { Strategy } from "../registry/strategy.ts";
import { at, list } from "../table/fields.ts";
import { age, name, nameAndAge } from "../table/metadata-cells.ts";
import { child, has, items, specOf } from "../validation/fields.ts";
import type { KindDeclaration } from "./declaration.ts";

/** A claim asks for one device of a class, unless it says how many. */
const resourceClaim: Strategy = {
  returnsDeleted: true,
  setDefaults: (claim) => setRequestDefaults(specOf(claim)),
};

const resourceClaimTemplate: Strategy = {
  returnsDeleted: true,
  setDefaults: (template) => setRequestDefaults(child(specOf(template), "spec")),
};

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
