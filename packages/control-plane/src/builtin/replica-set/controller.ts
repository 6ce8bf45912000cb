import { controllerOf } from "@windlass/kinds";
import type { Pod, ReplicaSet } from "@windlass/kinds/builtin";
import { withCondition, withoutCondition } from "../../controllers/conditions.ts";
import { eventRecorder } from "../../controllers/events.ts";
import {
  type Again,
  type ControllerDependencies,
  ownKey,
  type Running,
  startLoop,
  unhurried,
} from "../../controllers/loop.ts";
import {
  type BuiltinResource,
  builtin,
  controllerContext,
  count,
  createObject,
  deleteIfPresent,
  isDeleting,
  stored,
  writeStatus,
} from "../../controllers/objects.ts";
import { claim, claimantKeys, controlledBy } from "../../controllers/ownership.ts";
import {
  availability,
  inDeletionOrder,
  isActive,
  isReady,
  isTerminating,
  podFromTemplate,
  templateOf,
  wantedReplicas,
} from "../../controllers/pods.ts";
import { textOf } from "../../json.ts";
import { namespaceOf } from "../../json-fields.ts";
import { timestamp } from "../../registry/metadata.ts";
import { StatusError } from "../../status.ts";
import type { Stored } from "../../storage/typed.ts";

/** Keeps as many pods of a template as a ReplicaSet asks for. */
export function startReplicaSets(deps: ControllerDependencies): Running {
  return startReplicas(deps, {
    name: "replicaset-controller",
    resource: builtin<ReplicaSet>(deps.registry, "apps", "v1", "replicasets"),
    countsTerminating: true,
  });
}

/** ReplicaSets by an older name. */
export function startReplicationControllers(deps: ControllerDependencies): Running {
  return startReplicas(deps, {
    name: "replication-controller",
    resource: builtin<ReplicaSet>(deps.registry, "", "v1", "replicationcontrollers"),
    countsTerminating: false,
  });
}

interface Flavour {
  readonly name: string;
  readonly resource: BuiltinResource<ReplicaSet>;
  /** Whether the status counts pods that are terminating. */
  readonly countsTerminating: boolean;
}

function startReplicas(
  deps: ControllerDependencies,
  { name, resource: sets, countsTerminating }: Flavour,
): Running {
  const { registry } = deps;
  const context = controllerContext(name);
  const record = eventRecorder(registry, { component: name, context });
  const pods = builtin<Pod>(registry, "", "v1", "pods");

  return startLoop(deps, {
    name,
    watches: { [sets.bucket]: ownKey, [pods.bucket]: claimantKeys(registry, sets) },
    reconcile: async (key) => {
      const set = stored(registry, sets, key);
      if (!set) return undefined;
      const active = (await claim(registry, set, pods, context, isActive)).filter(isActive);
      const failure = isDeleting(set) ? undefined : await scale(set, active);
      const again = await report(key, failure);
      if (failure) throw failure.error;
      return again;
    },
  });

  /** @returns what kept it from having as many pods as it wants */
  async function scale(
    set: Stored<ReplicaSet>,
    active: readonly Stored<Pod>[],
  ): Promise<Failure | undefined> {
    const missing = wantedReplicas(set) - active.length;
    for await (const _ of unhurried(Array.from({ length: Math.max(0, missing) }))) {
      try {
        const pod = podFromTemplate(templateOf(set), set);
        const created = await createObject(registry, pods, namespaceOf(set), pod, context);
        await record(set, {
          type: "Normal",
          reason: "SuccessfulCreate",
          message: `Created pod: ${created.metadata.name}`,
        });
      } catch (error) {
        if (!(error instanceof StatusError)) throw error;
        // Creating pods in a terminating namespace fails; no event is recorded for it.
        if (isTerminatingNamespace(error)) return undefined;
        await record(set, {
          type: "Warning",
          reason: "FailedCreate",
          message: `Error creating: ${error.message}`,
        });
        return { reason: "FailedCreate", error };
      }
    }
    if (missing >= 0) return undefined;
    for await (const pod of unhurried(inDeletionOrder(active, crowd(set)).slice(0, -missing))) {
      if (!(await deleteIfPresent(registry, pods, pod, context))) continue;
      await record(set, {
        type: "Normal",
        reason: "SuccessfulDelete",
        message: `Deleted pod: ${pod.metadata.name}`,
      });
    }
    return undefined;
  }

  /** How many pods of all sets of the same owner are on each node. */
  function crowd(set: Stored<ReplicaSet>): Map<string, number> {
    const owner = controllerOf(set)?.uid;
    const related = owner === undefined ? [set] : controlledBy(registry, sets, textOf(owner));
    const nodes = new Map<string, number>();
    for (const { metadata } of related) {
      for (const pod of controlledBy(registry, pods, metadata.uid).filter(isActive)) {
        const node = pod.spec.nodeName ?? "";
        nodes.set(node, (nodes.get(node) ?? 0) + 1);
      }
    }
    return nodes;
  }

  /** Counts what there is by now into the status. */
  async function report(key: string, failure: Failure | undefined): Promise<Again | undefined> {
    const set = stored(registry, sets, key);
    if (!set) return undefined;
    const all = controlledBy(registry, pods, set.metadata.uid);
    const own = all.filter(isActive);
    const labels = templateOf(set).metadata?.labels ?? {};
    const ready = own.filter(isReady);
    const minReadySeconds = set.spec.minReadySeconds ?? 0;
    const { available, nextMs } = availability(ready, minReadySeconds, registry.clock.now());
    const conditions = conditionsOf(set, failure);
    const status: ReplicaSet["status"] = {
      replicas: own.length,
      ...count("fullyLabeledReplicas", own.filter((pod) => carries(pod, labels)).length),
      ...count("readyReplicas", ready.length),
      ...count("availableReplicas", available.length),
      ...(countsTerminating ? { terminatingReplicas: all.filter(isTerminating).length } : {}),
      observedGeneration: Number(set.metadata.generation ?? 0),
      ...(conditions.length > 0 ? { conditions } : {}),
    };
    await writeStatus(registry, sets, set, status, context);
    return nextMs === undefined ? undefined : { requeueAfterMs: nextMs };
  }

  function conditionsOf(set: Stored<ReplicaSet>, failure: Failure | undefined): ReplicaSetCondition[] {
    const before = set.status?.conditions ?? [];
    if (!failure) return withoutCondition(before, "ReplicaFailure");
    return withCondition(before, {
      type: "ReplicaFailure",
      status: "True",
      lastTransitionTime: timestamp(registry.clock),
      reason: failure.reason,
      message: failure.error.message,
    });
  }
}

type ReplicaSetCondition = NonNullable<NonNullable<ReplicaSet["status"]>["conditions"]>[number];

interface Failure {
  readonly reason: string;
  readonly error: StatusError;
}

/** Whether a create was refused because its namespace is being deleted. */
export function isTerminatingNamespace(error: StatusError): boolean {
  return (
    error.code === 403 &&
    (error.details?.causes ?? []).some(({ reason }) => reason === "NamespaceTerminating")
  );
}

function carries(pod: Stored<Pod>, labels: { readonly [key: string]: unknown }): boolean {
  const own = pod.metadata.labels ?? {};
  return Object.entries(labels).every(([key, value]) => own[key] === value);
}
