import type { AlertDeclaration } from "../operator.ts";
import type { Rendering } from "../rendering.ts";
import type { Component, Operator } from "../resolve.ts";
import { commonAlerts } from "./alerts.ts";
import { labelsOf, selectorOf } from "./labels.ts";
import { metricsPorts } from "./workload.ts";

/** Has Prometheus' operator scrape every component that serves metrics. */
export function serviceMonitors(operator: Operator, { namespace }: Rendering): readonly object[] {
  return [operator.manager, ...operator.components].filter(servesMetrics).map((component) => ({
    apiVersion: "monitoring.coreos.com/v1",
    kind: "ServiceMonitor",
    metadata: { name: component.name, namespace, labels: labelsOf(operator, component) },
    spec: {
      selector: { matchLabels: { ...selectorOf(component), "app.kubernetes.io/component": "metrics" } },
      endpoints: metricsPorts(component).map(({ name: port }) => ({ port })),
    },
  }));
}

/** Has Prometheus' operator scrape the pods that the operator makes. */
export function podMonitors(operator: Operator, { namespace }: Rendering): readonly object[] {
  return Object.entries(operator.podMonitors).map(([key, { labels, port = "metrics" }]) => ({
    apiVersion: "monitoring.coreos.com/v1",
    kind: "PodMonitor",
    metadata: { name: `${operator.name}-${key}`, namespace, labels: labelsOf(operator, operator.manager) },
    spec: {
      namespaceSelector: { any: true },
      selector: { matchLabels: labels },
      podMetricsEndpoints: [{ port }],
    },
  }));
}

/** Alerts for Prometheus' operator. */
export function prometheusRule(operator: Operator, { namespace }: Rendering): object {
  const { name, manager, alerts } = operator;
  return {
    apiVersion: "monitoring.coreos.com/v1",
    kind: "PrometheusRule",
    metadata: { name, namespace, labels: labelsOf(operator, manager) },
    spec: {
      groups: [
        { name, rules: commonAlerts(operator).map((alert) => ruleOf(alert, seriesOf([manager], namespace))) },
        ...(alerts.length === 0
          ? []
          : [
              {
                name: `${name}-own`,
                rules: alerts.map((alert) =>
                  ruleOf(alert, seriesOf([manager, ...operator.components], namespace)),
                ),
              },
            ]),
      ],
    },
  };
}

/** The labels that Prometheus gives the series of components: it names the job by the Service. */
export function seriesOf(components: readonly Component[], namespace: string): string {
  const jobs = components.filter(servesMetrics).map(({ name }) => `${name}-metrics`);
  const job = jobs.length === 1 ? `job="${jobs[0]}"` : `job=~"${jobs.join("|")}"`;
  return `namespace="${namespace}",${job}`;
}

/** Whether a component serves metrics. */
export function servesMetrics({ metricsPort }: Component): boolean {
  return metricsPort !== undefined;
}

function ruleOf(
  { name, expr, for: time = "10m", severity = "warning", ...words }: AlertDeclaration,
  labels: string,
) {
  const { summary, description } = words;
  return {
    alert: name,
    expr: expr(labels),
    for: time,
    labels: { severity },
    annotations: { summary, description },
  };
}
