import type { CrdManifest } from "@windlass/runtime";
import type { Rendering } from "../rendering.ts";
import type { Operator } from "../resolve.ts";
import { accessObjects } from "./access.ts";
import { dashboardConfigMap } from "./dashboard.ts";
import { labelsOf, selectorOf } from "./labels.ts";
import { podMonitors, prometheusRule, servesMetrics, serviceMonitors } from "./monitoring.ts";
import { networkPolicy } from "./network-policy.ts";
import { workloadObjects } from "./workload.ts";

/** The parts of an installation that may be wanted or not. */
export type OptionalPart = "network" | "service-monitor" | "prometheus-rule" | "dashboard";

/** A file of an installation. */
export interface Part {
  /** The name of the file, without an ending. */
  readonly name: string;
  readonly objects: readonly object[];
}

/** Everything that an installation consists of, in the order in which it is applied. */
export interface Installation {
  readonly always: readonly Part[];
  readonly optional: Readonly<Record<OptionalPart, readonly object[]>>;
}

/** All objects that install an operator. */
export function installationOf(operator: Operator, rendering: Rendering): Installation {
  const { manager, components, webhooks } = operator;
  const all = [manager, ...components];
  const isMeasured = all.some(servesMetrics);
  return {
    always: [
      { name: "crd", objects: definitionsOf(operator, rendering) },
      { name: "rbac", objects: accessObjects(operator, rendering) },
      { name: "manager", objects: workloadObjects(operator, manager, rendering) },
      ...components.map((component) => ({
        name: component.key ?? component.name,
        objects: workloadObjects(operator, component, rendering),
      })),
      ...(webhooks === undefined ? [] : [{ name: "webhook", objects: webhookObjects(operator, rendering) }]),
    ].filter(({ objects }) => objects.length > 0),
    optional: {
      network: all.map((component) => networkPolicy(operator, component, rendering)),
      "service-monitor": [...serviceMonitors(operator, rendering), ...podMonitors(operator, rendering)],
      "prometheus-rule": isMeasured ? [prometheusRule(operator, rendering)] : [],
      dashboard: isMeasured ? [dashboardConfigMap(operator, rendering)] : [],
    },
  };
}

/** The CRDs of its kinds. */
export function definitionsOf(operator: Operator, { namespace }: Rendering): readonly CrdManifest[] {
  const { kinds, webhooks, manager } = operator;
  const labels = labelsOf(operator, manager);
  return kinds.map((kind) => {
    const conversion =
      kind.versions.length > 1 && webhooks !== undefined ? webhooks.conversion({ namespace }) : undefined;
    return kind.crd({ labels, ...(conversion === undefined ? {} : { conversion }) });
  });
}

function webhookObjects(operator: Operator, { namespace }: Rendering): readonly object[] {
  const { manager, webhooks } = operator;
  const labels = labelsOf(operator, manager);
  const service = {
    apiVersion: "v1",
    kind: "Service",
    metadata: {
      name: `${operator.name}-webhook`,
      namespace,
      labels: { ...labels, "app.kubernetes.io/component": "webhook" },
    },
    spec: { selector: selectorOf(manager), ports: [{ name: "webhook", port: 443, targetPort: "webhook" }] },
  };
  const configurations = webhooks?.configurations({ namespace }) ?? [];
  return [service, ...configurations.map((one) => ({ ...one, metadata: { ...one.metadata, labels } }))];
}
