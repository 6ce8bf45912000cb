import type { JsonObject } from "../../json.ts";
import {
  field,
  hasAt,
  itemsAt,
  metadataOf,
  objectAt,
  specOf,
  statusOf,
  textAt,
  textsAt,
} from "../../json-fields.ts";
import type { Strategy } from "../../registry/strategy.ts";
import { Faults } from "../../validation/faults.ts";
import { ensure, fill } from "../../validation/fill.ts";
import { pathSegment, qualifiedName } from "../../validation/names.ts";
import { checkSelector } from "../../validation/selectors.ts";
import { checkConditions, checkRule } from "../webhook-configuration.ts";

function matchDefaults(match: JsonObject): void {
  fill(match, { namespaceSelector: {}, objectSelector: {}, matchPolicy: "Equivalent" });
  for (const list of ["resourceRules", "excludeResourceRules"]) {
    for (const rule of itemsAt(match, list)) fill(rule, { scope: "*" });
  }
}

export const validatingAdmissionPolicy: Strategy = {
  generation: true,
  unconditionalUpdate: false,
  setDefaults: (object) => {
    const spec = ensure(object, "spec");
    fill(spec, { failurePolicy: "Fail" });
    if (hasAt(spec, "matchConstraints")) matchDefaults(objectAt(spec, "matchConstraints"));
  },
  prepareCreate: (object) => {
    object.status = {};
  },
  validate: (object) => policyFaults(object).causes,
  validateUpdate: (next, _live, { subresource }) => {
    if (subresource !== "status") return policyFaults(next).causes;
    const faults = new Faults();
    for (const [index, condition] of itemsAt(statusOf(next), "conditions").entries()) {
      checkCondition(faults, `status.conditions[${index}]`, condition);
    }
    return faults.causes;
  },
};

/** A `metav1.Condition`. */
function checkCondition(faults: Faults, at: string, condition: JsonObject): void {
  const type = textAt(condition, "type");
  if (type === "") faults.required(`${at}.type`);
  else faults.each(`${at}.type`, type, qualifiedName(type));
  faults.oneOf(`${at}.status`, textAt(condition, "status"), ["False", "True", "Unknown"]);
  if (!hasAt(condition, "lastTransitionTime")) faults.required(`${at}.lastTransitionTime`);
  if (textAt(condition, "reason") === "") faults.required(`${at}.reason`);
}

function policyFaults(object: JsonObject): Faults {
  const faults = new Faults();
  const spec = specOf(object);
  if (hasAt(spec, "failurePolicy"))
    faults.oneOf("spec.failurePolicy", textAt(spec, "failurePolicy"), ["Fail", "Ignore"]);
  if (hasAt(spec, "paramKind")) {
    for (const part of ["apiVersion", "kind"]) {
      const value = textAt(objectAt(spec, "paramKind"), part);
      if (value === "") faults.required(`spec.paramKind.${part}`);
    }
  }
  if (!hasAt(spec, "matchConstraints")) faults.required("spec.matchConstraints");
  else checkMatch(faults, "spec.matchConstraints", objectAt(spec, "matchConstraints"), "required");
  const [validations, annotations] = [itemsAt(spec, "validations"), itemsAt(spec, "auditAnnotations")];
  if (validations.length === 0 && annotations.length === 0) {
    const why = "validations or auditAnnotations must contain at least one item";
    faults.required("spec.validations", why);
    faults.required("spec.auditAnnotations", why);
  }
  for (const [index, validation] of validations.entries()) {
    const at = `spec.validations[${index}]`;
    if (textAt(validation, "expression").trim() === "") {
      faults.required(`${at}.expression`, "expression is not specified");
    }
    if (hasAt(validation, "reason")) {
      faults.oneOf(`${at}.reason`, textAt(validation, "reason"), [
        "Forbidden",
        "Invalid",
        "RequestEntityTooLarge",
      ]);
    }
    if (hasAt(validation, "message") && textAt(validation, "message").trim() === "") {
      faults.invalid(
        `${at}.message`,
        textAt(validation, "message"),
        "message must be non-empty if specified",
      );
    }
  }
  checkVariables(faults, itemsAt(spec, "variables"));
  checkAnnotationsOf(faults, annotations, textAt(metadataOf(object), "name"));
  checkConditions(faults, "spec.matchConditions", itemsAt(spec, "matchConditions"));
  return faults;
}

