import type { InputOf, ObjectOf } from "@windlass/runtime";
import type { Deployment, Service } from "@windlass/runtime/kinds";
import type { WebApp } from "./webapp.ts";

type App = ObjectOf<typeof WebApp>;

/** The labels by which an app's pods are found. They never change: a Deployment's selector cannot. */
export function selectorOf(app: App): Record<string, string> {
  return { "app.kubernetes.io/name": app.metadata.name, "app.kubernetes.io/managed-by": "webapp-operator" };
}

export function deploymentFor(app: App): InputOf<typeof Deployment> {
  const labels = selectorOf(app);
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: app.metadata.name, labels },
    spec: {
      replicas: app.spec.replicas,
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: {
          containers: [
            {
              name: "app",
              image: app.spec.image,
              ports: [{ name: "http", containerPort: app.spec.port, protocol: "TCP" }],
            },
          ],
        },
      },
    },
  };
}

export function serviceFor(app: App): InputOf<typeof Service> {
  const labels = selectorOf(app);
  return {
    apiVersion: "v1",
    kind: "Service",
    metadata: { name: app.metadata.name, labels },
    spec: { selector: labels, ports: [{ name: "http", port: 80, targetPort: "http", protocol: "TCP" }] },
  };
}
