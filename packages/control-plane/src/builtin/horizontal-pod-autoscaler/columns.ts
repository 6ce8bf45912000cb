import type { Json, JsonObject } from "../../json.ts";
import { since } from "../../table/duration.ts";
import { at, list, number, quantity, shown, text } from "../../table/fields.ts";

/** A HorizontalPodAutoscaler's row, of either served version. */
export function horizontalPodAutoscalerCells(of: JsonObject, now: number): Json[] {
  return [
    text(of, "metadata", "name"),
    `${text(of, "spec", "scaleTargetRef", "kind")}/${text(of, "spec", "scaleTargetRef", "name")}`,
    targets(...metricsOf(of)),
    shown("<unset>", of, "spec", "minReplicas"),
    number(of, "spec", "maxReplicas"),
    number(of, "status", "currentReplicas"),
    since(text(of, "metadata", "creationTimestamp"), now),
  ];
}

/**
 * Version 1 has room for a target of processor use only; it shows as version 2 would show the same.
 */
function metricsOf(of: JsonObject): [specs: Json[], statuses: Json[]] {
  const target = at(of, "spec", "targetCPUUtilizationPercentage");
  if (target === undefined) return [list(of, "spec", "metrics"), list(of, "status", "currentMetrics")];
  const current = at(of, "status", "currentCPUUtilizationPercentage");
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
  const type = text(spec, "type");
  const source = sources[type];
  if (source === undefined) return "<unknown type>";
  const wanted = at(spec, source, "target");
  const current = at(status, source, "current");
  if (type === "Resource" || type === "ContainerResource") {
    const resource = text(spec, source, "name");
    if (at(wanted, "averageValue") !== undefined) {
      const used = current === undefined ? "<unknown>" : amount(current, "averageValue");
      return `${resource}: ${used}/${amount(wanted, "averageValue")}`;
    }
    return `${resource}: ${percent("<unknown>", current)}/${percent("<auto>", wanted)}`;
  }
  if (type === "Pods") {
    const used = current === undefined ? "<unknown>" : amount(current, "averageValue");
    return `${used}/${amount(wanted, "averageValue")}`;
  }
  if (at(wanted, "averageValue") !== undefined) {
    const known = at(current, "averageValue") !== undefined;
    return `${known ? amount(current, "averageValue") : "<unknown>"}/${amount(wanted, "averageValue")} (avg)`;
  }
  return `${current === undefined ? "<unknown>" : amount(current, "value")}/${amount(wanted, "value")}`;
}

function amount(value: Json | undefined, field: string): string {
  return quantity("<nil>", value, field);
}

function percent(otherwise: string, value: Json | undefined): string {
  const held = at(value, "averageUtilization");
  return typeof held === "number" ? `${held}%` : otherwise;
}
