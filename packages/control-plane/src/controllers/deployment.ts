import { createHash } from "node:crypto";
import { clone, equal, isObject, type Json, type JsonObject, textOf } from "../json.ts";
import { timestamp } from "../registry/metadata.ts";
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
import { count } from "./replica-set.ts";
import { planRollout, type RolloutSet, surgeAndUnavailable } from "./rollout.ts";

const revisionKey = "deployment.kubernetes.io/revision";
const desiredKey = "deployment.kubernetes.io/desired-replicas";
const maxKey = "deployment.kubernetes.io/max-replicas";
const hashLabel = "pod-template-hash";

/** Rolls a Deployment's template out, one ReplicaSet per template. */
export function startDeployments(world: ControllerWorld): Running {
  const { registry } = world;
  const context = controllerContext("deployment-controller");
  const deployments = builtin(registry, "apps", "v1", "deployments");
  const sets = builtin(registry, "apps", "v1", "replicasets");

  return startLoop(world, {
    name: "deployment",
    watches: { [deployments.bucket]: ownKey, [sets.bucket]: controllerKey("apps", "Deployment") },
    reconcile: async (key) => {
      const deployment = registry.store.get(deployments.bucket, key)?.object;
      if (!deployment || deployment.metadata.deletionTimestamp) return;
      if (field(deployment, "spec", "paused") !== true) await roll(deployment);
      return await report(key);
    },
  });

  function setsOf(deployment: StoredObject): StoredObject[] {
    return controlledBy(
      registry,
      sets.bucket,
      textOf(deployment.metadata.namespace),
      deployment.metadata.uid,
    ).filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  }

  async function roll(deployment: StoredObject): Promise<void> {
    const all = setsOf(deployment);
    const current = findCurrent(deployment, all) ?? (await createSet(deployment, all));
    await numberRevision(deployment, current, all);
    const others = all.filter(({ metadata }) => metadata.uid !== current.metadata.uid);
    const plan = planRollout({
      replicas: replicasOf(deployment),
      strategy: (field(deployment, "spec", "strategy") ?? {}) as JsonObject,
      current: summary(current),
      old: others.map(summary),
    });
    for (const { uid, replicas } of plan) {
      const set = [current, ...others].find(({ metadata }) => metadata.uid === uid);
      if (set) await scaleSet(deployment, set, replicas);
    }
    await cleanUp(deployment, others);
  }

  async function createSet(deployment: StoredObject, all: readonly StoredObject[]): Promise<StoredObject> {
    const { name, namespace } = deployment.metadata;
    const template = clone(field(deployment, "spec", "template") as JsonObject);
    const metadata = (isObject(template.metadata) ? template.metadata : {}) as JsonObject;
    const hash = hashOf(template, Number(field(deployment, "status", "collisionCount") ?? 0));
    const labels = { ...(metadata.labels as JsonObject | undefined), [hashLabel]: hash };
    const selector = clone((field(deployment, "spec", "selector") ?? {}) as JsonObject);
    selector.matchLabels = { ...(selector.matchLabels as JsonObject | undefined), [hashLabel]: hash };
    const object = sets.decode({
      apiVersion: "apps/v1",
      kind: "ReplicaSet",
      metadata: {
        name: `${name}-${hash}`,
        labels,
        annotations: {
          ...passedOn(deployment),
          [revisionKey]: String(lastRevision(all) + 1),
          ...bounds(deployment),
        },
        ownerReferences: [controllerReference(deployment)],
      },
      spec: {
        replicas: 0,
        ...(field(deployment, "spec", "minReadySeconds") === undefined
          ? {}
          : { minReadySeconds: field(deployment, "spec", "minReadySeconds") as Json }),
        selector,
        template: { ...template, metadata: { ...metadata, labels } },
      },
    }).object;
    return (await registry.create(sets, textOf(namespace), object, context)) as StoredObject;
  }

  /** Going back to an earlier template makes its ReplicaSet the newest revision again. */
  async function numberRevision(
    deployment: StoredObject,
    current: StoredObject,
    all: readonly StoredObject[],
  ): Promise<void> {
    const others = all.filter(({ metadata }) => metadata.uid !== current.metadata.uid);
    const newest = lastRevision(others);
    const own = revisionOf(current);
    const revision = own > newest ? own : newest + 1;
    await annotate(sets.bucket, current, {
      ...passedOn(deployment),
      [revisionKey]: String(revision),
      ...bounds(deployment),
    });
    await annotate(deployments.bucket, deployment, { [revisionKey]: String(revision) });
  }

  async function annotate(bucket: string, object: StoredObject, annotations: JsonObject): Promise<void> {
    const own = (object.metadata.annotations ?? {}) as JsonObject;
    if (Object.entries(annotations).every(([key, value]) => own[key] === value)) return;
    await registry.update(
      {
        resource: bucket === sets.bucket ? sets : deployments,
        namespace: textOf(object.metadata.namespace),
        name: object.metadata.name,
      },
      context,
      (live) => {
        const next = clone(live);
        const metadata = next.metadata as JsonObject;
        metadata.annotations = { ...(metadata.annotations as JsonObject | undefined), ...annotations };
        return next;
      },
      { kind: "PatchOptions" },
    );
  }

  async function scaleSet(deployment: StoredObject, set: StoredObject, replicas: number): Promise<void> {
    await registry.update(
      { resource: sets, namespace: textOf(set.metadata.namespace), name: set.metadata.name },
      context,
      (live) => {
        const next = clone(live);
        next.spec = { ...(next.spec as JsonObject), replicas };
        const metadata = next.metadata as JsonObject;
        metadata.annotations = { ...(metadata.annotations as JsonObject | undefined), ...bounds(deployment) };
        return next;
      },
      { kind: "PatchOptions" },
    );
  }

  async function cleanUp(deployment: StoredObject, others: readonly StoredObject[]): Promise<void> {
    const keep = Number(field(deployment, "spec", "revisionHistoryLimit") ?? 10);
    const spent = others.filter(
      (set) => replicasOf(set) === 0 && Number(field(set, "status", "replicas") ?? 0) === 0,
    );
    const surplus = spent
      .toSorted((a, b) => revisionOf(a) - revisionOf(b))
      .slice(0, Math.max(0, spent.length - keep));
    for (const set of surplus) await deleteIfPresent(registry, sets, set, context);
  }

  async function report(key: string): Promise<{ requeueAfterMs?: number } | undefined> {
    const deployment = registry.store.get(deployments.bucket, key)?.object;
    if (!deployment) return undefined;
    const all = setsOf(deployment);
    const current = findCurrent(deployment, all);
    const sum = (part: string) =>
      all.reduce((total, set) => total + Number(field(set, "status", part) ?? 0), 0);
    const [replicas, ready, available] = [sum("replicas"), sum("readyReplicas"), sum("availableReplicas")];
    const updated = Number((current && field(current, "status", "replicas")) ?? 0);
    const unavailable = Math.max(0, all.reduce((total, set) => total + replicasOf(set), 0) - available);
    const counts: JsonObject = {
      observedGeneration: Number(deployment.metadata.generation ?? 0),
      ...count("replicas", replicas),
      ...count("updatedReplicas", updated),
      ...count("readyReplicas", ready),
      ...count("availableReplicas", available),
      ...count("unavailableReplicas", unavailable),
    };
    const { conditions, deadlineMs } = conditionsOf(
      deployment,
      current,
      { replicas, updated, available },
      counts,
    );
    const collisions = field(deployment, "status", "collisionCount");
    const status = {
      ...counts,
      ...(conditions.length > 0 ? { conditions } : {}),
      ...(collisions === undefined ? {} : { collisionCount: collisions }),
    };
    await writeStatus(registry, deployments, deployment, status, context);
    return deadlineMs === undefined ? undefined : { requeueAfterMs: deadlineMs };
  }

  function conditionsOf(
    deployment: StoredObject,
    current: StoredObject | undefined,
    seen: { replicas: number; updated: number; available: number },
    counts: JsonObject,
  ): { conditions: JsonObject[]; deadlineMs: number | undefined } {
    const now = timestamp(registry.clock);
    const wanted = replicasOf(deployment);
    const { unavailable } = surgeAndUnavailable(
      (field(deployment, "spec", "strategy") ?? {}) as JsonObject,
      wanted,
    );
    const before = ((field(deployment, "status", "conditions") ?? []) as JsonObject[]).map((condition) =>
      clone(condition),
    );
    const set = (type: string, status: string, reason: string, message: string) => {
      const known = before.find((condition) => condition.type === type);
      if (known && known.status === status && known.reason === reason && known.message === message) return;
      const next: JsonObject = {
        type,
        status,
        lastUpdateTime: now,
        lastTransitionTime: known && known.status === status ? (known.lastTransitionTime as string) : now,
        reason,
        message,
      };
      if (known) Object.assign(known, next);
      else before.push(next);
    };
    if (seen.available >= wanted - unavailable) {
      set("Available", "True", "MinimumReplicasAvailable", "Deployment has minimum availability.");
    } else {
      set(
        "Available",
        "False",
        "MinimumReplicasUnavailable",
        "Deployment does not have minimum availability.",
      );
    }
    const limit = field(deployment, "spec", "progressDeadlineSeconds");
    if (limit === undefined || field(deployment, "spec", "paused") === true || !current)
      return { conditions: before, deadlineMs: undefined };
    const name = current.metadata.name;
    const complete = seen.updated === wanted && seen.replicas === wanted && seen.available === wanted;
    if (complete) {
      set(
        "Progressing",
        "True",
        "NewReplicaSetAvailable",
        `ReplicaSet "${name}" has successfully progressed.`,
      );
      return { conditions: before, deadlineMs: undefined };
    }
    const { conditions: _conditions, ...last } = (deployment.status ?? {}) as JsonObject;
    const progressing = before.find(({ type }) => type === "Progressing");
    const moved = !equal(strip(last), strip(counts));
    if (
      !progressing ||
      (moved && progressing.reason !== "ProgressDeadlineExceeded") ||
      progressing.reason === "NewReplicaSetAvailable"
    ) {
      if (progressing) progressing.lastUpdateTime = now;
      set("Progressing", "True", "ReplicaSetUpdated", `ReplicaSet "${name}" is progressing.`);
    }
    const active = before.find(({ type }) => type === "Progressing") as JsonObject;
    const due = Date.parse(textOf(active.lastUpdateTime)) + Number(limit) * 1_000 - registry.clock.now();
    if (due > 0) return { conditions: before, deadlineMs: due };
    set(
      "Progressing",
      "False",
      "ProgressDeadlineExceeded",
      `ReplicaSet "${name}" has timed out progressing.`,
    );
    return { conditions: before, deadlineMs: undefined };
  }
}

