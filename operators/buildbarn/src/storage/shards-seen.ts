import type { ObjectOf } from "@windlass/runtime";
import type { Deployment, Pod, StatefulSet } from "@windlass/runtime/kinds";
import { setLabel, shardClientLabel, shardMapAnnotation } from "../names.ts";
import type { Client, Resharding, ResultUse } from "../resharding/index.ts";

type PodObject = ObjectOf<typeof Pod>;
type DeploymentObject = ObjectOf<typeof Deployment>;

/** Pods that have ended ask nobody any more. */
function isRunning({ status }: PodObject): boolean {
  return status?.phase !== "Succeeded" && status?.phase !== "Failed";
}

/** Everything that places blobs on the shards of a set: pods, those that are stopping included, and the templates of more. */
export function clientsOf(
  set: string,
  deployments: readonly DeploymentObject[],
  pods: readonly PodObject[],
): readonly Client[] {
  const isClient = (labels: Labels = {}) => labels[setLabel] === set && labels[shardClientLabel] === "true";
  return [
    ...deployments
      .filter(({ spec }) => isClient(spec?.template.metadata?.labels))
      .map(({ metadata, spec, status }) => ({
        name: `Deployment ${metadata.name}`,
        map: isRolledOut(metadata, status)
          ? spec?.template.metadata?.annotations?.[shardMapAnnotation]
          : undefined,
        results: useOf(spec?.template.metadata?.labels),
      })),
    ...pods
      .filter((pod) => isClient(pod.metadata.labels) && isRunning(pod))
      .map(({ metadata }) => ({
        name: `Pod ${metadata.name}`,
        map: metadata.annotations?.[shardMapAnnotation],
        results: useOf(metadata.labels),
      })),
  ];
}

/** Until then, an earlier ReplicaSet may still make pods of an earlier template: in place of one that died, or if it is scaled. */
function isRolledOut(
  { generation = 0 }: DeploymentObject["metadata"],
  status: DeploymentObject["status"],
): boolean {
  const { observedGeneration = 0, replicas = 0, updatedReplicas = 0 } = status ?? {};
  return observedGeneration >= generation && updatedReplicas >= replicas;
}

type Labels = Readonly<Record<string, string>>;

/** Workers store results. Whether an action has one was looked up before it came to them. */
function useOf(labels: Labels = {}): ResultUse {
  return labels.app === "worker" ? "writes" : "reads";
}

/** How many shards are ready, from the first on, all of the present template. */
export function readyShards(
  live: ObjectOf<typeof StatefulSet> | undefined,
  pods: readonly PodObject[],
): number {
  const { status, metadata } = live ?? {};
  if (!metadata || (status?.observedGeneration ?? 0) < (metadata.generation ?? 0)) return 0;
  const byName = new Map(pods.map((pod) => [pod.metadata.name, pod]));
  let count = 0;
  for (;;) {
    const pod = byName.get(`${metadata.name}-${count}`);
    const isCurrent = pod?.metadata.labels?.["controller-revision-hash"] === status?.updateRevision;
    const isReady = pod?.status?.conditions?.some(
      ({ type, status: is }) => type === "Ready" && is === "True",
    );
    if (!pod || pod.metadata.deletionTimestamp !== undefined || !isCurrent || !isReady) return count;
    count++;
  }
}

/** How many shards run, those that are stopping included. */
export function runningShards(pods: readonly PodObject[]): number {
  return pods.filter(isRunning).length;
}

/**
 * The state of a set whose state was lost, as after a restore of resources without their status: what its clients were started with
 * says how far a change has come.
 */
export function recovered(clients: readonly Client[], shards: number): Resharding {
  const maps = new Set(clients.flatMap(({ map }) => map ?? []));
  // Results in the new map are good beside all but those who know the old map alone, and none is left that reads them.
  for (const [separator, phase] of [
    ["-", "Redirecting"],
    ["+", "Bridging"],
  ] as const)
    for (const map of maps) {
      const [from, to, ...more] = map.split(separator).map(Number);
      if (from && to && more.length === 0) return { phase, from, to };
    }
  const [only, ...others] = maps;
  if (only !== undefined && others.length === 0 && /^\d+$/.test(only))
    return { phase: "Stable", shards: Number(only) };
  return { phase: "Stable", shards };
}
