import type { LabelSelector } from "@windlass/kinds/builtin";
import { type JsonObject, textOf } from "../../json.ts";
import { valueAt } from "../../json-fields.ts";
import { goString } from "../../table/go-string.ts";

/** The real controller's message for an unavailable metric. */
export interface MetricFault {
  readonly reason: string;
  readonly message: string;
  /** What could not be had, as it is put before the message. */
  readonly value: string;
}

/** The metric of an autoscaler that names none. */
export const usualMetric: JsonObject = {
  type: "Resource",
  resource: { name: "cpu", target: { type: "Utilization" } },
};

const noCustom =
  "unable to fetch metrics from custom metrics API: no custom metrics API (custom.metrics.k8s.io) registered";

/** The fault of a metric in a cluster without a metrics server. */
export function metricFault(metric: JsonObject, namespace: string): MetricFault {
  const type = textOf(metric.type);
  const reason = `FailedGet${type}Metric`;
  const part = (...path: string[]) => textOf(valueAt(metric, ...path));
  switch (type) {
    case "Pods":
      return {
        reason,
        value: "failed to get pods metric value",
        message: `unable to get metric ${part("pods", "metric", "name")}: ${noCustom}`,
      };
    case "Object": {
      const described = `${part("object", "describedObject", "kind")} on ${namespace} ${part("object", "describedObject", "name")}`;
      return {
        reason,
        value: "failed to get object metric value",
        message: `unable to get metric ${part("object", "metric", "name")}: ${described}/${noCustom}`,
      };
    }
    case "External": {
      const name = part("external", "metric", "name");
      const selector = valueAt(metric, "external", "metric", "selector");
      const text = selector === undefined ? "nil" : goString(selector as LabelSelector);
      return {
        reason,
        value: `failed to get ${name} external metric value: failed to get external metric ${name}`,
        message: `unable to get external metric ${namespace}/${name}/${text}: unable to fetch metrics from external metrics API: the server could not find the requested resource (get ${name}.external.metrics.k8s.io)`,
      };
    }
    case "ContainerResource":
      return {
        reason,
        value: `failed to get ${part("containerResource", "container")} container metric value`,
        message: resourceMessage(valueAt(metric, "containerResource")),
      };
    default:
      return {
        reason,
        value: `failed to get ${part("resource", "name")} resource metric value`,
        message: resourceMessage(valueAt(metric, "resource")),
      };
  }
}

function resourceMessage(resource: JsonObject[string] | undefined): string {
  const name = textOf(valueAt(resource, "name"));
  const figure = valueAt(resource, "target", "type") === "Utilization" ? "utilization" : "usage";
  return `failed to get ${name} ${figure}: unable to get metrics for resource ${name}: unable to fetch metrics from resource metrics API: the server could not find the requested resource (get pods.metrics.k8s.io)`;
}
