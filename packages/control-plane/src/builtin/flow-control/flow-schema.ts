import type { JsonObject } from "../../json.ts";
import { field, hasAt, itemsAt, numberAt, objectAt, specOf, textAt, textsAt } from "../../json-fields.ts";
import type { Strategy } from "../../registry/strategy.ts";
import { Faults } from "../../validation/faults.ts";
import { ensure } from "../../validation/fill.ts";
import { dnsLabel, dnsSubdomain } from "../../validation/names.ts";
import { exempt } from "./priority-level.ts";

const mostPrecedence = 10_000;
const distinguishers = ["ByNamespace", "ByUser"];
const verbs = ["create", "delete", "deletecollection", "get", "list", "patch", "proxy", "update", "watch"];

export const flowSchema: Strategy = {
  generation: true,
  setDefaults: (object) => {
    const spec = ensure(object, "spec");
    if (numberAt(spec, "matchingPrecedence") === 0) spec.matchingPrecedence = 1_000;
  },
  validate: (object) => specFaults(object).causes,
  validateUpdate: (next, _live, { subresource }) => (subresource === "status" ? [] : specFaults(next).causes),
};

function specFaults(object: JsonObject): Faults {
  const faults = new Faults();
  const spec = specOf(object);
  checkPrecedence(
    faults,
    textAt(objectAt(object, "metadata"), "name"),
    numberAt(spec, "matchingPrecedence") ?? 0,
  );
  const type = textAt(objectAt(spec, "distinguisherMethod"), "type");
  if (hasAt(spec, "distinguisherMethod") && !distinguishers.includes(type))
    faults.unsupported("spec.distinguisherMethod.type", { Type: type }, distinguishers);
  const level = textAt(objectAt(spec, "priorityLevelConfiguration"), "name");
  const at = "spec.priorityLevelConfiguration.name";
  if (level === "") faults.required(at, "must reference a priority level");
  else faults.each(at, level, dnsSubdomain(level));
  for (const [index, rule] of itemsAt(spec, "rules").entries())
    checkRule(faults, `spec.rules[${index}]`, rule);
  return faults;
}

function checkPrecedence(faults: Faults, name: string, precedence: number): void {
  const at = "spec.matchingPrecedence";
  if (precedence <= 0) faults.invalid(at, precedence, "must be a positive value");
  if (precedence > mostPrecedence)
    faults.invalid(at, precedence, `must not be greater than ${mostPrecedence}`);
  if (precedence === 1 && name !== exempt)
    faults.invalid(at, precedence, "only the schema named 'exempt' may have matchingPrecedence 1");
}

function checkRule(faults: Faults, at: string, rule: JsonObject): void {
  const subjects = itemsAt(rule, "subjects");
  if (subjects.length === 0) {
    faults.required(`${at}.subjects`, "subjects must contain at least one value");
  }
  for (const [index, subject] of subjects.entries())
    checkSubject(faults, `${at}.subjects[${index}]`, subject);
  const [others, resources] = [itemsAt(rule, "nonResourceRules"), itemsAt(rule, "resourceRules")];
  if (others.length === 0 && resources.length === 0)
    faults.required(at, "at least one of resourceRules and nonResourceRules has to be non-empty");
  for (const [index, other] of others.entries())
    checkNonResourceRule(faults, `${at}.nonResourceRules[${index}]`, other);
  for (const [index, resource] of resources.entries())
    checkResourceRule(faults, `${at}.resourceRules[${index}]`, resource);
}

/** The field that each kind of subject is said in. */
const subjectFields: Readonly<Record<string, string>> = {
  Group: "group",
  ServiceAccount: "serviceAccount",
  User: "user",
};

