import { controllerOf } from "@windlass/kinds";
import type {
  Deployment,
  DeploymentCondition,
  DeploymentStatus,
  DeploymentStrategy,
  PodTemplateSpec,
  ReplicaSet,
} from "@windlass/kinds/builtin";
import { withCondition } from "../../controllers/conditions.ts";
import { eventRecorder } from "../../controllers/events.ts";
import {
  type Again,
  type ControllerDependencies,
  ownKey,
  type Running,
  startLoop,
} from "../../controllers/loop.ts";
import {
  builtin,
  controllerContext,
  createObject,
  deleteIfPresent,
  edit,
  isDeleting,
  stored,
  writeStatus,
} from "../../controllers/objects.ts";
import { claim, claimantKeys, controllerReference } from "../../controllers/ownership.ts";
import { templateOf, wantedReplicas } from "../../controllers/pods.ts";
import { templateHash } from "../../controllers/template-hash.ts";
import { clone, equal, type JsonObject, textOf } from "../../json.ts";
import { namespaceOf, numberAt } from "../../json-fields.ts";
import { StatusError } from "../../status.ts";
import type { Stored } from "../../storage/typed.ts";
import { grownTo, planRollout, proportional, type RolloutSet, surgeAndUnavailable } from "./rollout.ts";
import {
  conditionsAfterRollout,
  countsOf,
  deadlineMs,
  isComplete,
  pauseCondition,
  progressing,
  withAvailability,
} from "./status.ts";

const revisionKey = "deployment.kubernetes.io/revision";
const historyKey = "deployment.kubernetes.io/revision-history";
const desiredKey = "deployment.kubernetes.io/desired-replicas";
const maxKey = "deployment.kubernetes.io/max-replicas";
const hashLabel = "pod-template-hash";

/**
 * A Deployment with its ReplicaSets: the one of its present template, if there is one, and the
 * others.
 */
interface Family {
  readonly deployment: Stored<Deployment>;
  readonly current: Stored<ReplicaSet> | undefined;
  readonly old: readonly Stored<ReplicaSet>[];
}