/** What counts as movement: numbers, not the generation. */
function strip(status: JsonObject): JsonObject {
  const { observedGeneration: _generation, collisionCount: _collisions, ...rest } = status;
  return rest;
}

function summary(set: StoredObject): RolloutSet {
  return {
    uid: set.metadata.uid,
    replicas: replicasOf(set),
    actual: Number(field(set, "status", "replicas") ?? 0),
    available: Number(field(set, "status", "availableReplicas") ?? 0),
    created: textOf(set.metadata.creationTimestamp),
  };
}

function replicasOf(object: StoredObject): number {
  return Number(field(object, "spec", "replicas") ?? 1);
}

function bounds(deployment: StoredObject): JsonObject {
  const wanted = replicasOf(deployment);
  const { surge } = surgeAndUnavailable((field(deployment, "spec", "strategy") ?? {}) as JsonObject, wanted);
  return { [desiredKey]: String(wanted), [maxKey]: String(wanted + surge) };
}

/** The Deployment's annotations that its ReplicaSets carry too. */
function passedOn(deployment: StoredObject): JsonObject {
  const own = new Set([
    revisionKey,
    desiredKey,
    maxKey,
    "kubectl.kubernetes.io/last-applied-configuration",
    "deployment.kubernetes.io/revision-history",
  ]);
  const annotations = (deployment.metadata.annotations ?? {}) as JsonObject;
  return Object.fromEntries(Object.entries(annotations).filter(([key]) => !own.has(key)));
}

