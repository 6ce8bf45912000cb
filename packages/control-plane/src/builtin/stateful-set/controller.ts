import type { OwnerReference } from "@windlass/kinds";
import type { ControllerRevision, PersistentVolumeClaim, Pod, StatefulSet } from "@windlass/kinds/builtin";
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
  count,
  createObject,
  deleteIfPresent,
  edit,
  isDeleting,
  stored,
  writeStatus,
} from "../../controllers/objects.ts";
import { claim, claimantKeys, controlledBy } from "../../controllers/ownership.ts";
import { availability, isFinished, isReady, wantedReplicas } from "../../controllers/pods.ts";
import {
  type History,
  revisionHistory,
  revisionTemplate,
  truncateHistory,
} from "../../controllers/revisions.ts";
import { textOf } from "../../json.ts";
import { namespaceOf } from "../../json-fields.ts";
import { StatusError } from "../../status.ts";
import type { Draft, Stored } from "../../storage/typed.ts";
import { claimOwners, claimsOf, ordinalOf, statefulPod } from "./pods.ts";

const naming = { label: "controller.kubernetes.io/hash" };
const revisionLabel = "controller-revision-hash";

/** A StatefulSet with all that belongs to it. */
interface Family {
  readonly set: Stored<StatefulSet>;
  readonly history: History;
  /** The revision that pods below the partition keep. */
  readonly current: Stored<ControllerRevision>;
  readonly pods: readonly Stored<Pod>[];
}