/** Rolls a Deployment's template out, one ReplicaSet per template. */
export function startDeployments(deps: ControllerDependencies): Running {
  const { registry } = deps;
  const { clock } = registry;
  const context = controllerContext("deployment-controller");
  const record = eventRecorder(registry, { component: "deployment-controller", context });
  const deployments = builtin<Deployment>(registry, "apps", "v1", "deployments");
  const sets = builtin<ReplicaSet>(registry, "apps", "v1", "replicasets");

  return startLoop(deps, {
    name: "deployment-controller",
    watches: { [deployments.bucket]: ownKey, [sets.bucket]: claimantKeys(registry, deployments) },
    reconcile: async (key) => {
      const deployment = stored(registry, deployments, key);
      if (!deployment) return undefined;
      const family = familyOf(
        deployment,
        (await claim(registry, deployment, sets, context)).filter((set) => !isDeleting(set)),
      );
      if (isDeleting(deployment)) return await report(family);
      return await act(await notePause(family));
    },
  });

  async function act(family: Family): Promise<Again | undefined> {
    const { deployment } = family;
    if (deployment.spec.paused === true || isScaled(family)) {
      return await keepProportions(await withRevision(family, "existing"));
    }
    const recreate = deployment.spec.strategy?.type === "Recreate";
    // With Recreate the new ReplicaSet is created after the last old pod is deleted.
    const waits = recreate && family.old.some((set) => wantedReplicas(set) > 0 || actualOf(set) > 0);
    const numbered = await withRevision(family, waits ? "existing" : "made");
    const { current, old } = numbered;
    const plan = planRollout({
      replicas: wantedReplicas(deployment),
      strategy: strategyOf(deployment),
      current: current ? summary(current) : absentSet,
      old: old.map(summary),
    });
    for (const { uid, replicas } of plan) {
      const set = [current, ...old].find((one) => one?.metadata.uid === uid);
      if (set) await scaleSet(deployment, set, replicas);
    }
    const after = refreshed(numbered);
    if (plan.length === 0 && isComplete(deployment, countsOf(deployment, all(after), after.current))) {
      await cleanUp(after);
    }
    return await report(after, "rollout");
  }

  /** Says in the status that a rollout has been stopped, or goes on. */
  async function notePause(family: Family): Promise<Family> {
    const condition = pauseCondition(family.deployment, clock);
    if (!condition) return family;
    const { status: before } = family.deployment;
    const conditions = withCondition(before?.conditions ?? [], condition);
    const status = { ...before, conditions };
    return {
      ...family,
      deployment: await writeStatus(registry, deployments, family.deployment, status, context),
    };
  }

  /** Whether the wanted number of replicas changed since the sets were last scaled. */
  function isScaled({ deployment, current, old }: Family): boolean {
    return [...(current ? [current] : []), ...old].some((set) => {
      const wanted = set.metadata.annotations?.[desiredKey];
      return wantedReplicas(set) > 0 && wanted !== undefined && wanted !== String(wantedReplicas(deployment));
    });
  }

  async function keepProportions(family: Family): Promise<Again | undefined> {
    for (const { set, replicas } of proportions(family)) await scaleSet(family.deployment, set, replicas);
    const after = refreshed(family);
    if (family.deployment.spec.paused === true) await cleanUp(after);
    return await report(after);
  }

  /** The current set with its revision and annotations; `made` creates it where there is none. */
  async function withRevision(family: Family, missing: "existing" | "made"): Promise<Family> {
    const newest = greatest(family.old.map(revisionOf));
    if (!family.current) return missing === "made" ? await withNewSet(family, newest + 1n) : family;
    const revision = greatest([revisionOf(family.current), newest + 1n]);
    const current = await annotateSet(family.deployment, family.current, revision);
    const shown = current.metadata.annotations?.[revisionKey] ?? "";
    const name = current.metadata.name;
    const found = { reason: "FoundNewReplicaSet", message: `Found new replica set "${name}"` };
    const untold = hasDeadline(family.deployment) && !progressing(family.deployment);
    const deployment = await noteRevision(family.deployment, shown, untold ? found : undefined);
    return { ...family, deployment, current };
  }

  async function withNewSet(family: Family, revision: bigint): Promise<Family> {
    const { deployment, old } = family;
    const made = await createSet(deployment, old, revision);
    if (!made) {
      const collisions = (deployment.status?.collisionCount ?? 0) + 1;
      const status = { ...deployment.status, collisionCount: collisions };
      const next = await writeStatus(registry, deployments, deployment, status, context);
      return await withNewSet({ ...family, deployment: next }, revision);
    }
    if (wantedReplicas(made) > 0) await tellScaled(deployment, made, 0, wantedReplicas(made));
    const progress = {
      reason: "NewReplicaSetCreated",
      message: `Created new replica set "${made.metadata.name}"`,
    };
    const next = await noteRevision(
      deployment,
      String(revision),
      hasDeadline(deployment) ? progress : undefined,
    );
    return { deployment: next, current: made, old };
  }

  /** @returns undefined if the name is taken by a set of another template */
  async function createSet(
    deployment: Stored<Deployment>,
    old: readonly Stored<ReplicaSet>[],
    revision: bigint,
  ): Promise<Stored<ReplicaSet> | undefined> {
    const template = clone(templateOf(deployment));
    const metadata = template.metadata ?? {};
    const hash = templateHash(template as object as JsonObject, deployment.status?.collisionCount ?? 0);
    const labels = { ...metadata.labels, [hashLabel]: hash };
    const { selector: wanted } = deployment.spec;
    const selector = { ...wanted, matchLabels: { ...wanted.matchLabels, [hashLabel]: hash } };
    const minReadySeconds = deployment.spec.minReadySeconds;
    const name = `${deployment.metadata.name}-${hash}`;
    const replicas = grownTo(
      wantedReplicas(deployment),
      strategyOf(deployment),
      { replicas: 0 },
      old.map((set) => ({ replicas: wantedReplicas(set) })),
    );
    try {
      return await createObject(
        registry,
        sets,
        namespaceOf(deployment),
        {
          metadata: {
            name,
            labels,
            annotations: { ...passedOn(deployment), [revisionKey]: String(revision), ...bounds(deployment) },
            ownerReferences: [controllerReference(deployment)],
          },
          spec: {
            replicas,
            ...(minReadySeconds === undefined ? {} : { minReadySeconds }),
            selector,
            template: { ...template, metadata: { ...metadata, labels } },
          },
        },
        context,
      );
    } catch (error) {
      if (!(error instanceof StatusError && error.reason === "AlreadyExists")) throw error;
      const taken = stored(registry, sets, `${namespaceOf(deployment)}/${name}`);
      const ours = taken && controllerOf(taken)?.uid === deployment.metadata.uid;
      return taken && ours && sameTemplate(deployment, taken) ? taken : undefined;
    }
  }

  /** Going back to an earlier template makes its ReplicaSet the newest revision again. */
  async function annotateSet(
    deployment: Stored<Deployment>,
    set: Stored<ReplicaSet>,
    revision: bigint,
  ): Promise<Stored<ReplicaSet>> {
    const before = revisionOf(set);
    const own = set.metadata.annotations ?? {};
    const wanted: { [key: string]: string } = { ...passedOn(deployment) };
    if (before < revision) {
      wanted[revisionKey] = String(revision);
      if (before > 0n) {
        const earlier = own[historyKey] ?? "";
        wanted[historyKey] = earlier === "" ? String(before) : `${earlier},${before}`;
      }
    }
    const minReadySeconds = deployment.spec.minReadySeconds ?? 0;
    const settled =
      Object.entries(wanted).every(([key, value]) => own[key] === value) &&
      (set.spec.minReadySeconds ?? 0) === minReadySeconds;
    if (settled) return set;
    return await edit(registry, sets, set, context, ({ metadata, spec }) => {
      metadata.annotations = { ...metadata.annotations, ...wanted };
      if (minReadySeconds > 0) spec.minReadySeconds = minReadySeconds;
      else delete spec.minReadySeconds;
    });
  }

  /**
   * Both are written with the status, as in the real controller: a revision does not change the
   * spec.
   */
  async function noteRevision(
    deployment: Stored<Deployment>,
    revision: string,
    progress?: { readonly reason: string; readonly message: string },
  ): Promise<Stored<Deployment>> {
    const known = deployment.metadata.annotations?.[revisionKey] === revision;
    if (known && !progress) return deployment;
    return await edit(
      registry,
      deployments,
      deployment,
      context,
      (next) => {
        const { metadata } = next;
        metadata.annotations = { ...metadata.annotations, [revisionKey]: revision };
        if (!progress) return;
        const condition = progressCondition("True", progress.reason, progress.message);
        next.status = { ...next.status, conditions: withCondition(next.status?.conditions ?? [], condition) };
      },
      "status",
    );
  }

  function progressCondition(status: string, reason: string, message: string): DeploymentCondition {
    const now = `${new Date(clock.now()).toISOString().slice(0, 19)}Z`;
    return { type: "Progressing", status, lastUpdateTime: now, lastTransitionTime: now, reason, message };
  }

  async function scaleSet(
    deployment: Stored<Deployment>,
    set: Stored<ReplicaSet>,
    replicas: number,
  ): Promise<void> {
    const before = wantedReplicas(set);
    await edit(registry, sets, set, context, ({ metadata, spec }) => {
      spec.replicas = replicas;
      metadata.annotations = { ...metadata.annotations, ...bounds(deployment) };
    });
    if (before !== replicas) await tellScaled(deployment, set, before, replicas);
  }

  async function tellScaled(
    deployment: Stored<Deployment>,
    set: Stored<ReplicaSet>,
    from: number,
    to: number,
  ): Promise<void> {
    await record(deployment, {
      type: "Normal",
      reason: "ScalingReplicaSet",
      message: `Scaled ${from < to ? "up" : "down"} replica set ${set.metadata.name} from ${from} to ${to}`,
    });
  }

  async function cleanUp({ deployment, old }: Family): Promise<void> {
    const keep = numberAt(deployment, "spec", "revisionHistoryLimit") ?? Number.POSITIVE_INFINITY;
    const oldest = old.toSorted((a, b) => Number(revisionOf(a) - revisionOf(b)));
    for (const set of oldest.slice(0, Math.max(0, old.length - keep))) {
      const seen = (set.status?.observedGeneration ?? 0) >= Number(set.metadata.generation ?? 0);
      if (wantedReplicas(set) === 0 && actualOf(set) === 0 && seen) {
        await deleteIfPresent(registry, sets, set, context);
      }
    }
  }

  /** The family as it is after writes. */
  function refreshed({ deployment, current, old }: Family): Family {
    const fresh = (set: Stored<ReplicaSet>) =>
      stored(registry, sets, `${namespaceOf(set)}/${set.metadata.name}`);
    return {
      deployment,
      current: current && fresh(current),
      old: old.flatMap((set) => fresh(set) ?? []),
    };
  }

  async function report(family: Family, phase?: "rollout"): Promise<Again | undefined> {
    const { deployment, current } = family;
    const counts = countsOf(deployment, all(family), current);
    const before = withAvailability(deployment, counts, clock);
    const conditions =
      phase === "rollout"
        ? conditionsAfterRollout({
            deployment,
            counts,
            conditions: before,
            current,
            sets: all(family),
            clock,
          })
        : before;
    const collisions = deployment.status?.collisionCount;
    const status: DeploymentStatus = {
      ...counts,
      ...(conditions.length > 0 ? { conditions } : {}),
      ...(collisions === undefined ? {} : { collisionCount: collisions }),
    };
    const written = await writeStatus(registry, deployments, deployment, status, context);
    const due = phase === "rollout" ? deadlineMs(written, clock) : undefined;
    return due === undefined ? undefined : { requeueAfterMs: due };
  }
}

