import { replaceCondition } from "../controllers/conditions.ts";
import { eventName, reference } from "../controllers/events.ts";
import { type ControllerWorld, type Running, startLoop } from "../controllers/loop.ts";
import {
  builtin,
  controllerContext,
  createObject,
  edit,
  isDeleting,
  listAt,
  mapAt,
  namespaceOf,
  writeStatus,
} from "../controllers/objects.ts";
import { within } from "../controllers/ownership.ts";
import { isFinished } from "../controllers/pods.ts";
import { claimsOf } from "../controllers/volume-protection.ts";
import { type JsonObject, textOf } from "../json.ts";
import { selectorMatcher } from "../registry/label-selector.ts";
import { microTimestamp, timestamp } from "../registry/metadata.ts";
import { StatusError } from "../status.ts";
import { field, type LogRecord, type StoredObject } from "../storage/store.ts";
import { type Amounts, addTo, amounts, isWantedNode, requestsOf, untolerated } from "./fitting.ts";

const name = "default-scheduler";

/** What the pods of a node take up. */
interface Load {
  pods: number;
  readonly amounts: Amounts;
}

/** Why a pod cannot be on a node; whether others would have to go for it to fit. */
interface Refusal {
  readonly reasons: readonly string[];
  readonly helpless: boolean;
}

/**
 * Puts pods on nodes: on those they ask for, where they fit, the emptiest first. Preferences are not weighed, and nobody is thrown
 * out to make room.
 */
