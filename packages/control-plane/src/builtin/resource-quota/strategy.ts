import { equal, type JsonObject } from "../../json.ts";
import { itemsAt, objectAt, specOf, statusOf, textAt, textsAt } from "../../json-fields.ts";
import type { Strategy } from "../../registry/strategy.ts";
import { checkQuotaResourceName, isWhole, mustBeWhole, notNegative } from "../../validation/amounts.ts";
import { Faults, immutable } from "../../validation/faults.ts";

const scopes = [
  "Terminating",
  "NotTerminating",
  "BestEffort",
  "NotBestEffort",
  "PriorityClass",
  "CrossNamespacePodAffinity",
  "VolumeAttributesClass",
];
const bestEffortResources = new Set(["pods", "count/pods"]);
const podResources = new Set([
  "pods",
  "count/pods",
  "cpu",
  "memory",
  "requests.cpu",
  "requests.memory",
  "limits.cpu",
  "limits.memory",
  "ephemeral-storage",
  "requests.ephemeral-storage",
  "limits.ephemeral-storage",
]);

export const resourceQuota: Strategy = {
  returnsDeleted: true,
  prepareCreate: (object) => {
    object.status = {};
  },
  validate: (object) => specFaults(object).causes,
  validateUpdate: (next, live, { subresource }) => {
    if (subresource === "status") return statusFaults(next).causes;
    const faults = specFaults(next);
    const [now, before] = [textsAt(specOf(next), "scopes"), textsAt(specOf(live), "scopes")];
    if (!equal([...now].sort(), [...before].sort())) faults.invalid("spec.scopes", now, immutable);
    return faults.causes;
  },
};

function statusFaults(object: JsonObject): Faults {
  const faults = new Faults();
  for (const part of ["hard", "used"]) checkList(faults, `status.${part}`, objectAt(statusOf(object), part));
  return faults;
}

function checkList(faults: Faults, at: string, list: JsonObject): void {
  for (const [name, value] of Object.entries(list)) {
    checkQuotaResourceName(faults, `${at}[${name}]`, name);
    notNegative(faults, `${at}[${name}]`, value);
    if (mustBeWhole(name) && !isWhole(value)) faults.invalid(`${at}[${name}]`, value, "must be an integer");
  }
}

function specFaults(object: JsonObject): Faults {
  const faults = new Faults();
  const spec = specOf(object);
  checkList(faults, "spec.hard", objectAt(spec, "hard"));
  checkScopes(faults, spec);
  checkScopeSelector(faults, spec);
  return faults;
}

function applies(scope: string, resource: string): boolean {
  switch (scope) {
    case "Terminating":
    case "NotTerminating":
    case "NotBestEffort":
    case "PriorityClass":
    case "CrossNamespacePodAffinity":
      return podResources.has(resource);
    case "BestEffort":
      return bestEffortResources.has(resource);
    default:
      return true;
  }
}

/** Each shows all scopes: of a list of thousands, they would not fit into memory. */
const mostScopeFaults = 100;

function checkScopes(faults: Faults, spec: JsonObject): void {
  const chosen = textsAt(spec, "scopes");
  const hard = Object.keys(objectAt(spec, "hard")).filter((resource) => !resource.startsWith("count/"));
  const misapplied = new Map(
    scopes.map((scope) => [scope, hard.filter((resource) => !applies(scope, resource)).length]),
  );
  let told = 0;
  for (const scope of chosen) {
    const count = misapplied.get(scope);
    const why = count === undefined ? "unsupported scope" : "unsupported scope applied to resource";
    for (let left = count ?? 1; left > 0 && told < mostScopeFaults; left--, told++) {
      faults.invalid("spec.scopes", chosen, why);
    }
  }
  checkConflicts(faults, "spec.scopes", chosen, chosen);
}

function checkConflicts(
  faults: Faults,
  at: string,
  chosen: readonly string[],
  shown: readonly string[],
): void {
  for (const [one, other] of [
    ["BestEffort", "NotBestEffort"],
    ["Terminating", "NotTerminating"],
  ] as const) {
    if (chosen.includes(one) && chosen.includes(other)) faults.invalid(at, [...shown], "conflicting scopes");
  }
}

function checkScopeSelector(faults: Faults, spec: JsonObject): void {
  const at = "spec.scopeSelector.matchExpressions";
  for (const expression of itemsAt(objectAt(spec, "scopeSelector"), "matchExpressions")) {
    const scope = textAt(expression, "scopeName");
    const operator = textAt(expression, "operator");
    const values = textsAt(expression, "values");
    if (!scopes.includes(scope)) faults.invalid(`${at}.scopeName`, scope, "unsupported scope");
    if (scope !== "PriorityClass" && scope !== "VolumeAttributesClass" && operator !== "Exists") {
      faults.invalid(
        `${at}.operator`,
        operator,
        "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity",
      );
    }
    if ((operator === "In" || operator === "NotIn") && values.length === 0) {
      faults.required(
        `${at}.values`,
        "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector",
      );
    } else if ((operator === "Exists" || operator === "DoesNotExist") && values.length > 0) {
      faults.invalid(
        `${at}.values`,
        values,
        "must be no value when `operator` is 'Exists' or 'DoesNotExist' for scope selector",
      );
    } else if (!["In", "NotIn", "Exists", "DoesNotExist"].includes(operator)) {
      faults.invalid(`${at}.operator`, operator, "not a valid selector operator");
    }
  }
}