/** A placeholder for a ReplicaSet that is not created yet. */
const absentSet: RolloutSet = { uid: "", replicas: 0, actual: 0, available: 0, created: "" };

function all({ current, old }: Family): Stored<ReplicaSet>[] {
  return current ? [current, ...old] : [...old];
}

/** The oldest ReplicaSet whose template is the Deployment's is the current one. */
function familyOf(deployment: Stored<Deployment>, sets: readonly Stored<ReplicaSet>[]): Family {
  const current = sets.toSorted((a, b) => byAge(a, b)).find((set) => sameTemplate(deployment, set));
  return { deployment, current, old: sets.filter((set) => set !== current) };
}

function byAge(a: Stored<ReplicaSet>, b: Stored<ReplicaSet>): number {
  const [left, right] = [textOf(a.metadata.creationTimestamp), textOf(b.metadata.creationTimestamp)];
  return left === right ? (a.metadata.name < b.metadata.name ? -1 : 1) : left < right ? -1 : 1;
}

/** Which sets a changed number of replicas concerns, and how. */
function proportions(family: Family): { set: Stored<ReplicaSet>; replicas: number }[] {
  const { deployment, current, old } = family;
  const wanted = wantedReplicas(deployment);
  const active = all(family).filter((set) => wantedReplicas(set) > 0);
  const single =
    active.length === 0
      ? (current ?? old.toSorted(byAge).at(-1))
      : active.length === 1
        ? active[0]
        : undefined;
  if (single) {
    const settled =
      wantedReplicas(single) === wanted && single.metadata.annotations?.[desiredKey] === String(wanted);
    return settled ? [] : [{ set: single, replicas: wanted }];
  }
  if (current && isSaturated(deployment, current)) {
    return old.filter((set) => wantedReplicas(set) > 0).map((set) => ({ set, replicas: 0 }));
  }
  if (deployment.spec.strategy?.type === "Recreate") return [];
  const { surge } = surgeAndUnavailable(strategyOf(deployment), wanted);
  const plan = proportional({
    replicas: wanted,
    surge,
    actual: deployment.status?.replicas ?? 0,
    sets: active.map((set) => {
      const max = set.metadata.annotations?.[maxKey];
      return {
        uid: set.metadata.uid,
        replicas: wantedReplicas(set),
        max: typeof max === "string" ? Number(max) : undefined,
        created: textOf(set.metadata.creationTimestamp),
      };
    }),
  });
  return plan.flatMap(({ uid, replicas }) => {
    const set = active.find(({ metadata }) => metadata.uid === uid);
    return set ? [{ set, replicas }] : [];
  });
}