export function startScheduler(world: ControllerWorld): Running {
  const { registry } = world;
  const { store, clock } = registry;
  const pods = builtin(registry, "", "v1", "pods");
  const events = builtin(registry, "", "v1", "events");
  const claims = builtin(registry, "", "v1", "persistentvolumeclaims");
  const context = {
    ...controllerContext("", "kube-scheduler"),
    user: { name: "system:kube-scheduler", groups: ["system:authenticated"] },
  };
  const loads = new Map<string, Load>();
  /** Pods that found no node: any change may be the one they wait for. */
  const pending = new Set<string>();

  const loop = startLoop(world, {
    name: "kube-scheduler",
    watches: {
      [pods.bucket]: (record) => {
        follow(record);
        const { key, type, entry } = record;
        if (type === "DELETED" || isFinished(entry.object)) return freed(record);
        return field(entry.object, "spec", "nodeName") ? [] : [key];
      },
      nodes: ({ entry, previous }) =>
        previous &&
        previous.object.spec === entry.object.spec &&
        previous.object.metadata.labels === entry.object.metadata.labels
          ? []
          : pending,
      [claims.bucket]: () => pending,
    },
    reconcile: async (key) => {
      const pod = store.get(pods.bucket, key)?.object;
      pending.delete(key);
      if (!pod || isDeleting(pod) || field(pod, "spec", "nodeName")) return undefined;
      if ((field(pod, "spec", "schedulerName") ?? name) !== name) return undefined;
      try {
        await schedule(key, pod);
      } catch (error) {
        // Gone, or placed by somebody else in the meantime.
        if (!(error instanceof StatusError)) throw error;
      }
      return undefined;
    },
  });
  return loop;

  function freed({ key, previous }: LogRecord): Iterable<string> {
    pending.delete(key);
    return previous && field(previous.object, "spec", "nodeName") ? pending : [];
  }

  function follow({ type, entry, previous }: LogRecord): void {
    if (previous) account(previous.object, -1n);
    if (type !== "DELETED") account(entry.object, 1n);
  }

  function account(pod: StoredObject, sign: bigint): void {
    const node = field(pod, "spec", "nodeName");
    if (typeof node !== "string" || node === "" || isFinished(pod)) return;
    const load = loads.get(node) ?? { pods: 0, amounts: new Map() };
    loads.set(node, load);
    load.pods += Number(sign);
    for (const [resource, amount] of requestsOf(pod))
      addTo(load.amounts, new Map([[resource, sign * amount]]));
  }

  async function schedule(key: string, pod: StoredObject): Promise<void> {
    if (listAt(pod, "spec", "schedulingGates").length > 0) {
      await refuse(pod, "SchedulingGated", "Scheduling is blocked due to non-empty scheduling gates");
      return;
    }
    const nodes = store.list("nodes").entries.map(({ object }) => object);
    const early = await claimTrouble(pod);
    if (early !== undefined) {
      pending.add(key);
      await fail(pod, `0/${nodes.length} nodes are available: ${early}. not found`);
      return;
    }
    const verdicts = nodes.map((node) => ({ node, refusal: refusalOf(pod, node) }));
    const fitting = verdicts.filter(({ refusal }) => refusal === undefined).map(({ node }) => node);
    const best = fitting.toSorted(
      (a, b) =>
        (loads.get(a.metadata.name)?.pods ?? 0) - (loads.get(b.metadata.name)?.pods ?? 0) ||
        (a.metadata.name < b.metadata.name ? -1 : 1),
    )[0];
    if (best) await place(pod, best);
    else {
      pending.add(key);
      await fail(pod, why(verdicts.flatMap(({ refusal }) => refusal ?? [])));
    }
  }

  /** Why a pod's claims keep it from any node; undefined if they do not. */
  async function claimTrouble(pod: StoredObject): Promise<string | undefined> {
    for (const claim of claimsOf(pod)) {
      const stored = store.get(claims.bucket, `${namespaceOf(pod)}/${claim}`)?.object;
      if (!stored || isDeleting(stored)) return `persistentvolumeclaim "${claim}" not found`;
      if (field(stored, "status", "phase") === "Bound") continue;
      const className = textOf(field(stored, "spec", "storageClassName"));
      const mode = field(store.get("storageclasses.storage.k8s.io", className)?.object, "volumeBindingMode");
      const chosen = "volume.kubernetes.io/selected-node";
      if (mode === "WaitForFirstConsumer" && field(stored, "metadata", "annotations", chosen) === undefined) {
        const node = store.list("nodes").entries.find(({ object }) => refusalOf(pod, object) === undefined);
        if (!node) continue;
        // The first consumer is here: whoever makes the volume may go ahead.
        await edit(registry, claims, stored, context, (next) => {
          const metadata = next.metadata as JsonObject;
          metadata.annotations = { ...mapAt(metadata, "annotations"), [chosen]: node.object.metadata.name };
        });
      }
      return "pod has unbound immediate PersistentVolumeClaims";
    }
    return undefined;
  }

  function refusalOf(pod: StoredObject, node: StoredObject): Refusal | undefined {
    const spec = (pod.spec ?? {}) as JsonObject;
    const helpless = (reason: string): Refusal => ({ reasons: [reason], helpless: true });
    const shut: JsonObject = { key: "node.kubernetes.io/unschedulable", effect: "NoSchedule" };
    const closed = { ...node, spec: { taints: [shut] } };
    if (field(node, "spec", "unschedulable") === true && untolerated(spec, closed, ["NoSchedule"])) {
      return helpless("node(s) were unschedulable");
    }
    const taint = untolerated(spec, node, ["NoSchedule", "NoExecute"]);
    if (taint) return helpless("node(s) had untolerated taint(s)");
    if (!isWantedNode(spec, node)) return helpless("node(s) didn't match Pod's node affinity/selector");
    const short = shortages(pod, node);
    if (short) return short;
    const neighbours = neighbourTrouble(pod, node);
    return neighbours === undefined ? undefined : { reasons: [neighbours], helpless: false };
  }

  function shortages(pod: StoredObject, node: StoredObject): Refusal | undefined {
    const load = loads.get(node.metadata.name);
    const room = amounts(field(node, "status", "allocatable"));
    const billion = 1_000_000_000n;
    const reasons: string[] = [];
    let helpless = false;
    const most = room.get("pods");
    if (most !== undefined && BigInt((load?.pods ?? 0) + 1) * billion > most) reasons.push("Too many pods");
    for (const [resource, wanted] of requestsOf(pod)) {
      const total = room.get(resource) ?? 0n;
      if (wanted === 0n || wanted + (load?.amounts.get(resource) ?? 0n) <= total) continue;
      reasons.push(`Insufficient ${resource}`);
      helpless ||= wanted > total;
    }
    return reasons.length > 0 ? { reasons, helpless } : undefined;
  }

  /** Why the pods that are on a node, or near it, keep this one away; undefined if they do not. */
  function neighbourTrouble(pod: StoredObject, node: StoredObject): string | undefined {
    const required = "requiredDuringSchedulingIgnoredDuringExecution";
    const affinity = listAt(pod, "spec", "affinity", "podAffinity", required);
    const aversion = listAt(pod, "spec", "affinity", "podAntiAffinity", required);
    const own = pod.metadata.labels as JsonObject | undefined;
    for (const term of affinity) {
      const near = isNear(pod, node, term);
      // A pod that would be its own first neighbour has to start somewhere.
      const first = !near && selectorMatcher(term.labelSelector)(own) && !isAnywhere(pod, term);
      if (!near && !first) return "node(s) didn't match pod affinity rules";
    }
    return aversion.some((term) => isNear(pod, node, term))
      ? "node(s) didn't match pod anti-affinity rules"
      : undefined;
  }

  function* matching(pod: StoredObject, term: JsonObject): Generator<StoredObject> {
    const matches = selectorMatcher(term.labelSelector);
    const namespaces = (term.namespaces ?? [namespaceOf(pod)]) as string[];
    for (const namespace of namespaces) {
      for (const other of within(registry, pods.bucket, namespace)) {
        const placed = field(other, "spec", "nodeName") !== undefined && !isFinished(other);
        if (placed && other !== pod && matches(other.metadata.labels as JsonObject | undefined)) yield other;
      }
    }
  }

  function isAnywhere(pod: StoredObject, term: JsonObject): boolean {
    return matching(pod, term).next().done !== true;
  }

  function isNear(pod: StoredObject, node: StoredObject, term: JsonObject): boolean {
    const key = textOf(term.topologyKey);
    const domain = field(node, "metadata", "labels", key);
    if (domain === undefined) return false;
    for (const other of matching(pod, term)) {
      const there = store.get("nodes", textOf(field(other, "spec", "nodeName")))?.object;
      if (field(there, "metadata", "labels", key) === domain) return true;
    }
    return false;
  }

  async function place(pod: StoredObject, node: StoredObject): Promise<void> {
    await edit(
      registry,
      pods,
      pod,
      context,
      (next) => {
        next.spec = { ...(next.spec as JsonObject), nodeName: node.metadata.name };
        next.status = {
          ...((next.status ?? {}) as JsonObject),
          conditions: replaceCondition(listAt(next, "status", "conditions"), scheduled(pod, "True")),
        };
      },
      "binding",
    );
    await tell(
      pod,
      "Normal",
      "Scheduled",
      "Binding",
      `Successfully assigned ${namespaceOf(pod)}/${pod.metadata.name} to ${node.metadata.name}`,
    );
  }

  function scheduled(pod: StoredObject, status: string, reason?: string, message?: string): JsonObject {
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

  async function fail(pod: StoredObject, message: string): Promise<void> {
    const known = listAt(pod, "status", "conditions").find(({ type }) => type === "PodScheduled");
    await refuse(pod, "Unschedulable", message);
    if (known?.message !== message) await tell(pod, "Warning", "FailedScheduling", "Scheduling", message);
  }

  async function refuse(pod: StoredObject, reason: string, message: string): Promise<void> {
    const conditions = replaceCondition(
      listAt(pod, "status", "conditions"),
      scheduled(pod, "False", reason, message),
    );
    const status = { ...((pod.status ?? {}) as JsonObject), conditions };
    await writeStatus(registry, pods, pod, status, context);
  }

  /** The scheduler speaks the newer dialect of events. */
  async function tell(
    pod: StoredObject,
    type: string,
    reason: string,
    action: string,
    note: string,
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
        },
        context,
      );
    } catch (error) {
      if (!(error instanceof StatusError)) throw error;
    }
  }
}

/** The refusals of all nodes in one sentence, as the real scheduler puts it. */
function why(refusals: readonly Refusal[]): string {
  const total = refusals.length;
  const tally = new Map<string, number>();
  for (const { reasons } of refusals)
    for (const reason of reasons) tally.set(reason, (tally.get(reason) ?? 0) + 1);
  const words = [...tally].map(([reason, times]) => `${times} ${reason}`).sort();
  const helpless = refusals.filter((refusal) => refusal.helpless).length;
  const rest = [
    ...(total - helpless > 0 ? [`${total - helpless} No preemption victims found for incoming pod`] : []),
    ...(helpless > 0 ? [`${helpless} Preemption is not helpful for scheduling`] : []),
  ].sort();
  if (total === 0) return "no nodes available to schedule pods";
  return `0/${total} nodes are available: ${words.join(", ")}. no new claims to deallocate, preemption: 0/${total} nodes are available: ${rest.join(", ")}.`;
}
