import type { ObjectOf } from "@windlass/runtime";
import type { Pod } from "@windlass/runtime/kinds";

/**
 * Which pod has a node, and nothing that it could run in yet. A volume that does not exist keeps it
 * so for ever, and only events report it.
 */
export function unstartedPod(pods: readonly ObjectOf<typeof Pod>[]): string | undefined {
  const [waiting] = pods
    .filter(({ metadata, status }) => {
      const has = (type: string, status_: string) =>
        status?.conditions?.some((one) => one.type === type && one.status === status_) ?? false;
      const isStaying = metadata.deletionTimestamp === undefined;
      return isStaying && has("PodScheduled", "True") && has("PodReadyToStartContainers", "False");
    })
    .toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
  if (!waiting) return undefined;
  const secrets = (waiting.spec?.volumes ?? []).flatMap(({ secret }) => secret?.secretName ?? []);
  const needs = secrets.length === 0 ? "" : `, such as Secret ${secrets.join(" and Secret ")}`;
  return `pod ${waiting.metadata.name} waits for its volumes${needs}, or its network`;
}