/** Whether the newest set has all the pods the Deployment wants, and they serve. */
function isSaturated(deployment: Stored<Deployment>, set: Stored<ReplicaSet>): boolean {
  const wanted = wantedReplicas(deployment);
  return (
    wantedReplicas(set) === wanted &&
    set.metadata.annotations?.[desiredKey] === String(wanted) &&
    (set.status?.availableReplicas ?? 0) === wanted
  );
}

function summary(set: Stored<ReplicaSet>): RolloutSet {
  return {
    uid: set.metadata.uid,
    replicas: wantedReplicas(set),
    actual: actualOf(set),
    available: set.status?.availableReplicas ?? 0,
    created: `${textOf(set.metadata.creationTimestamp)} ${set.metadata.name}`,
  };
}

/** Pods that a set still has, those on their way out included: Recreate waits for them too. */
function actualOf(set: Stored<ReplicaSet>): number {
  return (set.status?.replicas ?? 0) + (set.status?.terminatingReplicas ?? 0);
}

function hasDeadline(deployment: Stored<Deployment>): boolean {
  return deployment.spec.progressDeadlineSeconds !== undefined;
}

function strategyOf(deployment: Stored<Deployment>): DeploymentStrategy {
  return deployment.spec.strategy ?? {};
}

function bounds(deployment: Stored<Deployment>): { [key: string]: string } {
  const wanted = wantedReplicas(deployment);
  const { surge } = surgeAndUnavailable(strategyOf(deployment), wanted);
  return { [desiredKey]: String(wanted), [maxKey]: String(wanted + surge) };
}

