import type { Child, InputOf } from "@windlass/runtime";
import type { Container, Deployment } from "@windlass/runtime/kinds";
import { HorizontalPodAutoscaler, Ingress, Service } from "@windlass/runtime/kinds";
import type { App } from "./webapp.ts";

export const nameLabel = "app.kubernetes.io/name";
export const managedBy = "app.kubernetes.io/managed-by=webapp-operator";
/** Says on a Deployment who decides its replicas: `spec` or `autoscaler`. */
export const scaledBy = "example.com/scaled-by";

/** @param replicas undefined leaves them to an autoscaler */
export function deploymentFor(app: App, replicas: number | undefined): InputOf<typeof Deployment> {
  const { name, labels } = metadataFor(app);
  const { image, port, env = [], resources = {} } = app.spec;
  const ports = [{ name: "http", containerPort: port, protocol: "TCP" }];
  const container = { name: "app", image, ports, env, resources } as Container;
  return {
    metadata: { name, labels, annotations: { [scaledBy]: replicas === undefined ? "autoscaler" : "spec" } },
    spec: {
      ...(replicas !== undefined && { replicas }),
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [container] } },
    },
  };
}

/** The children besides the Deployment: always a Service, and others if the spec asks for them. */
export function childrenFor(app: App): readonly Child[] {
  const { host, autoscaling } = app.spec;
  const children: Child[] = [[Service, serviceFor(app)]];
  if (host) children.push([Ingress, ingressFor(app, host)]);
  if (autoscaling) children.push([HorizontalPodAutoscaler, autoscalerFor(app, autoscaling)]);
  return children;
}

function serviceFor(app: App): InputOf<typeof Service> {
  const metadata = metadataFor(app);
  const ports = [{ name: "http", port: 80, targetPort: "http", protocol: "TCP" }] as const;
  return { metadata, spec: { selector: metadata.labels, ports } };
}

function ingressFor(app: App, host: string): InputOf<typeof Ingress> {
  const backend = { service: { name: app.metadata.name, port: { name: "http" } } };
  const paths = [{ path: "/", pathType: "Prefix", backend }] as const;
  return { metadata: metadataFor(app), spec: { rules: [{ host, http: { paths } }] } };
}

type Bounds = NonNullable<App["spec"]["autoscaling"]>;

function autoscalerFor(app: App, { min, max, ...bounds }: Bounds): InputOf<typeof HorizontalPodAutoscaler> {
  const scaleTargetRef = { apiVersion: "apps/v1", kind: "Deployment", name: app.metadata.name };
  const target = { type: "Utilization", averageUtilization: bounds.targetCPUUtilizationPercentage };
  const metrics = [{ type: "Resource", resource: { name: "cpu", target } }];
  return {
    metadata: metadataFor(app),
    spec: { scaleTargetRef, minReplicas: min, maxReplicas: max, metrics },
  };
}

/** Its labels select the pods too, and so can never change: a Deployment's selector cannot. */
function metadataFor({ metadata: { name } }: App) {
  return { name, labels: { [nameLabel]: name, "app.kubernetes.io/managed-by": "webapp-operator" } };
}
