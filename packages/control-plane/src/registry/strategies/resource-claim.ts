import type { JsonObject } from "../../json.ts";
import type { Strategy } from "../strategy.ts";
import { child, has, items, specOf } from "./fields.ts";

/** A claim asks for one device of a class, unless it says how many. */
export const resourceClaim: Strategy = {
  returnsDeleted: true,
  setDefaults: (claim) => setRequestDefaults(specOf(claim)),
};

export const resourceClaimTemplate: Strategy = {
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
