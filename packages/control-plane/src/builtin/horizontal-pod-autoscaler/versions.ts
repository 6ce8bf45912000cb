import { clone, isObject, type Json, type JsonObject } from "../../json.ts";
import { field, hasAt, itemsAt, numberAt, objectAt, specOf, statusOf, textAt } from "../../json-fields.ts";

/*
 * `autoscaling/v1` knows one metric, the cpu. Whatever else the stored `autoscaling/v2` holds is
 * carried in annotations, in the shapes of older versions, so that a client of either version loses
 * nothing.
 */

const prefix = "autoscaling.alpha.kubernetes.io/";
const metricsKey = `${prefix}metrics`;
const behaviorKey = `${prefix}behavior`;
const conditionsKey = `${prefix}conditions`;
const currentKey = `${prefix}current-metrics`;

/** A v1 object as it is stored. */
export function toStored(object: JsonObject): JsonObject {
  const { metadata, status: _status, ...rest } = clone(object);
  const annotations = { ...objectAt(metadata as JsonObject, "annotations") };
  const spec = specOf(rest);
  const target = numberAt(spec, "targetCPUUtilizationPercentage");
  const { targetCPUUtilizationPercentage: _target, ...kept } = spec;
  const others = listIn(annotations, metricsKey).map(metricFromOld);
  const metrics = [...others, ...(target === undefined ? [] : [cpuMetric(target)])];
  const behavior = objectIn(annotations, behaviorKey);
  const status = statusToStored(statusOf(object), annotations);
  return {
    ...rest,
    apiVersion: "autoscaling/v2",
    metadata: withAnnotations(metadata as JsonObject, annotations),
    spec: {
      ...kept,
      // Without a word about metrics the cpu is meant.
      metrics: metrics.length > 0 ? metrics : [cpuMetric(80)],
      ...(behavior ? { behavior: behaviorFromOld(behavior) } : {}),
    },
    status,
  };
}

/** What is stored, as v1 shows it. */
export function fromStored(object: JsonObject): JsonObject {
  const { metadata, status, ...rest } = clone(object);
  const annotations = { ...objectAt(metadata as JsonObject, "annotations") };
  const { metrics: _metrics, behavior, ...spec } = specOf(rest);
  const metrics = itemsAt(specOf(rest), "metrics");
  const cpu = metrics.find(isCpuUtilization);
  const others = metrics.filter((metric) => metric !== cpu);
  if (others.length > 0) annotations[metricsKey] = JSON.stringify(others.map(metricToOld));
  if (isObject(behavior)) annotations[behaviorKey] = JSON.stringify(behaviorToOld(behavior));
  const shown = statusFromStored(isObject(status) ? status : {}, annotations);
  const target = cpu && numberAt(within(cpu), "averageUtilization");
  return {
    ...rest,
    apiVersion: "autoscaling/v1",
    metadata: withAnnotations(metadata as JsonObject, annotations),
    spec: { ...spec, ...(target === undefined ? {} : { targetCPUUtilizationPercentage: target }) },
    status: shown,
  };
}

function withAnnotations(metadata: JsonObject, annotations: JsonObject): JsonObject {
  const { annotations: _annotations, ...rest } = metadata;
  const kept = Object.entries(annotations).sort(([a], [b]) => (a < b ? -1 : 1));
  return kept.length === 0 ? rest : { ...rest, annotations: Object.fromEntries(kept) };
}

function cpuMetric(target: number): JsonObject {
  return {
    type: "Resource",
    resource: { name: "cpu", target: { type: "Utilization", averageUtilization: target } },
  };
}

const within = (metric: JsonObject): JsonObject => objectAt(objectAt(metric, "resource"), "target");

function isCpuUtilization(metric: JsonObject): boolean {
  return (
    textAt(metric, "type") === "Resource" &&
    textAt(objectAt(metric, "resource"), "name") === "cpu" &&
    hasAt(within(metric), "averageUtilization")
  );
}

