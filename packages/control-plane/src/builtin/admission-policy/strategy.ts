import type { JsonObject } from "../../json.ts";
import type { Strategy } from "../../registry/strategy.ts";
import { Faults } from "../../validation/faults.ts";
import {
  child,
  has,
  items,
  metadataOf,
  own,
  specOf,
  statusOf,
  text,
  texts,
} from "../../validation/fields.ts";
import { ensure, fill } from "../../validation/fill.ts";
import { pathSegment, qualifiedName } from "../../validation/names.ts";
import { checkSelector } from "../../validation/selectors.ts";
import { checkConditions, checkRule } from "../webhook-configuration.ts";

function matchDefaults(match: JsonObject): void {
  fill(match, { namespaceSelector: {}, objectSelector: {}, matchPolicy: "Equivalent" });
  for (const list of ["resourceRules", "excludeResourceRules"]) {
    for (const rule of items(match, list)) fill(rule, { scope: "*" });
  }
}

export const validatingAdmissionPolicy: Strategy = {
  generation: true,
  unconditionalUpdate: false,
  setDefaults: (object) => {
    const spec = ensure(object, "spec");
    fill(spec, { failurePolicy: "Fail" });
    if (has(spec, "matchConstraints")) matchDefaults(child(spec, "matchConstraints"));
  },
  prepareCreate: (object) => {
    object.status = {};
  },
  validate: (object) => policyFaults(object).causes,
  validateUpdate: (next, _live, { subresource }) => {
    if (subresource !== "status") return policyFaults(next).causes;
    const faults = new Faults();
    for (const [index, condition] of items(statusOf(next), "conditions").entries()) {
      checkCondition(faults, `status.conditions[${index}]`, condition);
    }
    return faults.causes;
  },
};

/** A `metav1.Condition`. */
function checkCondition(faults: Faults, at: string, condition: JsonObject): void {
  const type = text(condition, "type");
  if (type === "") faults.required(`${at}.type`);
  else faults.each(`${at}.type`, type, qualifiedName(type));
  faults.oneOf(`${at}.status`, text(condition, "status"), ["False", "True", "Unknown"]);
  if (!has(condition, "lastTransitionTime")) faults.required(`${at}.lastTransitionTime`);
  if (text(condition, "reason") === "") faults.required(`${at}.reason`);
}

function policyFaults(object: JsonObject): Faults {
  const faults = new Faults();
  const spec = specOf(object);
  if (has(spec, "failurePolicy"))
    faults.oneOf("spec.failurePolicy", text(spec, "failurePolicy"), ["Fail", "Ignore"]);
  if (has(spec, "paramKind")) {
    for (const part of ["apiVersion", "kind"]) {
      const value = text(child(spec, "paramKind"), part);
      if (value === "") faults.required(`spec.paramKind.${part}`);
    }
  }
  if (!has(spec, "matchConstraints")) faults.required("spec.matchConstraints");
  else checkMatch(faults, "spec.matchConstraints", child(spec, "matchConstraints"), "required");
  const [validations, annotations] = [items(spec, "validations"), items(spec, "auditAnnotations")];
  if (validations.length === 0 && annotations.length === 0) {
    const why = "validations or auditAnnotations must contain at least one item";
    faults.required("spec.validations", why);
    faults.required("spec.auditAnnotations", why);
  }
  for (const [index, validation] of validations.entries()) {
    const at = `spec.validations[${index}]`;
    if (text(validation, "expression").trim() === "") {
      faults.required(`${at}.expression`, "expression is not specified");
    }
    if (has(validation, "reason")) {
      faults.oneOf(`${at}.reason`, text(validation, "reason"), [
        "Forbidden",
        "Invalid",
        "RequestEntityTooLarge",
      ]);
    }
    if (has(validation, "message") && text(validation, "message").trim() === "") {
      faults.invalid(`${at}.message`, text(validation, "message"), "message must be non-empty if specified");
    }
  }
  checkVariables(faults, items(spec, "variables"));
  checkAnnotationsOf(faults, annotations, text(metadataOf(object), "name"));
  checkConditions(faults, "spec.matchConditions", items(spec, "matchConditions"));
  return faults;
}

