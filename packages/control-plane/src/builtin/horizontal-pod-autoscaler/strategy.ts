import type { Json, JsonObject } from "../../json.ts";
import { field, hasAt, itemsAt, numberAt, objectAt, specOf, statusOf, textAt } from "../../json-fields.ts";
import type { Strategy } from "../../registry/strategy.ts";
import { amount } from "../../validation/amounts.ts";
import { Faults } from "../../validation/faults.ts";
import { ensure, fill } from "../../validation/fill.ts";
import { pathSegment } from "../../validation/names.ts";
import { fromStored, toStored } from "./versions.ts";

const fallbackMetric: JsonObject = {
  type: "Resource",
  resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 80 } },
};
const scaleUpDefaults: JsonObject = {
  stabilizationWindowSeconds: 0,
  selectPolicy: "Max",
  policies: [
    { type: "Pods", value: 4, periodSeconds: 15 },
    { type: "Percent", value: 100, periodSeconds: 15 },
  ],
};
const scaleDownDefaults: JsonObject = {
  selectPolicy: "Max",
  policies: [{ type: "Percent", value: 100, periodSeconds: 15 }],
};

export const horizontalPodAutoscaler: Strategy = {
  setDefaults: (object) => {
    const spec = ensure(object, "spec");
    fill(spec, { minReplicas: 1 });
    if (itemsAt(spec, "metrics").length === 0) spec.metrics = [structuredClone(fallbackMetric)];
    if (!hasAt(spec, "behavior")) return;
    const behavior = objectAt(spec, "behavior");
    rulesWithDefaults(ensure(behavior, "scaleUp"), scaleUpDefaults);
    rulesWithDefaults(ensure(behavior, "scaleDown"), scaleDownDefaults);
  },
  prepareCreate: (object) => {
    object.status = {};
  },
  validate: (object) => specFaults(object).causes,
  validateUpdate: (next, _live, { subresource }) =>
    subresource === "status" ? statusFaults(next).causes : specFaults(next).causes,
};

function rulesWithDefaults(rules: JsonObject, defaults: JsonObject): void {
  if (itemsAt(rules, "policies").length === 0) delete rules.policies;
  fill(rules, defaults);
}

/**
 * The old version: what it cannot say stands in annotations, and it is checked as what it becomes.
 */
export const horizontalPodAutoscalerV1: Strategy = {
  setDefaults: (object) => {
    fill(ensure(object, "spec"), { minReplicas: 1 });
    settle(object);
  },
  prepareCreate: (object) => {
    object.status = {};
  },
  prepareUpdate: (next) => settle(next),
  validate: (object) => specFaults(toStored(object)).causes,
  validateUpdate: (next, _live, { subresource }) => {
    const stored = toStored(next);
    return subresource === "status" ? statusFaults(stored).causes : specFaults(stored).causes;
  },
};

/** Shows at once what will be read back: defaults that only the stored version has. */
function settle(object: JsonObject): void {
  const shown = fromStored(toStored(object));
  object.spec = specOf(shown);
  object.metadata = { ...objectAt(object, "metadata"), ...annotationsOf(shown) };
}

function annotationsOf(object: JsonObject): JsonObject {
  const annotations = field(objectAt(object, "metadata"), "annotations");
  return annotations === undefined ? {} : { annotations };
}

function statusFaults(object: JsonObject): Faults {
  const faults = new Faults();
  for (const part of ["currentReplicas", "desiredReplicas"]) {
    faults.atLeast(`status.${part}`, field(statusOf(object), part));
  }
  return faults;
}

function specFaults(object: JsonObject): Faults {
  const faults = new Faults();
  const spec = specOf(object);
  const [least, most] = [numberAt(spec, "minReplicas"), numberAt(spec, "maxReplicas") ?? 0];
  if (least !== undefined && least < 1) {
    faults.invalid("spec.minReplicas", least, "must be greater than or equal to 1");
  }
  if (most < 1) faults.invalid("spec.maxReplicas", most, "must be greater than 0");
  if (least !== undefined && most < least) {
    faults.invalid("spec.maxReplicas", most, "must be greater than or equal to `minReplicas`");
  }
  checkReference(faults, "spec.scaleTargetRef", objectAt(spec, "scaleTargetRef"), "target");
  for (const [index, metric] of itemsAt(spec, "metrics").entries())
    checkMetric(faults, `spec.metrics[${index}]`, metric);
  if (
    least === 0 &&
    !itemsAt(spec, "metrics").some((metric) => ["Object", "External"].includes(textAt(metric, "type")))
  ) {
    faults.forbidden(
      "spec.metrics",
      "must specify at least one Object or External metric to support scaling to zero replicas",
    );
  }
  const behavior = objectAt(spec, "behavior");
  for (const part of ["scaleUp", "scaleDown"]) {
    if (hasAt(behavior, part)) checkRules(faults, `spec.behavior.${part}`, objectAt(behavior, part));
  }
  return faults;
}

function checkReference(
  faults: Faults,
  at: string,
  reference: JsonObject,
  role: "target" | "described",
): void {
  for (const part of ["kind", "name"]) {
    const value = textAt(reference, part);
    if (value === "") faults.required(`${at}.${part}`);
    else faults.each(`${at}.${part}`, value, pathSegment(value));
  }
  if (role === "described") return;
  const apiVersion = textAt(reference, "apiVersion");
  const [group = "", ...rest] = apiVersion.split("/");
  if (rest.length > 1) {
    faults.invalid(`${at}.apiVersion`, apiVersion, `unexpected GroupVersion string: ${apiVersion}`);
  } else if ((rest.length === 0 || group === "") && textAt(reference, "kind") !== "ReplicationController") {
    faults.invalid(`${at}.apiVersion`, apiVersion, "apiVersion must specify API group");
  }
}

