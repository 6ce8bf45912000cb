import type { JsonObject } from "../../json.ts";
import { hasAt, itemsAt, numberAt, objectAt, textAt, textsAt } from "../../json-fields.ts";
import type { Faults } from "../../validation/faults.ts";
import { dnsLabel, labelText, qualifiedName } from "../../validation/names.ts";
import { checkNodeSelector, checkNodeTerm, checkSelector } from "../../validation/selectors.ts";

const required = "requiredDuringSchedulingIgnoredDuringExecution";
const preferred = "preferredDuringSchedulingIgnoredDuringExecution";

export function checkAffinity(faults: Faults, at: string, affinity: JsonObject): void {
  const nodes = objectAt(affinity, "nodeAffinity");
  if (hasAt(nodes, required)) {
    checkNodeSelector(faults, `${at}.nodeAffinity.${required}`, objectAt(nodes, required));
  }
  for (const [index, term] of itemsAt(nodes, preferred).entries()) {
    const path = `${at}.nodeAffinity.${preferred}[${index}]`;
    checkWeight(faults, `${path}.weight`, numberAt(term, "weight") ?? 0);
    checkNodeTerm(faults, `${path}.preference`, objectAt(term, "preference"));
  }
  for (const name of ["podAffinity", "podAntiAffinity"]) {
    const pods = objectAt(affinity, name);
    for (const [index, term] of itemsAt(pods, required).entries()) {
      checkPodTerm(faults, `${at}.${name}.${required}[${index}]`, term);
    }
    for (const [index, term] of itemsAt(pods, preferred).entries()) {
      const path = `${at}.${name}.${preferred}[${index}]`;
      checkWeight(faults, `${path}.weight`, numberAt(term, "weight") ?? 0);
      checkPodTerm(faults, `${path}.podAffinityTerm`, objectAt(term, "podAffinityTerm"));
    }
  }
}

function checkWeight(faults: Faults, at: string, weight: number): void {
  if (weight <= 0 || weight > 100) faults.invalid(at, weight, "must be in the range 1-100");
}

function checkPodTerm(faults: Faults, at: string, term: JsonObject): void {
  if (hasAt(term, "labelSelector"))
    checkSelector(faults, `${at}.labelSelector`, objectAt(term, "labelSelector"));
  if (hasAt(term, "namespaceSelector")) {
    checkSelector(faults, `${at}.namespaceSelector`, objectAt(term, "namespaceSelector"));
  }
  for (const name of textsAt(term, "namespaces")) faults.each(`${at}.namespace`, name, dnsLabel(name));
  checkLabelKeys(faults, at, term, "matchLabelKeys");
  checkLabelKeys(faults, at, term, "mismatchLabelKeys");
  const key = textAt(term, "topologyKey");
  if (key === "") faults.required(`${at}.topologyKey`, "can not be empty");
  faults.each(`${at}.topologyKey`, key, qualifiedName(key));
}

function checkLabelKeys(faults: Faults, at: string, holder: JsonObject, part: string): void {
  const keys = textsAt(holder, part);
  if (keys.length === 0) return;
  if (!hasAt(holder, "labelSelector")) {
    faults.forbidden(`${at}.${part}`, "must not be specified when labelSelector is not set");
  }
  for (const [index, key] of keys.entries()) faults.each(`${at}.${part}[${index}]`, key, qualifiedName(key));
}

const effects = ["NoSchedule", "PreferNoSchedule", "NoExecute"];

export function checkTolerations(faults: Faults, at: string, tolerations: readonly JsonObject[]): void {
  for (const [index, toleration] of tolerations.entries()) {
    const path = `${at}[${index}]`;
    const [key, value] = [textAt(toleration, "key"), textAt(toleration, "value")];
    const operator = textAt(toleration, "operator");
    const effect = textAt(toleration, "effect");
    if (key !== "") faults.each(`${path}.key`, key, qualifiedName(key));
    if (key === "" && operator !== "Exists") {
      faults.invalid(
        `${path}.operator`,
        operator,
        'operator must be Exists when `key` is empty, which means "match all values and all keys"',
      );
    }
    if (hasAt(toleration, "tolerationSeconds") && effect !== "NoExecute") {
      faults.invalid(`${path}.effect`, effect, "effect must be 'NoExecute' when `tolerationSeconds` is set");
    }
    checkTolerationOperator(faults, path, operator, value);
    if (effect !== "") faults.oneOf(`${path}.effect`, effect, effects);
  }
}

function checkTolerationOperator(faults: Faults, path: string, operator: string, value: string): void {
  switch (operator) {
    case "":
    case "Equal":
      faults.each(`${path}.operator`, value, labelText(value));
      break;
    case "Exists":
      if (value !== "") {
        faults.invalid(`${path}.operator`, value, "value must be empty when `operator` is 'Exists'");
      }
      break;
    case "Gt":
    case "Lt":
      // Known, and switched off.
      faults.unsupported(`${path}.operator`, operator, ["Equal", "Exists", "Lt", "Gt"]);
      break;
    default:
      faults.unsupported(`${path}.operator`, operator, ["Equal", "Exists"]);
  }
}

export function checkSpread(faults: Faults, at: string, constraints: readonly JsonObject[]): void {
  /** How many constraints of the same key and action are still to come. */
  const left = new Map<string, number>();
  const identity = (constraint: JsonObject) =>
    JSON.stringify([textAt(constraint, "topologyKey"), textAt(constraint, "whenUnsatisfiable")]);
  for (const constraint of constraints) {
    const same = identity(constraint);
    left.set(same, (left.get(same) ?? 0) + 1);
  }
  for (const [index, constraint] of constraints.entries()) {
    const path = `${at}[${index}]`;
    const skew = numberAt(constraint, "maxSkew") ?? 0;
    if (skew <= 0) faults.invalid(`${path}.maxSkew`, skew, "must be greater than zero");
    const [key, action] = [textAt(constraint, "topologyKey"), textAt(constraint, "whenUnsatisfiable")];
    if (key === "") faults.required(`${path}.topologyKey`, "can not be empty");
    faults.oneOf(`${path}.whenUnsatisfiable`, action, ["DoNotSchedule", "ScheduleAnyway"]);
    const same = identity(constraint);
    const after = (left.get(same) ?? 0) - 1;
    left.set(same, after);
    if (after > 0) faults.duplicate(`${path}.{topologyKey, whenUnsatisfiable}`, `{${key}, ${action}}`);
    checkMinDomains(faults, `${path}.minDomains`, numberAt(constraint, "minDomains"), action);
    for (const part of ["nodeAffinityPolicy", "nodeTaintsPolicy"]) {
      if (hasAt(constraint, part))
        faults.oneOf(`${path}.${part}`, textAt(constraint, part), ["Honor", "Ignore"]);
    }
    checkLabelKeys(faults, path, constraint, "matchLabelKeys");
    if (hasAt(constraint, "labelSelector")) {
      checkSelector(faults, `${path}.labelSelector`, objectAt(constraint, "labelSelector"));
    }
  }
}

function checkMinDomains(faults: Faults, at: string, domains: number | undefined, action: string): void {
  if (domains === undefined) return;
  if (domains <= 0) faults.invalid(at, domains, "must be greater than zero");
  if (action !== "DoNotSchedule" && domains > 0) {
    faults.invalid(at, domains, `can only use minDomains if whenUnsatisfiable=DoNotSchedule, not ${action}`);
  }
}