function parsed(annotations: JsonObject, key: string): unknown {
  const value = annotations[key];
  if (typeof value !== "string") return undefined;
  try {
    const read: unknown = JSON.parse(value);
    delete annotations[key];
    return read;
  } catch (error) {
    // An annotation that is no JSON is left as it stands.
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function listIn(annotations: JsonObject, key: string): JsonObject[] {
  const value = parsed(annotations, key);
  return Array.isArray(value) ? value.filter(isObject) : [];
}

function objectIn(annotations: JsonObject, key: string): JsonObject | undefined {
  const value = parsed(annotations, key);
  return isObject(value) ? value : undefined;
}

function statusToStored(status: JsonObject, annotations: JsonObject): JsonObject {
  const { currentCPUUtilizationPercentage: cpu, ...rest } = status;
  const current = listIn(annotations, currentKey).map(currentFromOld);
  const conditions = listIn(annotations, conditionsKey);
  const known = current.filter((metric) => !isCurrentCpu(metric));
  const measured: JsonObject[] =
    typeof cpu === "number"
      ? [{ type: "Resource", resource: { name: "cpu", current: { averageUtilization: cpu } } }]
      : [];
  const metrics = [...measured, ...known];
  return {
    ...rest,
    ...(metrics.length > 0 ? { currentMetrics: metrics } : {}),
    ...(conditions.length > 0 ? { conditions } : {}),
  };
}

function statusFromStored(status: JsonObject, annotations: JsonObject): JsonObject {
  const { currentMetrics: _metrics, conditions: _conditions, ...rest } = status;
  const metrics = itemsAt(status, "currentMetrics");
  const cpu = metrics.find(isCurrentCpu);
  if (metrics.length > 0) annotations[currentKey] = JSON.stringify(metrics.map(currentToOld));
  if (itemsAt(status, "conditions").length > 0)
    annotations[conditionsKey] = JSON.stringify(status.conditions);
  const measured = cpu && numberAt(objectAt(objectAt(cpu, "resource"), "current"), "averageUtilization");
  return {
    ...(numberAt(status, "currentReplicas") === undefined ? { currentReplicas: 0 } : {}),
    ...rest,
    ...(measured === undefined ? {} : { currentCPUUtilizationPercentage: measured }),
  };
}

function isCurrentCpu(metric: JsonObject): boolean {
  return (
    textAt(metric, "type") === "Resource" &&
    textAt(objectAt(metric, "resource"), "name") === "cpu" &&
    hasAt(objectAt(objectAt(metric, "resource"), "current"), "averageUtilization")
  );
}

/** Leaves out what is not there, in the order given. */
function compact(fields: { readonly [name: string]: Json | undefined }): JsonObject {
  return Object.fromEntries(
    Object.entries(fields).filter(
      (entry): entry is [string, Json] => entry[1] !== undefined && entry[1] !== null,
    ),
  );
}

const resourceNames = ["resource", "containerResource"];

function metricToOld(metric: JsonObject): JsonObject {
  const source = sourceOf(metric);
  if (source === undefined) return metric;
  const held = objectAt(metric, source);
  const [target, identity] = [objectAt(held, "target"), objectAt(held, "metric")];
  const old = resourceNames.includes(source)
    ? compact({
        name: field(held, "name"),
        targetAverageUtilization: field(target, "averageUtilization"),
        targetAverageValue: field(target, "averageValue"),
        container: field(held, "container"),
      })
    : source === "pods"
      ? compact({
          metricName: field(identity, "name"),
          targetAverageValue: field(target, "averageValue"),
          selector: field(identity, "selector"),
        })
      : source === "object"
        ? compact({
            target: field(held, "describedObject"),
            metricName: field(identity, "name"),
            targetValue: field(target, "value") ?? "0",
            selector: field(identity, "selector"),
            averageValue: field(target, "averageValue"),
          })
        : compact({
            metricName: field(identity, "name"),
            metricSelector: field(identity, "selector"),
            targetValue: field(target, "value"),
            targetAverageValue: field(target, "averageValue"),
          });
  return { type: textAt(metric, "type"), [source]: old };
}

function metricFromOld(old: JsonObject): JsonObject {
  const source = sourceOf(old);
  if (source === undefined) return old;
  const held = objectAt(old, source);
  const metric = compact({
    name: field(held, "metricName"),
    selector: field(held, source === "external" ? "metricSelector" : "selector"),
  });
  const average = field(held, source === "object" ? "averageValue" : "targetAverageValue");
  const utilization = field(held, "targetAverageUtilization");
  const whole = field(held, "targetValue");
  const target: JsonObject =
    utilization !== undefined
      ? { type: "Utilization", averageUtilization: utilization }
      : average !== undefined
        ? { type: "AverageValue", averageValue: average }
        : { type: "Value", value: whole ?? "0" };
  const made = resourceNames.includes(source)
    ? compact({ name: field(held, "name"), container: field(held, "container"), target })
    : compact({ describedObject: field(held, "target"), metric, target });
  return { type: textAt(old, "type"), [source]: made };
}

function currentToOld(metric: JsonObject): JsonObject {
  const source = sourceOf(metric);
  if (source === undefined) return metric;
  const held = objectAt(metric, source);
  const [current, identity] = [objectAt(held, "current"), objectAt(held, "metric")];
  const old = resourceNames.includes(source)
    ? compact({
        name: field(held, "name"),
        currentAverageUtilization: field(current, "averageUtilization"),
        currentAverageValue: field(current, "averageValue") ?? "0",
        container: field(held, "container"),
      })
    : compact({
        target: field(held, "describedObject"),
        metricName: field(identity, "name"),
        currentValue: field(current, "value"),
        currentAverageValue: field(current, "averageValue"),
        selector: field(identity, "selector"),
      });
  return { type: textAt(metric, "type"), [source]: old };
}

function currentFromOld(old: JsonObject): JsonObject {
  const source = sourceOf(old);
  if (source === undefined) return old;
  const held = objectAt(old, source);
  const current = compact({
    value: field(held, "currentValue"),
    averageValue: field(held, "currentAverageValue"),
    averageUtilization: field(held, "currentAverageUtilization"),
  });
  const made = resourceNames.includes(source)
    ? compact({ name: field(held, "name"), container: field(held, "container"), current })
    : compact({
        describedObject: field(held, "target"),
        metric: compact({ name: field(held, "metricName"), selector: field(held, "selector") }),
        current,
      });
  return { type: textAt(old, "type"), [source]: made };
}

function sourceOf(metric: JsonObject): string | undefined {
  return ["object", "pods", "resource", "containerResource", "external"].find((name) => hasAt(metric, name));
}

function behaviorToOld(behavior: JsonObject): JsonObject {
  return { ScaleUp: rulesToOld(behavior.scaleUp), ScaleDown: rulesToOld(behavior.scaleDown) };
}

function rulesToOld(rules: Json | undefined): Json {
  if (!isObject(rules)) return null;
  return {
    StabilizationWindowSeconds: field(rules, "stabilizationWindowSeconds") ?? null,
    SelectPolicy: field(rules, "selectPolicy") ?? null,
    Policies: itemsAt(rules, "policies").map((policy) => ({
      Type: field(policy, "type") ?? "",
      Value: field(policy, "value") ?? 0,
      PeriodSeconds: field(policy, "periodSeconds") ?? 0,
    })),
    Tolerance: field(rules, "tolerance") ?? null,
  };
}

function behaviorFromOld(behavior: JsonObject): JsonObject {
  return compact({ scaleUp: rulesFromOld(behavior.ScaleUp), scaleDown: rulesFromOld(behavior.ScaleDown) });
}

function rulesFromOld(rules: Json | undefined): JsonObject | undefined {
  if (!isObject(rules)) return undefined;
  return compact({
    stabilizationWindowSeconds: field(rules, "StabilizationWindowSeconds"),
    selectPolicy: field(rules, "SelectPolicy"),
    policies: itemsAt(rules, "Policies").map((policy) =>
      compact({
        type: field(policy, "Type"),
        value: field(policy, "Value"),
        periodSeconds: field(policy, "PeriodSeconds"),
      }),
    ),
    tolerance: field(rules, "Tolerance"),
  });
}
