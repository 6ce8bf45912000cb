import { installationOf } from "./objects/installation.ts";
import { plainRendering } from "./rendering.ts";
import type { Operator } from "./resolve.ts";
import { yamlFile } from "./yaml.ts";

/** Generated files by their path in the operator's folder. */
export type GeneratedFiles = ReadonlyMap<string, string>;

/**
 * The kustomization: `base` is the operator, `default` has its namespace as well, `monitoring` is
 * for clusters with Prometheus' operator and Grafana.
 */
export function kustomizeFiles(operator: Operator): GeneratedFiles {
  const { always, optional } = installationOf(operator, plainRendering(operator));
  const { network, ...monitoring } = optional;
  const space = {
    apiVersion: "v1",
    kind: "Namespace",
    metadata: {
      name: operator.namespace,
      labels: { "pod-security.kubernetes.io/enforce": "restricted" },
    },
  };
  const base = [...always, { name: "network", objects: network }];
  const measured = Object.entries(monitoring).map(([name, objects]) => ({ name, objects }));
  return new Map([
    ...folder("base", base),
    ...folder("default", [{ name: "namespace", objects: [space] }], ["../base"]),
    ...folder("monitoring", measured),
  ]);
}

/** The files of a folder, and the kustomization that lists them. */
function folder(
  name: string,
  parts: readonly { readonly name: string; readonly objects: readonly object[] }[],
  others: readonly string[] = [],
): readonly (readonly [string, string])[] {
  const present = parts.filter(({ objects }) => objects.length > 0);
  if (present.length + others.length === 0) return [];
  const kustomization = {
    apiVersion: "kustomize.config.k8s.io/v1beta1",
    kind: "Kustomization",
    resources: [...present.map((part) => `${part.name}.yaml`), ...others],
  };
  return [
    [`config/${name}/kustomization.yaml`, yamlFile([kustomization])],
    ...present.map((part) => [`config/${name}/${part.name}.yaml`, yamlFile(part.objects)] as const),
  ];
}
