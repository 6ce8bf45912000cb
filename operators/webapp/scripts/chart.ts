import { objectsFor } from "./objects.ts";
import { notice, yaml } from "./yaml.ts";

const version = "0.1.0";

/** What whoever installs the chart may set. */
const values = {
  image: { repository: "windlass/webapp", tag: "dev" },
  replicas: 3,
  logLevel: "info",
  policy: { floatingImages: "warn", maxReplicas: 100 },
  resources: { requests: { cpu: "50m", memory: "128Mi" }, limits: { memory: "256Mi" } },
  networkPolicy: { enabled: true },
  serviceMonitor: { enabled: false },
};

/** The files of the chart. CRDs are templates, and stay when the chart is uninstalled: their objects are the users'. */
export function chartFiles(): readonly (readonly [path: string, text: string])[] {
  const { crd, network, monitoring, ...parts } = objectsFor({
    namespace: "{{ .Release.Namespace }}",
    image: "{{ .Values.image.repository }}:{{ .Values.image.tag }}",
    replicas: "{{ .Values.replicas }}",
    floatingImages: "{{ .Values.policy.floatingImages }}",
    maxReplicas: "{{ .Values.policy.maxReplicas }}",
    logLevel: "{{ .Values.logLevel }}",
    resources: "{{ .Values.resources | toJson }}",
  });
  const kept = crd.map((one) => ({
    ...one,
    metadata: { ...one.metadata, annotations: { "helm.sh/resource-policy": "keep" } },
  }));
  const chart = {
    apiVersion: "v2",
    name: "webapp-operator",
    description:
      "Runs web applications: an image becomes a Deployment, a Service, an Ingress and an autoscaler",
    type: "application",
    version,
    appVersion: version,
    kubeVersion: ">=1.30.0-0",
  };
  return [
    ["chart/Chart.yaml", yaml([chart])],
    ["chart/values.yaml", yaml([values])],
    ["chart/templates/generated/crd.yaml", template(kept)],
    ...Object.entries(parts).map(
      ([part, objects]) => [`chart/templates/generated/${part}.yaml`, template(objects)] as const,
    ),
    ["chart/templates/generated/network.yaml", onlyIf("networkPolicy.enabled", template(network))],
    ["chart/templates/generated/monitoring.yaml", onlyIf("serviceMonitor.enabled", template(monitoring))],
  ];
}

/** YAML with template expressions. Where one stands for a number or an object, it must not be quoted. */
function template(objects: readonly object[]): string {
  return yaml(objects).replaceAll(/"(\{\{ \.Values\.(?:replicas|resources \| toJson) \}\})"/g, "$1");
}

function onlyIf(value: string, text: string): string {
  return `${notice}{{- if .Values.${value} }}\n${text.slice(notice.length)}{{- end }}\n`;
}
