import { asValue, inText, templateFile, templateFileIf } from "./helm-template.ts";
import type { GeneratedFiles } from "./kustomize.ts";
import { installationOf, type OptionalPart } from "./objects/installation.ts";
import type { Rendering } from "./rendering.ts";
import type { Component, Operator } from "./resolve.ts";
import { chartValues, valuesSchema, valuesYaml } from "./values.ts";
import { yamlFile } from "./yaml.ts";

const templates = "chart/templates/generated";

/** The value that says whether a part is wanted. */
const switches: Readonly<Record<OptionalPart, string>> = {
  network: "networkPolicy.enabled",
  "service-monitor": "serviceMonitor.enabled",
  "prometheus-rule": "prometheusRule.enabled",
  dashboard: "dashboard.enabled",
};

/** A chart of Helm. Own templates may be kept beside the folder of the generated ones. */
export function chartFiles(operator: Operator): GeneratedFiles {
  const { name, description, version } = operator;
  const { always, optional } = installationOf(operator, chartRendering);
  const chart = {
    apiVersion: "v2",
    name,
    description,
    type: "application",
    version,
    appVersion: version,
    kubeVersion: ">=1.30.0-0",
  };
  const values = chartValues(operator);
  const wanted = Object.entries(optional) as [OptionalPart, readonly object[]][];
  return new Map([
    ["chart/Chart.yaml", yamlFile([chart])],
    ["chart/values.yaml", valuesYaml(values)],
    ["chart/values.schema.json", valuesSchema(values)],
    ...always.map((part): [string, string] => [
      `${templates}/${part.name}.yaml`,
      templateFile(part.name === "crd" ? part.objects.map(kept) : part.objects),
    ]),
    ...wanted.flatMap(([part, objects]): [string, string][] =>
      objects.length === 0 ? [] : [[`${templates}/${part}.yaml`, templateFileIf(switches[part], objects)]],
    ),
  ]);
}

const chartRendering: Rendering = {
  namespace: inText(".Release.Namespace"),
  image: `${inText(".Values.image.repository")}:${inText(".Values.image.tag")}`,
  logLevel: asValue(".Values.logLevel | quote"),
  // Numbers are floating-point to Helm, and large ones would be printed with an exponent.
  replicas: (component) => asValue(`int ${valueFor(component, "replicas")}`),
  resources: (component) => asValue(`${valueFor(component, "resources")} | toJson`),
  setting: ({ path, value }) => {
    const expression = `.Values.${path.join(".")}`;
    return asValue(typeof value === "number" ? `${expression} | toJson | quote` : `${expression} | quote`);
  },
  pod: Object.fromEntries(
    ["imagePullSecrets", "nodeSelector", "tolerations", "affinity", "priorityClassName"].map((field) => [
      field,
      asValue(`.Values.${field} | toJson`),
    ]),
  ),
  container: { imagePullPolicy: asValue(".Values.image.pullPolicy") },
};

function valueFor({ values }: Component, name: string): string {
  return [".Values", ...values, name].join(".");
}

/** Helm leaves it when the chart is uninstalled: the objects of the kind are the users'. */
function kept(crd: object): object {
  const { metadata } = crd as { readonly metadata: object };
  return { ...crd, metadata: { ...metadata, annotations: { "helm.sh/resource-policy": "keep" } } };
}
