import { clone, isObject, type Json, type JsonObject } from "../../json.ts";
import { child, has, items, number, own, specOf, statusOf, text } from "../../validation/fields.ts";

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
  const annotations = { ...child(metadata as JsonObject, "annotations") };
  const spec = specOf(rest);
  const target = number(spec, "targetCPUUtilizationPercentage");
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
  const annotations = { ...child(metadata as JsonObject, "annotations") };
  const { metrics: _metrics, behavior, ...spec } = specOf(rest);
  const metrics = items(specOf(rest), "metrics");
  const cpu = metrics.find(isCpuUtilization);
  const others = metrics.filter((metric) => metric !== cpu);
  if (others.length > 0) annotations[metricsKey] = JSON.stringify(others.map(metricToOld));
  if (isObject(behavior)) annotations[behaviorKey] = JSON.stringify(behaviorToOld(behavior));
  const shown = statusFromStored(isObject(status) ? status : {}, annotations);
  const target = cpu && number(within(cpu), "averageUtilization");
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

const within = (metric: JsonObject): JsonObject => child(child(metric, "resource"), "target");

function isCpuUtilization(metric: JsonObject): boolean {
  return (
    text(metric, "type") === "Resource" &&
    text(child(metric, "resource"), "name") === "cpu" &&
    has(within(metric), "averageUtilization")
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
  const metrics = items(status, "currentMetrics");
  const cpu = metrics.find(isCurrentCpu);
  if (metrics.length > 0) annotations[currentKey] = JSON.stringify(metrics.map(currentToOld));
  if (items(status, "conditions").length > 0) annotations[conditionsKey] = JSON.stringify(status.conditions);
  const measured = cpu && number(child(child(cpu, "resource"), "current"), "averageUtilization");
  return {
    ...(number(status, "currentReplicas") === undefined ? { currentReplicas: 0 } : {}),
    ...rest,
    ...(measured === undefined ? {} : { currentCPUUtilizationPercentage: measured }),
  };
}

function isCurrentCpu(metric: JsonObject): boolean {
  return (
    text(metric, "type") === "Resource" &&
    text(child(metric, "resource"), "name") === "cpu" &&
    has(child(child(metric, "resource"), "current"), "averageUtilization")
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
  const held = child(metric, source);
  const [target, identity] = [child(held, "target"), child(held, "metric")];
  const old = resourceNames.includes(source)
    ? compact({
        name: own(held, "name"),
        targetAverageUtilization: own(target, "averageUtilization"),
        targetAverageValue: own(target, "averageValue"),
        container: own(held, "container"),
      })
    : source === "pods"
      ? compact({
          metricName: own(identity, "name"),
          targetAverageValue: own(target, "averageValue"),
          selector: own(identity, "selector"),
        })
      : source === "object"
        ? compact({
            target: own(held, "describedObject"),
            metricName: own(identity, "name"),
            targetValue: own(target, "value") ?? "0",
            selector: own(identity, "selector"),
            averageValue: own(target, "averageValue"),
          })
        : compact({
            metricName: own(identity, "name"),
            metricSelector: own(identity, "selector"),
            targetValue: own(target, "value"),
            targetAverageValue: own(target, "averageValue"),
          });
  return { type: text(metric, "type"), [source]: old };
}

function metricFromOld(old: JsonObject): JsonObject {
  const source = sourceOf(old);
  if (source === undefined) return old;
  const held = child(old, source);
  const metric = compact({
    name: own(held, "metricName"),
    selector: own(held, source === "external" ? "metricSelector" : "selector"),
  });
  const average = own(held, source === "object" ? "averageValue" : "targetAverageValue");
  const utilization = own(held, "targetAverageUtilization");
  const whole = own(held, "targetValue");
  const target: JsonObject =
    utilization !== undefined
      ? { type: "Utilization", averageUtilization: utilization }
      : average !== undefined
        ? { type: "AverageValue", averageValue: average }
        : { type: "Value", value: whole ?? "0" };
  const made = resourceNames.includes(source)
    ? compact({ name: own(held, "name"), container: own(held, "container"), target })
    : compact({ describedObject: own(held, "target"), metric, target });
  return { type: text(old, "type"), [source]: made };
}

function currentToOld(metric: JsonObject): JsonObject {
  const source = sourceOf(metric);
  if (source === undefined) return metric;
  const held = child(metric, source);
  const [current, identity] = [child(held, "current"), child(held, "metric")];
  const old = resourceNames.includes(source)
    ? compact({
        name: own(held, "name"),
        currentAverageUtilization: own(current, "averageUtilization"),
        currentAverageValue: own(current, "averageValue") ?? "0",
        container: own(held, "container"),
      })
    : compact({
        target: own(held, "describedObject"),
        metricName: own(identity, "name"),
        currentValue: own(current, "value"),
        currentAverageValue: own(current, "averageValue"),
        selector: own(identity, "selector"),
      });
  return { type: text(metric, "type"), [source]: old };
}

function currentFromOld(old: JsonObject): JsonObject {
  const source = sourceOf(old);
  if (source === undefined) return old;
  const held = child(old, source);
  const current = compact({
    value: own(held, "currentValue"),
    averageValue: own(held, "currentAverageValue"),
    averageUtilization: own(held, "currentAverageUtilization"),
  });
  const made = resourceNames.includes(source)
    ? compact({ name: own(held, "name"), container: own(held, "container"), current })
    : compact({
        describedObject: own(held, "target"),
        metric: compact({ name: own(held, "metricName"), selector: own(held, "selector") }),
        current,
      });
  return { type: text(old, "type"), [source]: made };
}

function sourceOf(metric: JsonObject): string | undefined {
  return ["object", "pods", "resource", "containerResource", "external"].find((name) => has(metric, name));
}

function behaviorToOld(behavior: JsonObject): JsonObject {
  return { ScaleUp: rulesToOld(behavior.scaleUp), ScaleDown: rulesToOld(behavior.scaleDown) };
}

function rulesToOld(rules: Json | undefined): Json {
  if (!isObject(rules)) return null;
  return {
    StabilizationWindowSeconds: own(rules, "stabilizationWindowSeconds") ?? null,
    SelectPolicy: own(rules, "selectPolicy") ?? null,
    Policies: items(rules, "policies").map((policy) => ({
      Type: own(policy, "type") ?? "",
      Value: own(policy, "value") ?? 0,
      PeriodSeconds: own(policy, "periodSeconds") ?? 0,
    })),
    Tolerance: own(rules, "tolerance") ?? null,
  };
}

function behaviorFromOld(behavior: JsonObject): JsonObject {
  return compact({ scaleUp: rulesFromOld(behavior.ScaleUp), scaleDown: rulesFromOld(behavior.ScaleDown) });
}

function rulesFromOld(rules: Json | undefined): JsonObject | undefined {
  if (!isObject(rules)) return undefined;
  return compact({
    stabilizationWindowSeconds: own(rules, "StabilizationWindowSeconds"),
    selectPolicy: own(rules, "SelectPolicy"),
    policies: items(rules, "Policies").map((policy) =>
      compact({
        type: own(policy, "Type"),
        value: own(policy, "Value"),
        periodSeconds: own(policy, "PeriodSeconds"),
      }),
    ),
    tolerance: own(rules, "Tolerance"),
  });
}