function checkVariables(faults: Faults, variables: readonly JsonObject[]): void {
  for (const [index, variable] of variables.entries()) {
    const at = `spec.variables[${index}]`;
    const name = textAt(variable, "name");
    if (name === "") faults.required(`${at}.name`, "name is not specified");
    else if (!/^[_a-zA-Z][_a-zA-Z0-9]*$/.test(name)) {
      faults.invalid(`${at}.name`, name, "must be a valid CEL identifier");
    }
    if (textAt(variable, "expression").trim() === "") {
      faults.required(`${at}.expression`, "expression is not specified");
    }
  }
}

function checkAnnotationsOf(faults: Faults, annotations: readonly JsonObject[], policy: string): void {
  const seen = new Set<string>();
  for (const [index, annotation] of annotations.entries()) {
    const at = `spec.auditAnnotations[${index}]`;
    const key = textAt(annotation, "key");
    if (key === "") faults.required(`${at}.key`);
    else {
      const full = `${policy}/${key}`;
      faults.each(`${at}.key`, full, qualifiedName(full));
    }
    if (textAt(annotation, "valueExpression").trim() === "") {
      faults.required(`${at}.valueExpression`, "valueExpression is not specified");
    }
    if (seen.has(key)) faults.duplicate(`${at}.key`, key);
    seen.add(key);
  }
}

function checkMatch(faults: Faults, at: string, match: JsonObject, rules: "required" | "optional"): void {
  if (rules === "required" && itemsAt(match, "resourceRules").length === 0) {
    faults.required(`${at}.resourceRules`);
  }
  if (hasAt(match, "matchPolicy")) {
    faults.oneOf(`${at}.matchPolicy`, textAt(match, "matchPolicy"), ["Equivalent", "Exact"]);
  }
  for (const part of ["namespaceSelector", "objectSelector"]) {
    if (hasAt(match, part)) checkSelector(faults, `${at}.${part}`, objectAt(match, part));
  }
  for (const list of ["resourceRules", "excludeResourceRules"]) {
    for (const [index, rule] of itemsAt(match, list).entries())
      checkRule(faults, `${at}.${list}[${index}]`, rule);
  }
}

export const validatingAdmissionPolicyBinding: Strategy = {
  generation: true,
  unconditionalUpdate: false,
  setDefaults: (object) => {
    const spec = specOf(object);
    if (hasAt(spec, "matchResources")) matchDefaults(objectAt(spec, "matchResources"));
  },
  validate: (object) => bindingFaults(object).causes,
  validateUpdate: (next) => bindingFaults(next).causes,
};

const actions = ["Audit", "Deny", "Warn"];

function bindingFaults(object: JsonObject): Faults {
  const faults = new Faults();
  const spec = specOf(object);
  const name = textAt(spec, "policyName");
  if (name === "") faults.required("spec.policyName");
  else faults.each("spec.policyName", name, pathSegment(name));
  if (hasAt(spec, "paramRef")) checkParameters(faults, "spec.paramRef", objectAt(spec, "paramRef"));
  if (hasAt(spec, "matchResources"))
    checkMatch(faults, "spec.matchResources", objectAt(spec, "matchResources"), "optional");
  const chosen = textsAt(spec, "validationActions");
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
  const name = textAt(reference, "name");
  if (name !== "") faults.each(`${at}.name`, name, pathSegment(name));
  if (name !== "" && hasAt(reference, "selector")) {
    for (const part of ["name", "selector"]) {
      faults.forbidden(`${at}.${part}`, "name and selector are mutually exclusive");
    }
  }
  if (name === "" && !hasAt(reference, "selector")) {
    faults.required(at, "one of name or selector must be specified");
  }
  const action = field(reference, "parameterNotFoundAction");
  if (action === undefined || action === null || action === "") {
    faults.required(`${at}.parameterNotFoundAction`);
  } else
    faults.oneOf(`${at}.parameterNotFoundAction`, textAt(reference, "parameterNotFoundAction"), [
      "Deny",
      "Allow",
    ]);
}
