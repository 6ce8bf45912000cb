import { equal, type JsonObject } from "../../json.ts";
import { hasAt, itemsAt, objectAt, textAt, textsAt } from "../../json-fields.ts";
import type { Strategy } from "../../registry/strategy.ts";
import { Faults } from "../../validation/faults.ts";
import { ensure } from "../../validation/fill.ts";
import { internal } from "../../validation/go-value.ts";
import { dnsSubdomain, pathSegment } from "../../validation/names.ts";
import { checkSelector, selectorIsSound } from "../../validation/selectors.ts";

const group = "rbac.authorization.k8s.io";

function roleStrategy(namespaced: boolean): Strategy {
  const check = (object: JsonObject) => roleFaults(object, namespaced).causes;
  return { names: "path", createOnUpdate: true, validate: check, validateUpdate: check };
}

export const role = roleStrategy(true);
export const clusterRole = roleStrategy(false);

function roleFaults(object: JsonObject, namespaced: boolean): Faults {
  const faults = new Faults();
  for (const [index, rule] of itemsAt(object, "rules").entries())
    checkRule(faults, `rules[${index}]`, rule, namespaced);
  if (!hasAt(object, "aggregationRule")) return faults;
  const selectors = itemsAt(objectAt(object, "aggregationRule"), "clusterRoleSelectors");
  const at = "aggregationRule.clusterRoleSelectors";
  if (selectors.length === 0) {
    faults.required(at, "at least one clusterRoleSelector required if aggregationRule is non-nil");
  }
  for (const [index, selector] of selectors.entries()) {
    checkSelector(faults, `${at}[${index}]`, selector);
    if (!selectorIsSound(selector)) faults.invalid(`${at}[${index}]`, null, "invalid label selector.");
  }
  return faults;
}

function checkRule(faults: Faults, at: string, rule: JsonObject, namespaced: boolean): void {
  if (textsAt(rule, "verbs").length === 0)
    faults.required(`${at}.verbs`, "verbs must contain at least one value");
  const urls = textsAt(rule, "nonResourceURLs");
  if (urls.length > 0) {
    if (namespaced) {
      faults.invalid(`${at}.nonResourceURLs`, urls, "namespaced rules cannot apply to non-resource URLs");
    }
    const alsoResources = ["apiGroups", "resources", "resourceNames"].some(
      (part) => textsAt(rule, part).length > 0,
    );
    if (alsoResources) {
      faults.invalid(
        `${at}.nonResourceURLs`,
        urls,
        "rules cannot apply to both regular resources and non-resource URLs",
      );
    }
    return;
  }
  if (textsAt(rule, "apiGroups").length === 0) {
    faults.required(`${at}.apiGroups`, "resource rules must supply at least one api group");
  }
  if (textsAt(rule, "resources").length === 0) {
    faults.required(`${at}.resources`, "resource rules must supply at least one resource");
  }
}

function bindingStrategy(roles: readonly string[], namespaced: boolean): Strategy {
  const faultsOf = (object: JsonObject): Faults => bindingFaults(object, roles, namespaced);
  return {
    names: "path",
    createOnUpdate: true,
    setDefaults: (object) => {
      const reference = ensure(object, "roleRef");
      if (textAt(reference, "apiGroup") === "") reference.apiGroup = group;
      for (const subject of itemsAt(object, "subjects")) {
        const kind = textAt(subject, "kind");
        if (textAt(subject, "apiGroup") === "" && (kind === "User" || kind === "Group"))
          subject.apiGroup = group;
      }
    },
    validate: (object) => faultsOf(object).causes,
    validateUpdate: (next, live) => {
      const faults = faultsOf(next);
      if (!equal(next.roleRef, live.roleRef)) {
        faults.invalid("roleRef", internal("RoleRef", objectAt(next, "roleRef")), "cannot change roleRef");
      }
      return faults.causes;
    },
  };
}

export const roleBinding = bindingStrategy(["Role", "ClusterRole"], true);
export const clusterRoleBinding = bindingStrategy(["ClusterRole"], false);

function bindingFaults(object: JsonObject, roles: readonly string[], namespaced: boolean): Faults {
  const faults = new Faults();
  const reference = objectAt(object, "roleRef");
  if (textAt(reference, "apiGroup") !== group) {
    faults.unsupported("roleRef.apiGroup", textAt(reference, "apiGroup"), [group]);
  }
  faults.oneOf("roleRef.kind", textAt(reference, "kind"), roles);
  const name = textAt(reference, "name");
  if (name === "") faults.required("roleRef.name");
  else faults.each("roleRef.name", name, pathSegment(name));
  for (const [index, subject] of itemsAt(object, "subjects").entries()) {
    checkSubject(faults, `subjects[${index}]`, subject, namespaced);
  }
  return faults;
}

function checkSubject(faults: Faults, at: string, subject: JsonObject, namespaced: boolean): void {
  const [kind, name, apiGroup] = [
    textAt(subject, "kind"),
    textAt(subject, "name"),
    textAt(subject, "apiGroup"),
  ];
  if (name === "") faults.required(`${at}.name`);
  switch (kind) {
    case "ServiceAccount":
      if (name !== "") faults.each(`${at}.name`, name, dnsSubdomain(name));
      if (apiGroup !== "") faults.unsupported(`${at}.apiGroup`, apiGroup, [""]);
      if (!namespaced && textAt(subject, "namespace") === "") faults.required(`${at}.namespace`);
      break;
    case "User":
    case "Group":
      if (apiGroup !== group) faults.unsupported(`${at}.apiGroup`, apiGroup, [group]);
      break;
    default:
      faults.unsupported(`${at}.kind`, kind, ["ServiceAccount", "User", "Group"]);
  }
}
