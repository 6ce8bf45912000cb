import type { Node, PersistentVolumeClaim, Pod, StorageClass, Taint } from "@windlass/kinds/builtin";
import { claimsOf } from "../builtin/persistent-volume/protection.ts";
import { replaceCondition, type WrittenPodCondition } from "../controllers/conditions.ts";
import { eventName, reference } from "../controllers/events.ts";
import { type ControllerDependencies, type Running, startLoop } from "../controllers/loop.ts";
import {
  allStored,
  builtin,
  controllerContext,
  createObject,
  deleteIfPresent,
  edit,
  isDeleting,
  stored,
  writeStatus,
} from "../controllers/objects.ts";
import { isFinished, podCondition } from "../controllers/pods.ts";
import { namespaceOf } from "../json-fields.ts";
import { microTimestamp, timestamp } from "../registry/metadata.ts";
import { StatusError } from "../status.ts";
import type { LogRecord, StoredObject } from "../storage/store.ts";
import { type Stored, typed } from "../storage/typed.ts";
import {
  type Amounts,
  addTo,
  amounts,
  hostPortsOf,
  isWantedNode,
  type Rejection,
  requestsOf,
  sharesHostPort,
  untolerated,
} from "./fitting.ts";
import { hasAntiAffinity, Neighbours } from "./neighbours.ts";

const name = "default-scheduler";

/** What the pods of a node take up. */
interface Load {
  pods: number;
  readonly amounts: Amounts;
}

/** An event of the scheduler about a pod. */
interface SchedulerEvent {
  readonly type: "Normal" | "Warning";
  readonly reason: string;
  readonly action: string;
  readonly note: string;
  /** The other pod that it is about. */
  readonly related?: StoredObject;
}

/**
 * Puts pods on nodes: on those they ask for, where they fit; of these on those they would rather
 * have, and else on the emptiest. Where a pod fits nowhere, pods of lower priority are preempted if
 * that makes room for it. Disruption budgets are ignored.
 */
