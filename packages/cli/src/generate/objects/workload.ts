import type { Rendering } from "../rendering.ts";
import type { Component, Operator } from "../resolve.ts";
import { hasRights } from "./access.ts";
import { labelsOf, selectorOf } from "./labels.ts";

/** What runs a component, and how others reach it: Deployment, PodDisruptionBudget and Services. */
export function workloadObjects(
  operator: Operator,
  component: Component,
  rendering: Rendering,
): readonly object[] {
  return [
    deployment(operator, component, rendering),
    disruptionBudget(operator, component, rendering),
    ...services(operator, component, rendering),
  ];
}

/** What runs in one of a pod's containers: the component, or its twin. */
type Process = Pick<Component, "metricsPort" | "healthPort" | "webhookPort" | "ports" | "env"> & {
  /** What tells the twin's names from the component's. */
  readonly suffix: "" | "-twin";
};

/** The processes of each pod of a component. */
function processesOf(component: Component): readonly Process[] {
  const { twin, env } = component;
  const first = { ...component, suffix: "" } as const;
  if (!twin) return [first];
  return [first, { ...twin, env: { ...env, ...twin.env }, webhookPort: undefined, suffix: "-twin" }];
}

/** The ports of a component's pods by name, as containers have them. */
export function containerPorts(component: Component) {
  return processesOf(component).flatMap(portsOf);
}

function portsOf({ webhookPort, metricsPort, healthPort, ports, suffix }: Process) {
  const own = [
    { name: "webhook", port: webhookPort },
    { name: `metrics${suffix}`, port: metricsPort },
    { name: `health${suffix}`, port: healthPort },
  ].flatMap(({ name, port }) =>
    port === undefined ? [] : [{ name, port, endPort: undefined, protocol: "TCP" }],
  );
  return [...own, ...ports];
}

function deployment(operator: Operator, component: Component, rendering: Rendering) {
  const { name, pod } = component;
  const labels = labelsOf(operator, component);
  const matchLabels = selectorOf(component);
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name, namespace: rendering.namespace, labels },
    spec: {
      replicas: rendering.replicas(component),
      selector: { matchLabels },
      template: {
        metadata: { labels },
        spec: {
          serviceAccountName: name,
          // What has no rights needs no token to ask for them.
          ...(hasRights(operator, component) ? {} : { automountServiceAccountToken: false }),
          // More than the 30 s that a manager takes at most: it serves webhooks for a while, and
          // finishes what is under way.
          terminationGracePeriodSeconds: 40,
          securityContext: { runAsNonRoot: true, seccompProfile: { type: "RuntimeDefault" } },
          topologySpreadConstraints: [
            {
              maxSkew: 1,
              topologyKey: "kubernetes.io/hostname",
              whenUnsatisfiable: "ScheduleAnyway",
              labelSelector: { matchLabels },
            },
          ],
          ...rendering.pod,
          ...pod,
          containers: processesOf(component).map((process) => container(component, process, rendering)),
        },
      },
    },
  };
}

function container(component: Component, process: Process, rendering: Rendering) {
  const { key = "operator", args } = component;
  return {
    name: `${key}${process.suffix}`,
    image: rendering.image,
    ...rendering.container,
    ...(args.length === 0 ? {} : { args }),
    env: environment(component, process, rendering),
    // Containers list single ports: what they have of a range is not known here.
    ports: portsOf(process)
      .filter(({ endPort }) => endPort === undefined)
      .map(({ name, port, protocol }) => ({
        name,
        containerPort: port,
        ...(protocol === "TCP" ? {} : { protocol }),
      })),
    ...(process.healthPort === undefined ? {} : probesAt(`health${process.suffix}`)),
    resources: rendering.resources(component),
    securityContext: {
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ["ALL"] },
    },
    ...component.container,
  };
}

function probesAt(port: string) {
  const probe = (path: string) => ({ httpGet: { path, port } });
  return {
    startupProbe: { ...probe("/healthz"), periodSeconds: 1, failureThreshold: 60 },
    livenessProbe: { ...probe("/healthz"), periodSeconds: 10 },
    readinessProbe: { ...probe("/readyz"), periodSeconds: 5 },
  };
}

function environment(
  { commonSettings, settings }: Component,
  { env, metricsPort, healthPort }: Process,
  rendering: Rendering,
): readonly object[] {
  return [
    ...["name", "namespace"].map((field) => ({
      name: `POD_${field.toUpperCase()}`,
      valueFrom: { fieldRef: { fieldPath: `metadata.${field}` } },
    })),
    { name: "NODE_ENV", value: "production" },
    { name: "LOG_LEVEL", value: rendering.logLevel },
    ...bindAddress("METRICS_BIND_ADDRESS", metricsPort, 8080),
    ...bindAddress("HEALTH_PROBE_BIND_ADDRESS", healthPort, 8081),
    ...[...commonSettings, ...settings].map((setting) => ({
      name: setting.env,
      value: rendering.setting(setting),
    })),
    ...Object.entries(env).map(([name, value]) =>
      typeof value === "string" ? { name, value } : { name, valueFrom: value },
    ),
  ];
}

/** Tells the manager where to listen, where it would listen elsewhere by itself. */
function bindAddress(name: string, port: number | undefined, usual: number): readonly object[] {
  if (port === usual) return [];
  return [{ name, value: port === undefined ? "0" : `:${port}` }];
}

/** Where the processes of a component serve metrics, as its Service has them. */
export function metricsPorts(component: Component) {
  return processesOf(component).flatMap(({ metricsPort, suffix }) => {
    const name = `metrics${suffix}`;
    return metricsPort === undefined ? [] : [{ name, port: metricsPort, targetPort: name }];
  });
}

function disruptionBudget(operator: Operator, component: Component, { namespace }: Rendering) {
  return {
    apiVersion: "policy/v1",
    kind: "PodDisruptionBudget",
    metadata: { name: component.name, namespace, labels: labelsOf(operator, component) },
    // Not minAvailable: with one replica that would keep its node from being drained indefinitely.
    spec: { maxUnavailable: 1, selector: { matchLabels: selectorOf(component) } },
  };
}

function services(operator: Operator, component: Component, { namespace }: Rendering): readonly object[] {
  const { name, serviceType, metricsPort } = component;
  const labels = labelsOf(operator, component);
  const selector = selectorOf(component);
  const service = (suffix: string, spec: object) => ({
    apiVersion: "v1",
    kind: "Service",
    metadata: {
      name: `${name}${suffix}`,
      namespace,
      labels: suffix === "" ? labels : { ...labels, "app.kubernetes.io/component": suffix.slice(1) },
    },
    spec,
  });
  const exposed = component.ports.flatMap(({ name: port, service: number, protocol }) =>
    number === undefined
      ? []
      : [{ name: port, port: number, targetPort: port, ...(protocol === "TCP" ? {} : { protocol }) }],
  );
  return [
    ...(metricsPort === undefined
      ? []
      : [
          service("-metrics", {
            selector,
            ports: metricsPorts(component),
          }),
        ]),
    ...(exposed.length === 0
      ? []
      : [
          service("", {
            ...(serviceType === "ClusterIP" ? {} : { type: serviceType }),
            selector,
            ports: exposed,
          }),
        ]),
  ];
}
