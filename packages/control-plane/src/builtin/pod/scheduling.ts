import type { JsonObject } from "../../json.ts";
import type { Faults } from "../../validation/faults.ts";
import { child, has, items, number, text, texts } from "../../validation/fields.ts";
import { dnsLabel, labelText, qualifiedName } from "../../validation/names.ts";
import { checkNodeSelector, checkNodeTerm, checkSelector } from "../../validation/selectors.ts";

const required = "requiredDuringSchedulingIgnoredDuringExecution";
const preferred = "preferredDuringSchedulingIgnoredDuringExecution";

export function checkAffinity(faults: Faults, at: string, affinity: JsonObject): void {
  const nodes = child(affinity, "nodeAffinity");
  if (has(nodes, required)) {
    checkNodeSelector(faults, `${at}.nodeAffinity.${required}`, child(nodes, required));
  }
  for (const [index, term] of items(nodes, preferred).entries()) {
    const path = `${at}.nodeAffinity.${preferred}[${index}]`;
    checkWeight(faults, `${path}.weight`, number(term, "weight") ?? 0);
    checkNodeTerm(faults, `${path}.preference`, child(term, "preference"));
  }
  for (const name of ["podAffinity", "podAntiAffinity"]) {
    const pods = child(affinity, name);
    for (const [index, term] of items(pods, required).entries()) {
      checkPodTerm(faults, `${at}.${name}.${required}[${index}]`, term);
    }
    for (const [index, term] of items(pods, preferred).entries()) {
      const path = `${at}.${name}.${preferred}[${index}]`;
      checkWeight(faults, `${path}.weight`, number(term, "weight") ?? 0);
      checkPodTerm(faults, `${path}.podAffinityTerm`, child(term, "podAffinityTerm"));
    }
  }
}

function checkWeight(faults: Faults, at: string, weight: number): void {
  if (weight <= 0 || weight > 100) faults.invalid(at, weight, "must be in the range 1-100");
}

function checkPodTerm(faults: Faults, at: string, term: JsonObject): void {
  if (has(term, "labelSelector")) checkSelector(faults, `${at}.labelSelector`, child(term, "labelSelector"));
  if (has(term, "namespaceSelector")) {
    checkSelector(faults, `${at}.namespaceSelector`, child(term, "namespaceSelector"));
  }
  for (const name of texts(term, "namespaces")) faults.each(`${at}.namespace`, name, dnsLabel(name));
  checkLabelKeys(faults, at, term, "matchLabelKeys");
  checkLabelKeys(faults, at, term, "mismatchLabelKeys");
  const key = text(term, "topologyKey");
  if (key === "") faults.required(`${at}.topologyKey`, "can not be empty");
  faults.each(`${at}.topologyKey`, key, qualifiedName(key));
}

function checkLabelKeys(faults: Faults, at: string, holder: JsonObject, part: string): void {
  const keys = texts(holder, part);
  if (keys.length === 0) return;
  if (!has(holder, "labelSelector")) {
    faults.forbidden(`${at}.${part}`, "must not be specified when labelSelector is not set");
  }
  for (const [index, key] of keys.entries()) faults.each(`${at}.${part}[${index}]`, key, qualifiedName(key));
}

const effects = ["NoSchedule", "PreferNoSchedule", "NoExecute"];

export function checkTolerations(faults: Faults, at: string, tolerations: readonly JsonObject[]): void {
  for (const [index, toleration] of tolerations.entries()) {
    const path = `${at}[${index}]`;
    const [key, value] = [text(toleration, "key"), text(toleration, "value")];
    const operator = text(toleration, "operator");
    const effect = text(toleration, "effect");
    if (key !== "") faults.each(`${path}.key`, key, qualifiedName(key));
    if (key === "" && operator !== "Exists") {
      faults.invalid(
        `${path}.operator`,
        operator,
        'operator must be Exists when `key` is empty, which means "match all values and all keys"',
      );
    }
    if (has(toleration, "tolerationSeconds") && effect !== "NoExecute") {
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
    JSON.stringify([text(constraint, "topologyKey"), text(constraint, "whenUnsatisfiable")]);
  for (const constraint of constraints) {
    const same = identity(constraint);
    left.set(same, (left.get(same) ?? 0) + 1);
  }
  for (const [index, constraint] of constraints.entries()) {
    const path = `${at}[${index}]`;
    const skew = number(constraint, "maxSkew") ?? 0;
    if (skew <= 0) faults.invalid(`${path}.maxSkew`, skew, "must be greater than zero");
    const [key, action] = [text(constraint, "topologyKey"), text(constraint, "whenUnsatisfiable")];
    if (key === "") faults.required(`${path}.topologyKey`, "can not be empty");
    faults.oneOf(`${path}.whenUnsatisfiable`, action, ["DoNotSchedule", "ScheduleAnyway"]);
    const same = identity(constraint);
    const after = (left.get(same) ?? 0) - 1;
    left.set(same, after);
    if (after > 0) faults.duplicate(`${path}.{topologyKey, whenUnsatisfiable}`, `{${key}, ${action}}`);
    checkMinDomains(faults, `${path}.minDomains`, number(constraint, "minDomains"), action);
    for (const part of ["nodeAffinityPolicy", "nodeTaintsPolicy"]) {
      if (has(constraint, part)) faults.oneOf(`${path}.${part}`, text(constraint, part), ["Honor", "Ignore"]);
    }
    checkLabelKeys(faults, path, constraint, "matchLabelKeys");
    if (has(constraint, "labelSelector")) {
      checkSelector(faults, `${path}.labelSelector`, child(constraint, "labelSelector"));
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