function checkSubject(faults: Faults, at: string, subject: JsonObject): void {
  const kind = textAt(subject, "kind");
  const name = Object.hasOwn(subjectFields, kind) ? subjectFields[kind] : undefined;
  if (name === undefined) {
    faults.unsupported(`${at}.kind`, kind, Object.keys(subjectFields));
    return;
  }
  const said = objectAt(subject, name);
  if (!hasAt(subject, name)) {
    faults.required(`${at}.${name}`, `${name} is required when subject kind is '${kind}'`);
  } else if (kind === "ServiceAccount") checkServiceAccount(faults, `${at}.${name}`, said);
  else if (textAt(said, "name") === "") faults.required(`${at}.${name}.name`);
  for (const [other, field] of Object.entries(subjectFields).reverse()) {
    if (other !== kind && hasAt(subject, field))
      faults.forbidden(`${at}.${field}`, `${field} is forbidden when subject kind is not '${other}'`);
  }
}

function checkServiceAccount(faults: Faults, at: string, account: JsonObject): void {
  const name = textAt(account, "name");
  if (name === "") faults.required(`${at}.name`);
  else if (name !== "*") faults.each(`${at}.name`, name, dnsSubdomain(name));
  const namespace = textAt(account, "namespace");
  if (namespace === "") faults.required(`${at}.namespace`, "must specify namespace for service account");
  else faults.each(`${at}.namespace`, namespace, dnsLabel(namespace));
}

function checkNonResourceRule(faults: Faults, at: string, rule: JsonObject): void {
  checkVerbs(faults, at, rule);
  const urls = textsAt(rule, "nonResourceURLs");
  const path = `${at}.nonResourceURLs`;
  if (urls.length === 0) faults.required(path, "nonResourceURLs must contain at least one value");
  else if (urls.includes("*")) checkAlone(faults, path, urls, "non-resource URLs");
  else {
    for (const [index, url] of urls.entries()) {
      const why = urlFault(url);
      if (why !== undefined) faults.invalid(`${path}[${index}]`, url, why);
    }
  }
}

function urlFault(url: string): string | undefined {
  if (url === "") return "must not be empty";
  if (url === "/") return undefined;
  if (!url.startsWith("/")) return "must start with slash";
  if (url.includes(" ")) return "must not contain white-space";
  if (url.includes("//")) return "must not contain double slash";
  const wildcards = url.split("*").length - 1;
  return wildcards > 1 || (wildcards === 1 && !url.endsWith("/*"))
    ? "wildcard can only do suffix matching"
    : undefined;
}

function checkResourceRule(faults: Faults, at: string, rule: JsonObject): void {
  checkVerbs(faults, at, rule);
  for (const [field, one, many] of [
    ["apiGroups", "api group", "api groups"],
    ["resources", "resource", "resources"],
  ] as const) {
    const values = textsAt(rule, field);
    if (values.length === 0)
      faults.required(`${at}.${field}`, `resource rules must supply at least one ${one}`);
    else if (values.includes("*")) checkAlone(faults, `${at}.${field}`, values, many);
  }
  const namespaces = textsAt(rule, "namespaces");
  const path = `${at}.namespaces`;
  if (namespaces.length === 0 && field(rule, "clusterScope") !== true) {
    const why = "resource rules that are not cluster scoped must supply at least one namespace";
    faults.required(path, why);
  } else if (namespaces.includes("*")) checkAlone(faults, path, namespaces, "namespaces");
  else {
    const rule = "each member of this list must be '*' or a DNS-1123 label";
    for (const [index, name] of namespaces.entries())
      for (const why of dnsLabel(name)) faults.invalid(`${path}[${index}]`, name, `${rule}; ${why}`);
  }
}

function checkVerbs(faults: Faults, at: string, rule: JsonObject): void {
  const given = textsAt(rule, "verbs");
  const path = `${at}.verbs`;
  if (given.length === 0) faults.required(path, "verbs must contain at least one value");
  else if (given.includes("*")) checkAlone(faults, path, given, "verbs");
  else if (given.some((verb) => !verbs.includes(verb))) faults.unsupported(path, given, verbs);
}

function checkAlone(faults: Faults, at: string, values: string[], what: string): void {
  if (values.length > 1) faults.invalid(at, values, `if '*' is present, must not specify other ${what}`);
}
