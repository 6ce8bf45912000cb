import { objectsFor } from "./objects.ts";
import { yaml } from "./yaml.ts";

const namespace = "webapp-system";

/** The files of the kustomization: a folder for each part, and `default` with what belongs into every cluster. */
export function kustomizeFiles(): readonly (readonly [path: string, text: string])[] {
  const parts = objectsFor({
    namespace,
    image: "windlass/webapp:dev",
    replicas: 3,
    floatingImages: "warn",
    maxReplicas: "100",
    logLevel: "info",
    resources: { requests: { cpu: "50m", memory: "128Mi" }, limits: { memory: "256Mi" } },
  });
  const space = {
    apiVersion: "v1",
    kind: "Namespace",
    metadata: { name: namespace, labels: { "pod-security.kubernetes.io/enforce": "restricted" } },
  };
  const folders: readonly (readonly [string, readonly object[]])[] = [
    ["namespace", [space]],
    ...Object.entries(parts),
  ];
  const always = folders.map(([folder]) => folder).filter((folder) => folder !== "monitoring");
  return [
    ...folders.flatMap(
      ([folder, objects]) =>
        [
          [`config/${folder}/${folder}.yaml`, yaml(objects)],
          [`config/${folder}/kustomization.yaml`, kustomization([`${folder}.yaml`])],
        ] as const,
    ),
    ["config/default/kustomization.yaml", kustomization(always.map((folder) => `../${folder}`))],
  ];
}

function kustomization(resources: readonly string[]): string {
  return yaml([{ apiVersion: "kustomize.config.k8s.io/v1beta1", kind: "Kustomization", resources }]);
}
