import type { ObjectOf } from "@windlass/runtime";
import type { Deployment, Pod, StatefulSet } from "@windlass/runtime/kinds";
import { setLabel, shardClientLabel, shardMapAnnotation } from "../names.ts";
import {
  type Client,
  type Layout,
  layout,
  parseMap,
  type Resharding,
  type ResultUse,
  type Ring,
  type ShardPod,
} from "../resharding/index.ts";

type PodObject = ObjectOf<typeof Pod>;
type DeploymentObject = ObjectOf<typeof Deployment>;

/** Pods that have ended ask no shard any more. */
function isRunning({ status }: PodObject): boolean {
  return status?.phase !== "Succeeded" && status?.phase !== "Failed";
}

/**
 * Everything that places blobs on the shards of a set: pods, those that are stopping included, and
 * the templates of more.
 */
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

/**
 * Until then, an earlier ReplicaSet may still make pods of an earlier template: in place of one
 * that died, or if it is scaled.
 */
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

/** The number of a shard, from the name of its pod: `storage-3` of `storage`. */
function numberOf(pod: PodObject, statefulSet: string): number | undefined {
  const { name } = pod.metadata;
  const rest = name.startsWith(`${statefulSet}-`) ? name.slice(statefulSet.length + 1) : "";
  return /^\d+$/.test(rest) ? Number(rest) : undefined;
}

/** The shards of a ring that are ready, all of the present template. */
export function readyShards(
  ring: Ring,
  live: ObjectOf<typeof StatefulSet> | undefined,
  pods: readonly PodObject[],
): readonly ShardPod[] {
  const { status, metadata } = live ?? {};
  if (!metadata || (status?.observedGeneration ?? 0) < (metadata.generation ?? 0)) return [];
  return pods.flatMap((pod) => {
    const number = numberOf(pod, metadata.name);
    const isCurrent = pod.metadata.labels?.["controller-revision-hash"] === status?.updateRevision;
    const isReady = pod.status?.conditions?.some(({ type, status: is }) => type === "Ready" && is === "True");
    const isStaying = pod.metadata.deletionTimestamp === undefined;
    return number !== undefined && isStaying && isCurrent && isReady ? [{ ring, number }] : [];
  });
}

/**
 * How many shards of a StatefulSet run beyond those that it is to have, those that are stopping
 * included.
 */
export function leavingShards(statefulSet: string, shards: number, pods: readonly PodObject[]): number {
  return pods.filter((pod) => isRunning(pod) && (numberOf(pod, statefulSet) ?? -1) >= shards).length;
}

/**
 * The state of a set whose state was lost, as after a restore of resources without their status:
 * what its clients were started with shows how far a change has come.
 */
export function recovered(clients: readonly Client[], wanted: Layout, shards: number): Resharding {
  const texts = new Set(clients.flatMap(({ map }) => map ?? []));
  const maps = [...texts].flatMap((text) => parseMap(text) ?? []);
  // Results in the new map are good beside all but those who know the old map alone, and none is
  // left that reads them.
  for (const [results, phase] of [
    ["to", "Redirecting"],
    ["from", "Bridging"],
  ] as const)
    for (const map of maps)
      if (map.is === "bridge" && map.results === results) return { phase, from: map.from, to: map.to };
  const [only, ...others] = maps;
  if (only?.is === "single" && others.length === 0 && texts.size === 1)
    return { phase: "Stable", at: only.at };
  return { phase: "Stable", at: layout({ ...wanted, shards }) };
}