/** Runs pods with names, volumes and an order. */
export function startStatefulSets(deps: ControllerDependencies): Running {
  const { registry } = deps;
  const { store, clock } = registry;
  const context = controllerContext("statefulset-controller");
  const record = eventRecorder(registry, { component: "statefulset-controller", context });
  const sets = builtin<StatefulSet>(registry, "apps", "v1", "statefulsets");
  const pods = builtin<Pod>(registry, "", "v1", "pods");
  const claims = builtin<PersistentVolumeClaim>(registry, "", "v1", "persistentvolumeclaims");

  return startLoop(deps, {
    name: "statefulset-controller",
    watches: { [sets.bucket]: ownKey, [pods.bucket]: claimantKeys(registry, sets) },
    reconcile: async (key) => {
      const set = stored(registry, sets, key);
      if (!set) return undefined;
      const named = (pod: Stored<Pod>) => ordinalOf(set, pod) !== undefined;
      const own = (await claim(registry, set, pods, context, named)).filter(named);
      const history = await revisionHistory(registry, set, context, naming);
      const current = currentRevision(set, history);
      const family: Family = { set, history, current, pods: own };
      const again = isDeleting(set) ? undefined : await advance(family);
      await report(family);
      await truncateHistory(
        registry,
        set,
        history.revisions,
        (revision) =>
          revision === history.update ||
          revision.metadata.name === current.metadata.name ||
          own.some((pod) => revisionOf(pod) === revision.metadata.name),
        context,
      );
      return again;
    },
  });

  function currentRevision(
    set: Stored<StatefulSet>,
    { revisions, update }: History,
  ): Stored<ControllerRevision> {
    const name = set.status?.currentRevision;
    return revisions.find(({ metadata }) => metadata.name === name) ?? update;
  }

  /** Takes the next steps towards what the set asks for: one at a time where order matters. */
  async function advance(family: Family): Promise<Again | undefined> {
    const { set } = family;
    const inOrder = set.spec.podManagementPolicy !== "Parallel";
    const start = set.spec.ordinals?.start ?? 0;
    const end = start + wantedReplicas(set);
    await keepClaims(family, start, end);
    const at = (ordinal: number) => family.pods.find((pod) => ordinalOf(set, pod) === ordinal);
    let nextMs: number | undefined;
    for (let ordinal = start; ordinal < end; ordinal++) {
      const step = await keep(family, ordinal, at(ordinal));
      if (step.nextMs !== undefined) nextMs = Math.min(nextMs ?? Number.POSITIVE_INFINITY, step.nextMs);
      if (inOrder && step.at !== "settled") return again(nextMs);
    }
    const condemned = family.pods
      .filter((pod) => isOutside(set, pod, start, end))
      .toSorted((a, b) => (ordinalOf(set, b) ?? 0) - (ordinalOf(set, a) ?? 0));
    const firstUnhealthy = family.pods
      .filter((pod) => !isHealthy(pod))
      .toSorted((a, b) => (ordinalOf(set, a) ?? 0) - (ordinalOf(set, b) ?? 0))[0];
    for (const pod of condemned) {
      if (isDeleting(pod)) {
        if (inOrder) return again(nextMs);
        continue;
      }
      if (inOrder && !isHealthy(pod) && pod !== firstUnhealthy) return again(nextMs);
      await remove(set, pod);
      if (inOrder) return again(nextMs);
    }
    await replaceOutdated(family, start, end);
    return again(nextMs);
  }

  interface Step {
    /** Whether the ordinal is as it should be, or was worked on, or has to be waited for. */
    readonly at: "settled" | "changed" | "waiting";
    readonly nextMs?: number;
  }

  async function keep(family: Family, ordinal: number, pod: Stored<Pod> | undefined): Promise<Step> {
    const { set } = family;
    if (!pod) {
      await create(family, ordinal);
      return { at: "changed" };
    }
    if (isFinished(pod) && !isDeleting(pod)) {
      await record(set, {
        type: "Warning",
        reason: "RecreatingFailedPod",
        message: `StatefulSet ${namespaceOf(set)}/${set.metadata.name} is recreating failed Pod ${pod.metadata.name}`,
      });
      await remove(set, pod);
      return { at: "changed" };
    }
    if (isDeleting(pod)) return { at: "waiting" };
    await createClaims(set, ordinal);
    if (!isHealthy(pod)) return { at: "waiting" };
    const { nextMs } = availability([pod], set.spec.minReadySeconds ?? 0, clock.now());
    return nextMs === undefined ? { at: "settled" } : { at: "waiting", nextMs };
  }

  async function create(family: Family, ordinal: number): Promise<void> {
    const { set, history, current } = family;
    const rolling = set.spec.updateStrategy?.type !== "OnDelete";
    const start = set.spec.ordinals?.start ?? 0;
    const keepsOld = rolling && ordinal < start + (set.spec.updateStrategy?.rollingUpdate?.partition ?? 0);
    const revision = keepsOld ? current : history.update;
    const pod = statefulPod(set, ordinal, revisionTemplate(revision));
    const { metadata } = pod;
    metadata.labels = { ...metadata.labels, [revisionLabel]: revision.metadata.name };
    try {
      await createClaims(set, ordinal);
      await createObject(registry, pods, namespaceOf(set), pod, context);
    } catch (error) {
      if (!(error instanceof StatusError)) throw error;
      await record(set, {
        type: "Warning",
        reason: "FailedCreate",
        message: `Create Pod ${metadata.name ?? ""} in StatefulSet ${set.metadata.name} failed error: ${error.message}`,
      });
      throw error;
    }
    await record(set, {
      type: "Normal",
      reason: "SuccessfulCreate",
      message: `Create Pod ${metadata.name ?? ""} in StatefulSet ${set.metadata.name} successful`,
    });
  }

  async function createClaims(set: Stored<StatefulSet>, ordinal: number): Promise<void> {
    for (const { name, claim: wanted } of claimsOf(set, ordinal)) {
      if (store.get(claims.bucket, `${namespaceOf(set)}/${name}`)) continue;
      await createObject(registry, claims, namespaceOf(set), wanted, context);
      await record(set, {
        type: "Normal",
        reason: "SuccessfulCreate",
        message: `Create Claim ${name} Pod ${set.metadata.name}-${ordinal} in StatefulSet ${set.metadata.name} success`,
      });
    }
  }

  /** Makes claims go with the set, or with their pod, where the set asks for it. */
  async function keepClaims(family: Family, start: number, end: number): Promise<void> {
    const { set } = family;
    for (const pod of family.pods) {
      const ordinal = ordinalOf(set, pod) ?? 0;
      const place = isOutside(set, pod, start, end) ? "condemned" : "kept";
      for (const template of claimsOf(set, ordinal)) {
        const found = stored(registry, claims, `${namespaceOf(set)}/${template.name}`);
        if (!found) continue;
        const owners = claimOwners(set, pod, found, place);
        if (!owners) continue;
        await edit(registry, claims, found, context, (next) => {
          const { metadata } = next;
          if (owners.length > 0) metadata.ownerReferences = owners as Draft<OwnerReference>[];
          else delete metadata.ownerReferences;
        });
      }
    }
  }

  async function remove(set: Stored<StatefulSet>, pod: Stored<Pod>): Promise<void> {
    if (!(await deleteIfPresent(registry, pods, pod, context))) return;
    await record(set, {
      type: "Normal",
      reason: "SuccessfulDelete",
      message: `Delete Pod ${pod.metadata.name} in StatefulSet ${set.metadata.name} successful`,
    });
  }

  /**
   * Deletes pods of older templates, from the last to the first that the partition gives free, one
   * at a time.
   */
  async function replaceOutdated(
    { set, history, pods: own }: Family,
    start: number,
    end: number,
  ): Promise<void> {
    if (set.spec.updateStrategy?.type === "OnDelete") return;
    const partition = start + (set.spec.updateStrategy?.rollingUpdate?.partition ?? 0);
    let isWaiting = false;
    for (let ordinal = end - 1; ordinal >= partition && !isWaiting; ordinal--) {
      const pod = own.find((one) => ordinalOf(set, one) === ordinal);
      if (pod && revisionOf(pod) !== history.update.metadata.name && !isDeleting(pod)) {
        await remove(set, pod);
        isWaiting = true;
      } else if (!pod || !isHealthy(pod)) isWaiting = true;
    }
  }

  async function report({ set: before, history, current }: Family): Promise<void> {
    const set = stored(registry, sets, `${namespaceOf(before)}/${before.metadata.name}`);
    if (!set) return;
    const own = controlledBy(registry, pods, set.metadata.uid).filter(
      (pod) => ordinalOf(set, pod) !== undefined,
    );
    const ready = own.filter((pod) => pod.status?.phase === "Running" && isReady(pod));
    const minReadySeconds = set.spec.minReadySeconds ?? 0;
    const { available } = availability(ready, minReadySeconds, clock.now());
    const of = (revision: Stored<ControllerRevision>) =>
      own.filter((pod) => !isDeleting(pod) && revisionOf(pod) === revision.metadata.name).length;
    const updated = of(history.update);
    const wanted = wantedReplicas(set);
    const complete =
      set.spec.updateStrategy?.type !== "OnDelete" &&
      updated === wanted &&
      own.length === wanted &&
      ready.length === wanted;
    const shown = complete ? history.update : current;
    await writeStatus(
      registry,
      sets,
      set,
      {
        observedGeneration: Number(set.metadata.generation ?? 0),
        replicas: own.length,
        ...count("readyReplicas", ready.length),
        ...count("currentReplicas", of(shown)),
        ...count("updatedReplicas", updated),
        currentRevision: shown.metadata.name,
        updateRevision: history.update.metadata.name,
        collisionCount: history.collisions,
        availableReplicas: available.length,
      },
      context,
    );
  }
}

function again(nextMs: number | undefined): Again | undefined {
  return nextMs === undefined ? undefined : { requeueAfterMs: nextMs };
}

function isOutside(set: Stored<StatefulSet>, pod: Stored<Pod>, start: number, end: number): boolean {
  const ordinal = ordinalOf(set, pod) ?? 0;
  return ordinal < start || ordinal >= end;
}

function isHealthy(pod: Stored<Pod>): boolean {
  return pod.status?.phase === "Running" && isReady(pod) && !isDeleting(pod);
}

function revisionOf(pod: Stored<Pod>): string {
  return textOf(pod.metadata.labels?.[revisionLabel]);
}
