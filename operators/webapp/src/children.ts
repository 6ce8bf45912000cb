import { child } from "@windlass/runtime";
import { Deployment, HorizontalPodAutoscaler, Ingress, Service } from "@windlass/runtime/kinds";
import type { App } from "./webapp.ts";

/** The label with the name of the app. */
export const nameLabel = "app.kubernetes.io/name";
/** Selects the objects that the operator makes. */
export const managedBy = "app.kubernetes.io/managed-by=webapp-operator";

/** @param replicas undefined leaves them to an autoscaler */
export function deploymentFor(app: App, replicas: number | undefined) {
  const metadata = metadataFor(app);
  const { image, port, env = [], resources = {} } = app.spec;
  const ports = [{ name: "http", containerPort: port, protocol: "TCP" }] as const;
  const template = {
    metadata: { labels: metadata.labels },
    spec: { containers: [{ name: "app", image, ports, env, resources }] },
  };
  const spec = { replicas, selector: { matchLabels: metadata.labels }, template };
  return child(Deployment, { metadata, spec }, { handOver: { spec: { replicas: true } } });
}

/** The children besides the Deployment: always a Service, and others if the spec asks for them. */
export const childrenFor = (app: App) => [serviceFor(app), ingressFor(app), autoscalerFor(app)];

function serviceFor(app: App) {
  const metadata = metadataFor(app);
  const ports = [{ name: "http", port: 80, targetPort: "http", protocol: "TCP" }] as const;
  return child(Service, { metadata, spec: { selector: metadata.labels, ports } });
}

function ingressFor(app: App) {
  const { host } = app.spec;
  if (host === undefined) return undefined;
  const backend = { service: { name: app.metadata.name, port: { name: "http" } } };
  const paths = [{ path: "/", pathType: "Prefix", backend }] as const;
  return child(Ingress, { metadata: metadataFor(app), spec: { rules: [{ host, http: { paths } }] } });
}

function autoscalerFor(app: App) {
  if (app.spec.autoscaling === undefined) return undefined;
  const { min, max, targetCPUUtilizationPercentage: averageUtilization } = app.spec.autoscaling;
  const scaleTargetRef = { apiVersion: "apps/v1", kind: "Deployment", name: app.metadata.name };
  const target = { type: "Utilization", averageUtilization };
  const metrics = [{ type: "Resource", resource: { name: "cpu", target } }];
  return child(HorizontalPodAutoscaler, {
    metadata: metadataFor(app),
    spec: { scaleTargetRef, minReplicas: min, maxReplicas: max, metrics },
  });
}

/** Its labels select the pods too, and so can never change: a Deployment's selector cannot. */
function metadataFor({ metadata: { name } }: App) {
  return { name, labels: { [nameLabel]: name, "app.kubernetes.io/managed-by": "webapp-operator" } };
}
