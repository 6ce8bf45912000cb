import type { DaemonSet, Node, Pod, PodSpec, Toleration } from "@windlass/kinds/builtin";
import { eventRecorder } from "../../controllers/events.ts";
import {
  type Again,
  type ControllerDependencies,
  ownKey,
  type Running,
  startLoop,
} from "../../controllers/loop.ts";
import {
  allStored,
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
import { availability, isFinished, isReady, podFromTemplate, templateOf } from "../../controllers/pods.ts";
import { type History, revisionHash, revisionHistory, truncateHistory } from "../../controllers/revisions.ts";
import { equal, textOf } from "../../json.ts";
import { namespaceOf } from "../../json-fields.ts";
import { isWantedNode, untolerated } from "../../node/fitting.ts";
import { StatusError } from "../../status.ts";
import type { StoredObject } from "../../storage/store.ts";
import type { Draft, Stored } from "../../storage/typed.ts";
import { resolvePercent } from "../deployment/rollout.ts";

const hashLabel = "controller-revision-hash";
const naming = { label: hashLabel };
const generationKey = "deprecated.daemonset.template.generation";

/** Taints that daemons tolerate: they belong to the node, whatever its state. */
const daemonTolerations: readonly Toleration[] = [
  { key: "node.kubernetes.io/not-ready", operator: "Exists", effect: "NoExecute" },
  { key: "node.kubernetes.io/unreachable", operator: "Exists", effect: "NoExecute" },
  { key: "node.kubernetes.io/disk-pressure", operator: "Exists", effect: "NoSchedule" },
  { key: "node.kubernetes.io/memory-pressure", operator: "Exists", effect: "NoSchedule" },
  { key: "node.kubernetes.io/pid-pressure", operator: "Exists", effect: "NoSchedule" },
  { key: "node.kubernetes.io/unschedulable", operator: "Exists", effect: "NoSchedule" },
];

interface Placed {
  readonly node: Stored<Node>;
  readonly pods: readonly Stored<Pod>[];
  readonly shouldRun: boolean;
  readonly mayStay: boolean;
}

type Affinity = NonNullable<PodSpec["affinity"]>;

/** Runs one pod on every eligible node. */
export function startDaemonSets(deps: ControllerDependencies): Running {
  const { registry } = deps;
  const { store, clock } = registry;
  const context = controllerContext("daemon-set-controller");
  const record = eventRecorder(registry, { component: "daemonset-controller", context });
  const sets = builtin<DaemonSet>(registry, "apps", "v1", "daemonsets");
  const pods = builtin<Pod>(registry, "", "v1", "pods");
  const nodes = builtin<Node>(registry, "", "v1", "nodes");

  return startLoop(deps, {
    name: "daemonset-controller",
    watches: {
      [sets.bucket]: ownKey,
      [pods.bucket]: claimantKeys(registry, sets),
      [nodes.bucket]: ({ entry, previous }) =>
        previous && samePlace(previous.object, entry.object)
          ? []
          : store.list(sets.bucket).entries.map(({ key }) => key),
    },
    reconcile: async (key) => {
      const set = stored(registry, sets, key);
      if (!set) return undefined;
      const own = await claim(registry, set, pods, context);
      if (isDeleting(set)) return undefined;
      const history = await revisionHistory(registry, set, context, naming);
      const placed = place(set, own);
      const failure = await keep(set, history, placed);
      if (!failure) await replaceOutdated(set, history, place(set, podsOf(set)));
      await truncateHistory(
        registry,
        set,
        history.revisions,
        (revision) =>
          revision === history.update || own.some((pod) => hashOf(pod) === revisionHash(revision, naming)),
        context,
      );
      const again = await report(key, history);
      if (failure) throw failure;
      return again;
    },
  });

  function podsOf(set: Stored<DaemonSet>): Stored<Pod>[] {
    return controlledBy(registry, pods, set.metadata.uid);
  }

  function place(set: Stored<DaemonSet>, own: readonly Stored<Pod>[]): Placed[] {
    const template = templateOf(set).spec;
    const tolerations = [...(template.tolerations ?? []), ...daemonTolerations];
    const spec = { ...template, tolerations };
    return allStored(registry, nodes).map((node) => {
      const named = template.nodeName;
      const { taints = [] } = node.spec ?? {};
      const wanted = (!named || named === node.metadata.name) && isWantedNode(spec, node);
      return {
        node,
        pods: own.filter((pod) => nodeOf(pod) === node.metadata.name),
        shouldRun: wanted && !untolerated(spec, taints, ["NoSchedule", "NoExecute"]),
        mayStay: wanted && !untolerated(spec, taints, ["NoExecute"]),
      };
    });
  }

  /** One pod on each node that should have one, none elsewhere. @returns what kept it from that */
  async function keep(
    set: Stored<DaemonSet>,
    history: History,
    placed: readonly Placed[],
  ): Promise<StatusError | undefined> {
    const surges = surgeOf(set, placed) > 0;
    for (const { node, pods: here, shouldRun, mayStay } of placed) {
      const finished = here.filter((pod) => isFinished(pod) && !isDeleting(pod));
      for (const pod of finished) {
        const failed = pod.status?.phase === "Failed";
        await record(set, {
          type: failed ? "Warning" : "Normal",
          reason: failed ? "FailedDaemonPod" : "SucceededDaemonPod",
          message: `Found ${failed ? "failed" : "succeeded"} daemon pod ${namespaceOf(pod)}/${pod.metadata.name} on node ${node.metadata.name}, will try to ${failed ? "kill" : "delete"} it`,
        });
        await remove(set, pod);
      }
      const living = here.filter((pod) => !isFinished(pod) && !isDeleting(pod));
      if (!mayStay) for (const pod of living) await remove(set, pod);
      else if (shouldRun && here.length === finished.length) {
        try {
          await create(set, history, node);
        } catch (error) {
          if (!(error instanceof StatusError)) throw error;
          await record(set, {
            type: "Warning",
            reason: "FailedCreate",
            message: `Error creating: ${error.message}`,
          });
          return error;
        }
      } else
        for (const pod of surplusOn(set, history, living, surges ? "surging" : "single"))
          await remove(set, pod);
    }
    const known = new Set(placed.map(({ node }) => node.metadata.name));
    for (const pod of podsOf(set)) if (!known.has(nodeOf(pod))) await remove(set, pod);
    return undefined;
  }

  /**
   * Which of a node's pods are too many: all but the oldest, or while an update may run two at a
   * time, all but the oldest of each template, and the old one as soon as it does not serve any
   * more or its successor does.
   */
  function surplusOn(
    set: Stored<DaemonSet>,
    history: History,
    living: readonly Stored<Pod>[],
    mode: "single" | "surging",
  ): Stored<Pod>[] {
    const [first, ...rest] = living.toSorted(byAge);
    if (!first || rest.length === 0) return [];
    if (mode === "single") return rest;
    const hash = revisionHash(history.update, naming);
    const ordered = [first, ...rest];
    const fresh = ordered.find((pod) => hashOf(pod) === hash);
    const old = ordered.find((pod) => hashOf(pod) !== hash);
    const isOver = fresh && old && (!isReady(old) || serves(set, fresh));
    return ordered.filter((pod) => (pod !== fresh && pod !== old) || (pod === old && isOver));
  }

  function serves(set: Stored<DaemonSet>, pod: Stored<Pod>): boolean {
    const minReadySeconds = set.spec.minReadySeconds ?? 0;
    return !isDeleting(pod) && availability([pod], minReadySeconds, clock.now()).available.length > 0;
  }

  async function create(set: Stored<DaemonSet>, history: History, node: Stored<Node>): Promise<void> {
    const pod = podFromTemplate(templateOf(set), set);
    const { metadata, spec } = pod;
    const generation = set.metadata.annotations?.[generationKey];
    metadata.labels = {
      ...metadata.labels,
      [hashLabel]: revisionHash(history.update, naming),
      ...(generation === undefined ? {} : { "pod-template-generation": generation }),
    };
    const tolerations = spec.tolerations ?? [];
    spec.tolerations = [...tolerations, ...missing(tolerations)];
    spec.affinity = pinned(spec.affinity, node.metadata.name);
    const created = await createObject(registry, pods, namespaceOf(set), pod, context);
    await record(set, {
      type: "Normal",
      reason: "SuccessfulCreate",
      message: `Created pod: ${created.metadata.name}`,
    });
  }

  async function remove(set: Stored<DaemonSet>, pod: Stored<Pod>): Promise<void> {
    if (isDeleting(pod) || !(await deleteIfPresent(registry, pods, pod, context))) return;
    await record(set, {
      type: "Normal",
      reason: "SuccessfulDelete",
      message: `Deleted pod: ${pod.metadata.name}`,
    });
  }

  /** Deletes pods of older templates, as many at a time as may be missing. */
  async function replaceOutdated(
    set: Stored<DaemonSet>,
    history: History,
    placed: readonly Placed[],
  ): Promise<void> {
    if (set.spec.updateStrategy?.type !== "RollingUpdate") return;
    const hash = revisionHash(history.update, naming);
    const wanted = placed.filter(({ shouldRun }) => shouldRun);
    const rolling = set.spec.updateStrategy?.rollingUpdate ?? {};
    const surge = surgeOf(set, placed);
    const outdated = (pod: Stored<Pod>) => hashOf(pod) !== hash && !isDeleting(pod);
    if (surge > 0) {
      const pairs = wanted.map(({ node, pods: here }) => {
        const living = here.filter((pod) => !isDeleting(pod));
        const fresh = living.find((pod) => hashOf(pod) === hash);
        return { node, living, fresh, old: living.find(outdated) };
      });
      let left = surge - pairs.filter(({ fresh, old }) => fresh && old && !serves(set, fresh)).length;
      for (const { node, fresh, old } of pairs) {
        if (!old || fresh) continue;
        // An unavailable old pod does not make its successor a surge pod.
        if (serves(set, old) && left-- <= 0) continue;
        await create(set, history, node);
      }
      return;
    }
    const allowed = Math.max(1, resolvePercent(rolling.maxUnavailable ?? 1, wanted.length, Math.ceil));
    let unavailable = wanted.filter(({ pods: here }) => !here.some((pod) => serves(set, pod))).length;
    // Unavailable pods are deleted at once.
    const candidates = wanted.flatMap(({ pods: here }) => here.filter(outdated));
    for (const pod of candidates.filter((one) => !serves(set, one))) await remove(set, pod);
    for (const pod of candidates.filter((one) => serves(set, one))) {
      if (unavailable >= allowed) return;
      unavailable++;
      await remove(set, pod);
    }
  }

  async function report(key: string, history: History): Promise<Again | undefined> {
    const set = stored(registry, sets, key);
    if (!set) return undefined;
    const hash = revisionHash(history.update, naming);
    const minReadySeconds = set.spec.minReadySeconds ?? 0;
    let [desired, current, misscheduled, ready, available, updated] = [0, 0, 0, 0, 0, 0];
    let nextMs: number | undefined;
    for (const { pods: here, shouldRun } of place(set, podsOf(set))) {
      for (const one of here) {
        const { nextMs: soon } = availability([one], minReadySeconds, clock.now());
        if (soon !== undefined) nextMs = Math.min(nextMs ?? Number.POSITIVE_INFINITY, soon);
      }
      const [pod] = here.toSorted(byAge);
      if (!shouldRun) {
        if (pod) misscheduled++;
        continue;
      }
      desired++;
      if (!pod) continue;
      current++;
      if (hashOf(pod) === hash) updated++;
      if (!isReady(pod)) continue;
      ready++;
      if (availability([pod], minReadySeconds, clock.now()).available.length > 0) available++;
    }
    await writeStatus(
      registry,
      sets,
      set,
      {
        currentNumberScheduled: current,
        numberMisscheduled: misscheduled,
        desiredNumberScheduled: desired,
        numberReady: ready,
        observedGeneration: Number(set.metadata.generation ?? 0),
        ...count("updatedNumberScheduled", updated),
        ...count("numberAvailable", available),
        ...count("numberUnavailable", desired - available),
        ...(history.collisions > 0 ? { collisionCount: history.collisions } : {}),
      },
      context,
    );
    return nextMs === undefined ? undefined : { requeueAfterMs: nextMs };
  }
}

function surgeOf(set: Stored<DaemonSet>, placed: readonly Placed[]): number {
  const value = set.spec.updateStrategy?.rollingUpdate?.maxSurge ?? 0;
  return resolvePercent(value, placed.filter(({ shouldRun }) => shouldRun).length, Math.ceil);
}

/** The oldest first. */
function byAge(a: Stored<Pod>, b: Stored<Pod>): number {
  const [left, right] = [textOf(a.metadata.creationTimestamp), textOf(b.metadata.creationTimestamp)];
  if (left !== right) return left < right ? -1 : 1;
  return Number(a.metadata.resourceVersion) - Number(b.metadata.resourceVersion);
}

function hashOf(pod: Stored<Pod>): string {
  return textOf(pod.metadata.labels?.[hashLabel]);
}

/** Where a pod is, or is going to be. */
function nodeOf(pod: Stored<Pod>): string {
  const bound = pod.spec.nodeName;
  if (bound) return textOf(bound);
  const affinity = pod.spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  for (const { matchFields = [] } of affinity?.nodeSelectorTerms ?? []) {
    const [name] = matchFields.find(({ key }) => key === "metadata.name")?.values ?? [];
    if (name !== undefined) return name;
  }
  return "";
}

/** An affinity for one node by its name, whatever else was asked for. */
function pinned(affinity: Draft<Affinity> | undefined, node: string): Draft<Affinity> {
  const matchFields = [{ key: "metadata.name", operator: "In" as const, values: [node] }];
  return {
    ...affinity,
    nodeAffinity: {
      ...affinity?.nodeAffinity,
      requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchFields }] },
    },
  };
}

function missing(tolerations: readonly Toleration[]): Toleration[] {
  return daemonTolerations.filter(
    (wanted) =>
      !tolerations.some(
        ({ key, effect, operator }) =>
          key === wanted.key && effect === wanted.effect && operator === wanted.operator,
      ),
  );
}

/** Whether the node is unchanged in everything that placement depends on. */
function samePlace(a: StoredObject, b: StoredObject): boolean {
  return equal(a.metadata.labels, b.metadata.labels) && equal(a.spec, b.spec);
}
