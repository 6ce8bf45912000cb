import type { Json, JsonObject } from "../../json.ts";
import { countAt, listAt, textAt, valueAt } from "../../json-fields.ts";
import { since } from "../../table/duration.ts";
import { quantity, shown } from "../../table/text.ts";

/** A HorizontalPodAutoscaler's row, of either served version. */
export function horizontalPodAutoscalerCells(of: JsonObject, now: number): Json[] {
  return [
    textAt(of, "metadata", "name"),
    `${textAt(of, "spec", "scaleTargetRef", "kind")}/${textAt(of, "spec", "scaleTargetRef", "name")}`,
    targets(...metricsOf(of)),
    shown("<unset>", of, "spec", "minReplicas"),
    countAt(of, "spec", "maxReplicas"),
    countAt(of, "status", "currentReplicas"),
    since(textAt(of, "metadata", "creationTimestamp"), now),
  ];
}

/**
 * Version 1 has room for a target of processor use only; it shows as version 2 would show the same.
 */
function metricsOf(of: JsonObject): [specs: Json[], statuses: Json[]] {
  const target = valueAt(of, "spec", "targetCPUUtilizationPercentage");
  if (target === undefined) return [listAt(of, "spec", "metrics"), listAt(of, "status", "currentMetrics")];
  const current = valueAt(of, "status", "currentCPUUtilizationPercentage");
  return [
    [{ type: "Resource", resource: { name: "cpu", target: { averageUtilization: target } } }],
    current === undefined
      ? []
      : [{ type: "Resource", resource: { name: "cpu", current: { averageUtilization: current } } }],
  ];
}

const most = 2;

function targets(specs: readonly Json[], statuses: readonly Json[]): string {
  if (specs.length === 0) return "<none>";
  const shownTargets = specs.slice(0, most).map((spec, index) => target(spec, statuses[index]));
  const more = specs.length > most ? ` + ${specs.length - most} more...` : "";
  return shownTargets.join(", ") + more;
}

const sources: { readonly [type: string]: string } = {
  External: "external",
  Pods: "pods",
  Object: "object",
  Resource: "resource",
  ContainerResource: "containerResource",
};

function target(spec: Json, status: Json | undefined): string {
  const type = textAt(spec, "type");
  const source = sources[type];
  if (source === undefined) return "<unknown type>";
  const wanted = valueAt(spec, source, "target");
  const current = valueAt(status, source, "current");
  if (type === "Resource" || type === "ContainerResource") {
    const resource = textAt(spec, source, "name");
    if (valueAt(wanted, "averageValue") !== undefined) {
      const used = current === undefined ? "<unknown>" : amount(current, "averageValue");
      return `${resource}: ${used}/${amount(wanted, "averageValue")}`;
    }
    return `${resource}: ${percent("<unknown>", current)}/${percent("<auto>", wanted)}`;
  }
  if (type === "Pods") {
    const used = current === undefined ? "<unknown>" : amount(current, "averageValue");
    return `${used}/${amount(wanted, "averageValue")}`;
  }
  if (valueAt(wanted, "averageValue") !== undefined) {
    const known = valueAt(current, "averageValue") !== undefined;
    return `${known ? amount(current, "averageValue") : "<unknown>"}/${amount(wanted, "averageValue")} (avg)`;
  }
  return `${current === undefined ? "<unknown>" : amount(current, "value")}/${amount(wanted, "value")}`;
}

function amount(value: Json | undefined, field: string): string {
  return quantity("<nil>", value, field);
}

function percent(otherwise: string, value: Json | undefined): string {
  const held = valueAt(value, "averageUtilization");
  return typeof held === "number" ? `${held}%` : otherwise;
}