function checkVariables(faults: Faults, variables: readonly JsonObject[]): void {
  for (const [index, variable] of variables.entries()) {
    const at = `spec.variables[${index}]`;
    const name = text(variable, "name");
    if (name === "") faults.required(`${at}.name`, "name is not specified");
    else if (!/^[_a-zA-Z][_a-zA-Z0-9]*$/.test(name)) {
      faults.invalid(`${at}.name`, name, "must be a valid CEL identifier");
    }
    if (text(variable, "expression").trim() === "") {
      faults.required(`${at}.expression`, "expression is not specified");
    }
  }
}

function checkAnnotationsOf(faults: Faults, annotations: readonly JsonObject[], policy: string): void {
  const seen = new Set<string>();
  for (const [index, annotation] of annotations.entries()) {
    const at = `spec.auditAnnotations[${index}]`;
    const key = text(annotation, "key");
    if (key === "") faults.required(`${at}.key`);
    else {
      const full = `${policy}/${key}`;
      faults.each(`${at}.key`, full, qualifiedName(full));
    }
    if (text(annotation, "valueExpression").trim() === "") {
      faults.required(`${at}.valueExpression`, "valueExpression is not specified");
    }
    if (seen.has(key)) faults.duplicate(`${at}.key`, key);
    seen.add(key);
  }
}

function checkMatch(faults: Faults, at: string, match: JsonObject, rules: "required" | "optional"): void {
  if (rules === "required" && items(match, "resourceRules").length === 0) {
    faults.required(`${at}.resourceRules`);
  }
  if (has(match, "matchPolicy")) {
    faults.oneOf(`${at}.matchPolicy`, text(match, "matchPolicy"), ["Equivalent", "Exact"]);
  }
  for (const part of ["namespaceSelector", "objectSelector"]) {
    if (has(match, part)) checkSelector(faults, `${at}.${part}`, child(match, part));
  }
  for (const list of ["resourceRules", "excludeResourceRules"]) {
    for (const [index, rule] of items(match, list).entries())
      checkRule(faults, `${at}.${list}[${index}]`, rule);
  }
}

export const validatingAdmissionPolicyBinding: Strategy = {
  generation: true,
  unconditionalUpdate: false,
  setDefaults: (object) => {
    const spec = specOf(object);
    if (has(spec, "matchResources")) matchDefaults(child(spec, "matchResources"));
  },
  validate: (object) => bindingFaults(object).causes,
  validateUpdate: (next) => bindingFaults(next).causes,
};

const actions = ["Audit", "Deny", "Warn"];

function bindingFaults(object: JsonObject): Faults {
  const faults = new Faults();
  const spec = specOf(object);
  const name = text(spec, "policyName");
  if (name === "") faults.required("spec.policyName");
  else faults.each("spec.policyName", name, pathSegment(name));
  if (has(spec, "paramRef")) checkParameters(faults, "spec.paramRef", child(spec, "paramRef"));
  if (has(spec, "matchResources"))
    checkMatch(faults, "spec.matchResources", child(spec, "matchResources"), "optional");
  const chosen = texts(spec, "validationActions");
  if (chosen.length === 0)
    faults.required("spec.validationActions", "at least one validation action is required");
  for (const [index, action] of chosen.entries()) {
    faults.oneOf(`spec.validationActions[${index}]`, action, actions);
    if (chosen.indexOf(action) < index) faults.duplicate(`spec.validationActions[${index}]`, action);
  }
  if (chosen.includes("Deny") && chosen.includes("Warn")) {
    faults.invalid(
      "spec.validationActions",
      chosen,
      "must not contain both Deny and Warn (repeating the same validation failure information in the API response and headers serves no purpose)",
    );
  }
  return faults;
}

function checkParameters(faults: Faults, at: string, reference: JsonObject): void {
  const name = text(reference, "name");
  if (name !== "") faults.each(`${at}.name`, name, pathSegment(name));
  if (name !== "" && has(reference, "selector")) {
    for (const part of ["name", "selector"]) {
      faults.forbidden(`${at}.${part}`, "name and selector are mutually exclusive");
    }
  }
  if (name === "" && !has(reference, "selector")) {
    faults.required(at, "one of name or selector must be specified");
  }
  const action = own(reference, "parameterNotFoundAction");
  if (action === undefined || action === null || action === "") {
    faults.required(`${at}.parameterNotFoundAction`);
  } else
    faults.oneOf(`${at}.parameterNotFoundAction`, text(reference, "parameterNotFoundAction"), [
      "Deny",
      "Allow",
    ]);
}