export function startScheduler(deps: ControllerDependencies): Running {
  const { registry } = deps;
  const { store, clock } = registry;
  const pods = builtin<Pod>(registry, "", "v1", "pods");
  const nodes = builtin<Node>(registry, "", "v1", "nodes");
  const events = builtin(registry, "", "v1", "events");
  const claims = builtin<PersistentVolumeClaim>(registry, "", "v1", "persistentvolumeclaims");
  const classes = builtin<StorageClass>(registry, "storage.k8s.io", "v1", "storageclasses");
  const context = {
    ...controllerContext("", "kube-scheduler"),
    user: { name: "system:kube-scheduler", groups: ["system:authenticated"] },
  };
  const loads = new Map<string, Load>();
  /** Pods with required anti-affinity, by uid. */
  const withAntiAffinity = new Map<string, Stored<Pod>>();
  /** Pods that take ports of their node. */
  const withHostPorts = new Map<string, Stored<Pod>>();
  /** How many placed pods there are of each priority. */
  const priorities = new Map<number, number>();
  /** Pods that found no node: any change may be the one they wait for. */
  const pending = new Set<string>();

  const loop = startLoop(deps, {
    name: "kube-scheduler",
    watches: {
      [pods.bucket]: (record) => {
        follow(record);
        const { key, type, entry } = record;
        const pod = typed<Pod>(entry.object);
        if (type === "DELETED" || isFinished(pod)) return freed(record);
        return pod.spec.nodeName ? [] : [key];
      },
      [nodes.bucket]: ({ entry, previous }) =>
        previous &&
        previous.object.spec === entry.object.spec &&
        previous.object.metadata.labels === entry.object.metadata.labels
          ? []
          : pending,
      [claims.bucket]: () => pending,
    },
    reconcile: async (key) => {
      const pod = stored(registry, pods, key);
      pending.delete(key);
      if (!pod || isDeleting(pod) || pod.spec.nodeName) return undefined;
      if ((pod.spec.schedulerName ?? name) !== name) return undefined;
      try {
        await schedule(key, pod);
      } catch (error) {
        // Deleted, or bound by another scheduler in the meantime.
        if (!(error instanceof StatusError)) throw error;
      }
      return undefined;
    },
  });
  return loop;

  function freed({ key, previous }: LogRecord): Iterable<string> {
    pending.delete(key);
    return previous && typed<Pod>(previous.object).spec.nodeName ? pending : [];
  }

  function follow({ type, entry, previous }: LogRecord): void {
    if (previous) account(typed(previous.object), -1n);
    if (type !== "DELETED") account(typed(entry.object), 1n);
  }

  function account(pod: Stored<Pod>, sign: bigint): void {
    const node = pod.spec.nodeName;
    if (!node || isFinished(pod)) return;
    const load = loads.get(node) ?? { pods: 0, amounts: new Map() };
    loads.set(node, load);
    load.pods += Number(sign);
    const priority = priorityOf(pod);
    priorities.set(priority, (priorities.get(priority) ?? 0) + Number(sign));
    if (sign < 0n) {
      withAntiAffinity.delete(pod.metadata.uid);
      withHostPorts.delete(pod.metadata.uid);
    } else {
      if (hasAntiAffinity(pod)) withAntiAffinity.set(pod.metadata.uid, pod);
      if (hostPortsOf(pod).length > 0) withHostPorts.set(pod.metadata.uid, pod);
    }
    for (const [resource, amount] of requestsOf(pod))
      addTo(load.amounts, new Map([[resource, sign * amount]]));
  }

  /** What is taken up on a node, except by pods that are treated as gone. */
  function loadOf(node: string, absent: ReadonlySet<Stored<Pod>>): Load | undefined {
    const load = loads.get(node);
    if (!load || absent.size === 0) return load;
    const left = new Map(load.amounts);
    for (const pod of absent)
      for (const [resource, amount] of requestsOf(pod)) addTo(left, new Map([[resource, -amount]]));
    return { pods: load.pods - absent.size, amounts: left };
  }

  async function schedule(key: string, pod: Stored<Pod>): Promise<void> {
    if (pod.spec.schedulingGates?.length) {
      await refuse(pod, "SchedulingGated", "Scheduling is blocked due to non-empty scheduling gates");
      return;
    }
    const known = allStored(registry, nodes);
    const early = await claimFault(pod);
    if (early !== undefined) {
      pending.add(key);
      await fail(pod, `0/${known.length} nodes are available: ${early}. not found`);
      return;
    }
    const neighbours = new Neighbours(registry, [...withAntiAffinity.values()]);
    const verdicts = known.map((node) => ({ node, rejection: rejectionOf(pod, node, neighbours) }));
    const fitting = verdicts.filter(({ rejection }) => rejection === undefined).map(({ node }) => node);
    const scores = new Map(fitting.map((node) => [node, neighbours.score(pod, node)]));
    const best = fitting.toSorted(
      (a, b) =>
        (scores.get(b) ?? 0) - (scores.get(a) ?? 0) ||
        (loads.get(a.metadata.name)?.pods ?? 0) - (loads.get(b.metadata.name)?.pods ?? 0) ||
        (a.metadata.name < b.metadata.name ? -1 : 1),
    )[0];
    if (best) {
      await place(pod, best);
      return;
    }
    pending.add(key);
    const rejections = verdicts.flatMap(({ rejection }) => rejection ?? []);
    const nominated = pod.status?.nominatedNodeName ?? "";
    if (isMakingRoom(pod, nominated)) {
      const words =
        "no new claims to deallocate, preemption: not eligible due to a terminating pod on the nominated node.";
      await fail(pod, `${rejectionText(rejections)} ${words}`);
      return;
    }
    const candidates = verdicts.flatMap(({ node, rejection }) => (rejection?.unresolvable ? [] : [node]));
    const node = await preempt(pod, candidates);
    await fail(pod, node === undefined ? preemptionText(rejections) : rejectionText(rejections), node);
  }

  /** Whether a pod of lower priority is being deleted to make room. */
  function isMakingRoom(pod: Stored<Pod>, nominated: string): boolean {
    if (nominated === "") return false;
    for (const { object } of store.entries(pods.bucket)) {
      const other = typed<Pod>(object);
      const isThere = other.spec.nodeName === nominated;
      if (isThere && isDeleting(other) && priorityOf(other) < priorityOf(pod)) return true;
    }
    return false;
  }

  /** Why a pod's claims keep it from any node; undefined if they do not. */
  async function claimFault(pod: Stored<Pod>): Promise<string | undefined> {
    for (const claimName of claimsOf(pod)) {
      const claim = stored(registry, claims, `${namespaceOf(pod)}/${claimName}`);
      if (!claim || isDeleting(claim)) return `persistentvolumeclaim "${claimName}" not found`;
      if (claim.status?.phase === "Bound") continue;
      const mode = stored(registry, classes, claim.spec.storageClassName ?? "")?.volumeBindingMode;
      const chosen = "volume.kubernetes.io/selected-node";
      if (mode === "WaitForFirstConsumer" && claim.metadata.annotations?.[chosen] === undefined) {
        const neighbours = new Neighbours(registry, [...withAntiAffinity.values()]);
        const node = allStored(registry, nodes).find((one) => !rejectionOf(pod, one, neighbours));
        if (!node) continue;
        // The first consumer is here: the provisioner may go ahead.
        await edit(registry, claims, claim, context, (next) => {
          const { metadata } = next;
          metadata.annotations = { ...metadata.annotations, [chosen]: node.metadata.name };
        });
      }
      return "pod has unbound immediate PersistentVolumeClaims";
    }
    return undefined;
  }

  function rejectionOf(pod: Stored<Pod>, node: Stored<Node>, neighbours: Neighbours): Rejection | undefined {
    const { spec } = pod;
    const { taints = [], unschedulable } = node.spec ?? {};
    const unresolvable = (reason: string): Rejection => ({ reasons: [reason], unresolvable: true });
    if (unschedulable === true && untolerated(spec, [cordoned], ["NoSchedule"])) {
      return unresolvable("node(s) were unschedulable");
    }
    if (untolerated(spec, taints, ["NoSchedule", "NoExecute"]))
      return unresolvable("node(s) had untolerated taint(s)");
    if (!isWantedNode(spec, node)) return unresolvable("node(s) didn't match Pod's node affinity/selector");
    const short = shortages(pod, node);
    if (short) return short;
    return neighbours.rejection(pod, node);
  }

  function shortages(
    pod: Stored<Pod>,
    node: Stored<Node>,
    absent: ReadonlySet<Stored<Pod>> = new Set(),
  ): Rejection | undefined {
    const taken = [...withHostPorts.values()].some(
      (other) =>
        other.spec.nodeName === node.metadata.name && !absent.has(other) && sharesHostPort(pod, other),
    );
    if (taken) {
      return { reasons: ["node(s) didn't have free ports for the requested pod ports"], unresolvable: false };
    }
    const load = loadOf(node.metadata.name, absent);
    const room = amounts(node.status?.allocatable);
    const billion = 1_000_000_000n;
    const reasons: string[] = [];
    let unresolvable = false;
    const most = room.get("pods");
    if (most !== undefined && BigInt((load?.pods ?? 0) + 1) * billion > most) reasons.push("Too many pods");
    for (const [resource, wanted] of requestsOf(pod)) {
      const total = room.get(resource) ?? 0n;
      if (wanted === 0n || wanted + (load?.amounts.get(resource) ?? 0n) <= total) continue;
      reasons.push(`Insufficient ${resource}`);
      unresolvable ||= wanted > total;
    }
    return reasons.length > 0 ? { reasons, unresolvable } : undefined;
  }

  /** Preempts pods of lower priority. @returns the nominated node, if there is one */
  async function preempt(pod: Stored<Pod>, candidates: readonly Stored<Node>[]): Promise<string | undefined> {
    if (pod.spec.preemptionPolicy === "Never") return undefined;
    const priority = priorityOf(pod);
    if (![...priorities].some(([other, count]) => other < priority && count > 0)) return undefined;
    const plans = candidates.flatMap((node) => {
      const victims = victimsOn(pod, node, priority);
      return victims && victims.length > 0 ? [{ node, victims }] : [];
    });
    const [best] = plans.toSorted(
      (a, b) =>
        Math.max(...a.victims.map(priorityOf)) - Math.max(...b.victims.map(priorityOf)) ||
        a.victims.length - b.victims.length ||
        (a.node.metadata.name < b.node.metadata.name ? -1 : 1),
    );
    for (const victim of best?.victims ?? []) {
      const condition: WrittenPodCondition = {
        type: "DisruptionTarget",
        observedGeneration: Number(victim.metadata.generation ?? 1),
        status: "True",
        lastProbeTime: null,
        lastTransitionTime: timestamp(clock),
        reason: "PreemptionByScheduler",
        message: `${name}: preempting to accommodate a higher priority pod`,
      };
      const conditions = replaceCondition(conditionsOf(victim), condition);
      await writeStatus(registry, pods, victim, { ...victim.status, conditions }, context);
      await deleteIfPresent(registry, pods, victim, context);
      const note = `Preempted by pod ${pod.metadata.uid} on node ${best?.node.metadata.name}`;
      await recordEvent(victim, {
        type: "Normal",
        reason: "Preempted",
        action: "Preempting",
        note,
        related: pod,
      });
    }
    return best?.node.metadata.name;
  }

  /**
   * The fewest and least important pods that would have to go; undefined if that would not help.
   */
  function victimsOn(pod: Stored<Pod>, node: Stored<Node>, priority: number): Stored<Pod>[] | undefined {
    const { spec } = pod;
    const { taints = [], unschedulable } = node.spec ?? {};
    const isClosed = unschedulable === true || untolerated(spec, taints, ["NoSchedule", "NoExecute"]);
    if (isClosed || !isWantedNode(spec, node)) return undefined;
    const lowerPriority = [...store.entries(pods.bucket)]
      .map(({ object }) => typed<Pod>(object))
      .filter((other) => other.spec.nodeName === node.metadata.name && !isFinished(other))
      .filter((other) => priorityOf(other) < priority)
      .toSorted((a, b) => priorityOf(b) - priorityOf(a) || (a.metadata.name < b.metadata.name ? -1 : 1));
    const absent = new Set(lowerPriority);
    if (!fitsWithout(pod, node, absent)) return undefined;
    // Spare as many as possible, those of the highest priority first.
    for (const other of lowerPriority) {
      absent.delete(other);
      if (!fitsWithout(pod, node, absent)) absent.add(other);
    }
    return [...absent];
  }

  function fitsWithout(pod: Stored<Pod>, node: Stored<Node>, absent: ReadonlySet<Stored<Pod>>): boolean {
    return (
      shortages(pod, node, absent) === undefined &&
      new Neighbours(registry, [...withAntiAffinity.values()], absent).rejection(pod, node) === undefined
    );
  }

  async function place(pod: Stored<Pod>, node: Stored<Node>): Promise<void> {
    await edit(
      registry,
      pods,
      pod,
      context,
      (next) => {
        next.spec.nodeName = node.metadata.name;
        const { nominatedNodeName: _hoped, ...status } = next.status ?? {};
        const conditions = replaceCondition(conditionsOf(next), scheduled(pod, "True"));
        Object.assign(next, { status: { ...status, conditions } });
      },
      "binding",
    );
    const note = `Successfully assigned ${namespaceOf(pod)}/${pod.metadata.name} to ${node.metadata.name}`;
    await recordEvent(pod, { type: "Normal", reason: "Scheduled", action: "Binding", note });
  }

  function scheduled(
    pod: Stored<Pod>,
    status: string,
    reason?: string,
    message?: string,
  ): WrittenPodCondition {
    return {
      type: "PodScheduled",
      observedGeneration: Number(pod.metadata.generation ?? 1),
      status,
      lastProbeTime: null,
      lastTransitionTime: timestamp(clock),
      ...(reason === undefined ? {} : { reason }),
      ...(message === undefined ? {} : { message }),
    };
  }

  async function fail(pod: Stored<Pod>, message: string, nominated?: string): Promise<void> {
    const known = podCondition(pod, "PodScheduled");
    await refuse(pod, "Unschedulable", message, nominated);
    if (known?.message === message) return;
    await recordEvent(pod, {
      type: "Warning",
      reason: "FailedScheduling",
      action: "Scheduling",
      note: message,
    });
  }

  async function refuse(
    pod: Stored<Pod>,
    reason: string,
    message: string,
    nominated?: string,
  ): Promise<void> {
    const conditions = replaceCondition(conditionsOf(pod), scheduled(pod, "False", reason, message));
    const hope = nominated === undefined ? {} : { nominatedNodeName: nominated };
    const status = { ...pod.status, conditions, ...hope };
    await writeStatus(registry, pods, pod, status, context);
  }

  /** The scheduler writes events of events.k8s.io. */
  async function recordEvent(
    pod: Stored<Pod>,
    { type, reason, action, note, related }: SchedulerEvent,
  ): Promise<void> {
    const namespace = namespaceOf(pod);
    try {
      await createObject(
        registry,
        events,
        namespace,
        {
          metadata: { name: eventName(registry, pod.metadata.name), namespace },
          involvedObject: reference(pod),
          reason,
          message: note,
          source: {},
          firstTimestamp: null,
          lastTimestamp: null,
          type,
          eventTime: microTimestamp(clock),
          action,
          reportingComponent: name,
          reportingInstance: `${name}-windlass`,
          ...(related ? { related: reference(related) } : {}),
        },
        context,
      );
    } catch (error) {
      if (!(error instanceof StatusError)) throw error;
    }
  }
}