function revisionOf(set: StoredObject): number {
  return Number(field(set, "metadata", "annotations", revisionKey) ?? 0);
}

function lastRevision(all: readonly StoredObject[]): number {
  return Math.max(0, ...all.map(revisionOf));
}

/** The oldest ReplicaSet whose template is the Deployment's. */
function findCurrent(deployment: StoredObject, all: readonly StoredObject[]): StoredObject | undefined {
  const wanted = withoutHash(field(deployment, "spec", "template"));
  return all
    .toSorted((a, b) =>
      textOf(a.metadata.creationTimestamp) < textOf(b.metadata.creationTimestamp) ? -1 : 1,
    )
    .find((set) => equal(withoutHash(field(set, "spec", "template")), wanted));
}

function withoutHash(template: Json | undefined): Json {
  const copy = clone((template ?? {}) as JsonObject);
  const metadata = isObject(copy.metadata) ? copy.metadata : {};
  const labels = { ...(metadata.labels as JsonObject | undefined) };
  delete labels[hashLabel];
  copy.metadata = { ...metadata, labels };
  return copy;
}

const safe = "bcdfghjklmnpqrstvwxz2456789";

/** Ten characters that stand for a template. The real server's algorithm depends on how Go prints structs; any stable one serves. */
function hashOf(template: JsonObject, collisions: number): string {
  const digest = createHash("sha256").update(JSON.stringify(template)).update(String(collisions)).digest();
  return Array.from(digest.subarray(0, 10), (byte) => safe[byte % safe.length]).join("");
}