/** Annotations of a Deployment that are about itself, not its ReplicaSets. */
const ownAnnotations = new Set([
  revisionKey,
  historyKey,
  desiredKey,
  maxKey,
  "kubectl.kubernetes.io/last-applied-configuration",
  "deprecated.deployment.rollback.to",
]);

function passedOn(deployment: Stored<Deployment>): { [key: string]: string } {
  return Object.fromEntries(
    Object.entries(deployment.metadata.annotations ?? {}).filter(([key]) => !ownAnnotations.has(key)),
  );
}

/**
 * A set that is adopted may bring a revision that a double would round. One that is no number
 * counts as none.
 */
function revisionOf(set: Stored<ReplicaSet>): bigint {
  const written = set.metadata.annotations?.[revisionKey] ?? "";
  return /^\d{1,19}$/.test(written) ? BigInt(written) : 0n;
}

function greatest(revisions: readonly bigint[]): bigint {
  let most = 0n;
  for (const revision of revisions) if (revision > most) most = revision;
  return most;
}

function sameTemplate(deployment: Stored<Deployment>, set: Stored<ReplicaSet>): boolean {
  return equal(withoutHash(templateOf(set)), withoutHash(templateOf(deployment)));
}

function withoutHash(template: PodTemplateSpec): object {
  const metadata = template.metadata ?? {};
  const { [hashLabel]: _hash, ...labels } = metadata.labels ?? {};
  const { creationTimestamp: _never, ...rest } = metadata;
  return { ...template, metadata: { ...rest, labels } };
}