/** What keeps pods away from a cordoned node. */
const cordoned: Taint = { key: "node.kubernetes.io/unschedulable", effect: "NoSchedule" };

function priorityOf(pod: Stored<Pod>): number {
  return pod.spec.priority ?? 0;
}

function conditionsOf(pod: Pod): readonly WrittenPodCondition[] {
  return pod.status?.conditions ?? [];
}

/** The rejections of all nodes in one sentence, as the real scheduler puts it. */
function rejectionText(rejections: readonly Rejection[]): string {
  const tally = new Map<string, number>();
  for (const { reasons } of rejections)
    for (const reason of reasons) tally.set(reason, (tally.get(reason) ?? 0) + 1);
  const words = [...tally].map(([reason, times]) => `${times} ${reason}`).sort();
  return `0/${rejections.length} nodes are available: ${words.join(", ")}.`;
}

/** The same, with the result of preemption. */
function preemptionText(rejections: readonly Rejection[]): string {
  const total = rejections.length;
  if (total === 0) return "no nodes available to schedule pods";
  const unresolvable = rejections.filter((rejection) => rejection.unresolvable).length;
  const rest = [
    ...(total - unresolvable > 0
      ? [`${total - unresolvable} No preemption victims found for incoming pod`]
      : []),
    ...(unresolvable > 0 ? [`${unresolvable} Preemption is not helpful for scheduling`] : []),
  ].sort();
  return `${rejectionText(rejections)} no new claims to deallocate, preemption: 0/${total} nodes are available: ${rest.join(", ")}.`;
}
