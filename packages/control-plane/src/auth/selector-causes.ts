import { isObject, type Json, type JsonObject } from "../json.ts";
import type { Cause } from "../status.ts";

/**
 * What is wrong with the selectors of a review's `resourceAttributes`. RBAC ignores them, but a
 * review with a malformed one is refused.
 */
export function selectorCauses(attributes: JsonObject): Cause[] {
  return (["fieldSelector", "labelSelector"] as const).flatMap((name) => {
    const selector = attributes[name];
    return isObject(selector) ? causesOf(selector, `spec.resourceAttributes.${name}`) : [];
  });
}

function causesOf(selector: JsonObject, field: string): Cause[] {
  const raw = typeof selector.rawSelector === "string" ? selector.rawSelector : "";
  const requirements = Array.isArray(selector.requirements) ? selector.requirements : [];
  if (raw === "" && requirements.length === 0) {
    const why = `when ${field} is specified, requirements or rawSelector is required`;
    return [required(`${field}.requirements`, why)];
  }
  if (raw !== "" && requirements.length > 0) {
    return [
      {
        reason: "FieldValueInvalid",
        message: `Invalid value: ${JSON.stringify(raw)}: may not specified at the same time as requirements`,
        field: `${field}.rawSelector`,
      },
    ];
  }
  return requirements.flatMap((requirement, index) =>
    requirementCauses(requirement, `${field}.requirements[${index}]`),
  );
}

function requirementCauses(requirement: Json, field: string): Cause[] {
  if (!isObject(requirement)) return [];
  const values = Array.isArray(requirement.values) ? requirement.values : [];
  switch (requirement.operator) {
    case "In":
    case "NotIn":
      return values.length > 0
        ? []
        : [required(`${field}.values`, "must be specified when `operator` is 'In' or 'NotIn'")];
    case "Exists":
    case "DoesNotExist":
      return values.length === 0
        ? []
        : [
            {
              reason: "FieldValueForbidden",
              message: "Forbidden: may not be specified when `operator` is 'Exists' or 'DoesNotExist'",
              field: `${field}.values`,
            },
          ];
    default:
      return [];
  }
}

function required(field: string, why: string): Cause {
  return { reason: "FieldValueRequired", message: `Required value: ${why}`, field };
}
