import { clone, type JsonObject, textOf } from "../json.ts";
import { field, type StoredObject } from "../storage/store.ts";
import {
  builtin,
  type ControllerWorld,
  controlledBy,
  controllerContext,
  controllerKey,
  controllerReference,
  deleteIfPresent,
  ownKey,
  type Running,
  startLoop,
  writeStatus,
} from "./loop.ts";
import { availableSince, deletionRank, isActive, isReady } from "./pods.ts";

/** Keeps as many pods of a template as a ReplicaSet asks for. */
export function startReplicaSets(world: ControllerWorld): Running {
  const { registry } = world;
  const context = controllerContext("replicaset-controller");
  const sets = builtin(registry, "apps", "v1", "replicasets");
  const pods = builtin(registry, "", "v1", "pods");

  return startLoop(world, {
    name: "replicaset",
    watches: { [sets.bucket]: ownKey, [pods.bucket]: controllerKey("apps", "ReplicaSet") },
    reconcile: async (key) => {
      const entry = registry.store.get(sets.bucket, key);
      if (!entry) return;
      const set = entry.object;
      const namespace = textOf(set.metadata.namespace);
      const active = controlledBy(registry, pods.bucket, namespace, set.metadata.uid).filter(isActive);
      if (!set.metadata.deletionTimestamp) await scale(set, namespace, active);
      return report(key);
    },
  });

  async function scale(set: StoredObject, namespace: string, active: readonly StoredObject[]): Promise<void> {
    const wanted = Number(field(set, "spec", "replicas") ?? 1);
    for (let missing = wanted - active.length; missing > 0; missing--) {
      await registry.create(pods, namespace, podFrom(set), context);
    }
    const surplus = active.length - wanted;
    if (surplus <= 0) return;
    const victims = active.toSorted((a, b) => deletionRank(a) - deletionRank(b)).slice(0, surplus);
    for (const pod of victims) await deleteIfPresent(registry, pods, pod, context);
  }

  /** Counts what there is by now into the status. */
  async function report(key: string): Promise<{ requeueAfterMs?: number } | undefined> {
    const set = registry.store.get(sets.bucket, key)?.object;
    if (!set) return undefined;
    const owned = controlledBy(
      registry,
      pods.bucket,
      textOf(set.metadata.namespace),
      set.metadata.uid,
    ).filter(isActive);
    const minReadySeconds = Number(field(set, "spec", "minReadySeconds") ?? 0);
    const labels = (field(set, "spec", "template", "metadata", "labels") ?? {}) as JsonObject;
    const now = registry.clock.now();
    const ready = owned.filter(isReady);
    const since = ready.map((pod) => availableSince(pod, minReadySeconds));
    const available = since.filter((at) => at !== undefined && at <= now).length;
    const status: JsonObject = {
      replicas: owned.length,
      ...count("fullyLabeledReplicas", owned.filter((pod) => carries(pod, labels)).length),
      ...count("readyReplicas", ready.length),
      ...count("availableReplicas", available),
      observedGeneration: Number(set.metadata.generation ?? 0),
    };
    await writeStatus(registry, sets, set, status, context);
    const later = since.filter((at): at is number => at !== undefined && at > now);
    return later.length > 0 ? { requeueAfterMs: Math.min(...later) - now } : undefined;
  }

  function podFrom(set: StoredObject): JsonObject {
    const template = clone(field(set, "spec", "template") as JsonObject);
    const metadata = (template.metadata ?? {}) as JsonObject;
    delete metadata.creationTimestamp;
    return pods.decode({
      apiVersion: "v1",
      kind: "Pod",
      metadata: {
        ...metadata,
        generateName: `${set.metadata.name}-`,
        ownerReferences: [controllerReference(set)],
      },
      spec: template.spec as JsonObject,
    }).object;
  }
}

/** Zero is left out, as the real server's types do. */
export function count(name: string, value: number): JsonObject {
  return value === 0 ? {} : { [name]: value };
}

function carries(pod: StoredObject, labels: JsonObject): boolean {
  const own = (pod.metadata.labels ?? {}) as JsonObject;
  return Object.entries(labels).every(([key, value]) => own[key] === value);
}