const sources: { readonly [type: string]: string } = {
  ContainerResource: "containerResource",
  External: "external",
  Object: "object",
  Pods: "pods",
  Resource: "resource",
};

function checkMetric(faults: Faults, at: string, metric: JsonObject): void {
  const type = textAt(metric, "type");
  if (type === "") faults.required(`${at}.type`, "must specify a metric source type");
  const source = Object.hasOwn(sources, type) ? sources[type] : undefined;
  if (source === undefined) {
    faults.unsupported(`${at}.type`, type, Object.keys(sources));
    return;
  }
  for (const other of ["object", "external", "pods", "resource", "containerResource"]) {
    if (!hasAt(metric, other)) continue;
    if (other === source) checkSource(faults, `${at}.${other}`, other, objectAt(metric, other));
    else faults.forbidden(`${at}.${other}`, "must populate the given metric source only");
  }
  if (!hasAt(metric, source)) {
    faults.required(`${at}.${source}`, "must populate information for the given metric source");
  }
}

function checkSource(faults: Faults, at: string, name: string, source: JsonObject): void {
  const target = objectAt(source, "target");
  switch (name) {
    case "resource":
    case "containerResource":
      if (name === "containerResource" && textAt(source, "container") === "") {
        faults.required(`${at}.container`, "must specify a container");
      }
      if (textAt(source, "name") === "") faults.required(`${at}.name`, "must specify a resource name");
      checkTarget(faults, `${at}.target`, target);
      if (!hasAt(target, "averageUtilization") && !hasAt(target, "averageValue")) {
        faults.required(
          `${at}.target.averageUtilization`,
          "must set either a target raw value or a target utilization",
        );
      }
      if (hasAt(target, "averageUtilization") && hasAt(target, "averageValue")) {
        faults.forbidden(
          `${at}.target.averageValue`,
          "may not set both a target raw value and a target utilization",
        );
      }
      break;
    case "pods":
      checkIdentifier(faults, `${at}.metric`, objectAt(source, "metric"));
      checkTarget(faults, `${at}.target`, target);
      if (!hasAt(target, "averageValue") || amount(field(target, "averageValue")).nanos <= 0n) {
        faults.required(`${at}.target.averageValue`, "must specify a positive target averageValue");
      }
      break;
    default:
      if (name === "object")
        checkReference(faults, `${at}.describedObject`, objectAt(source, "describedObject"), "described");
      checkIdentifier(faults, `${at}.metric`, objectAt(source, "metric"));
      checkTarget(faults, `${at}.target`, target);
      if (!hasAt(target, "value") && !hasAt(target, "averageValue")) {
        faults.required(
          `${at}.target.averageValue`,
          name === "object"
            ? "must set either a target value or averageValue"
            : "must set either a target value for metric or a per-pod target",
        );
      }
      if (name === "external" && hasAt(target, "value") && hasAt(target, "averageValue")) {
        faults.forbidden(
          `${at}.target.value`,
          "may not set both a target value for metric and a per-pod target",
        );
      }
  }
}

function checkIdentifier(faults: Faults, at: string, metric: JsonObject): void {
  const name = textAt(metric, "name");
  if (name === "") faults.required(`${at}.name`, "must specify a metric name");
  else faults.each(`${at}.name`, name, pathSegment(name));
}

const targetTypes = ["Utilization", "Value", "AverageValue"];

function checkTarget(faults: Faults, at: string, target: JsonObject): void {
  const type = textAt(target, "type");
  if (type === "") faults.required(`${at}.type`, "must specify a metric target type");
  if (!targetTypes.includes(type)) {
    faults.invalid(`${at}.type`, type, "must be either Utilization, Value, or AverageValue");
  }
  for (const part of ["value", "averageValue"]) {
    const value: Json | undefined = field(target, part);
    if (value !== undefined && amount(value).nanos <= 0n)
      faults.invalid(`${at}.${part}`, value, "must be positive");
  }
  const utilization = numberAt(target, "averageUtilization");
  if (utilization !== undefined && utilization < 1) {
    faults.invalid(`${at}.averageUtilization`, utilization, "must be greater than 0");
  }
}

function checkRules(faults: Faults, at: string, rules: JsonObject): void {
  const window = numberAt(rules, "stabilizationWindowSeconds");
  if (window !== undefined && window < 0) {
    faults.invalid(`${at}.stabilizationWindowSeconds`, window, "must be greater than or equal to zero");
  } else if (window !== undefined && window > 3600) {
    faults.invalid(`${at}.stabilizationWindowSeconds`, window, "must be less than or equal to 3600");
  }
  if (hasAt(rules, "selectPolicy")) {
    faults.oneOf(`${at}.selectPolicy`, textAt(rules, "selectPolicy"), ["Disabled", "Max", "Min"]);
  }
  const policies = itemsAt(rules, "policies");
  if (policies.length === 0) faults.required(`${at}.policies`, "must specify at least one Policy");
  for (const [index, policy] of policies.entries()) {
    const path = `${at}.policies[${index}]`;
    faults.oneOf(`${path}.type`, textAt(policy, "type"), ["Percent", "Pods"]);
    const [value, seconds] = [numberAt(policy, "value") ?? 0, numberAt(policy, "periodSeconds") ?? 0];
    if (value <= 0) faults.invalid(`${path}.value`, value, "must be greater than zero");
    if (seconds <= 0) faults.invalid(`${path}.periodSeconds`, seconds, "must be greater than zero");
    else if (seconds > 1800)
      faults.invalid(`${path}.periodSeconds`, seconds, "must be less than or equal to 1800");
  }
}
