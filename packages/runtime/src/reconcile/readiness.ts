import type { AnyKind, KubernetesObject, ObjectOf } from "@windlass/client";
import { conditionsOf } from "./condition.ts";

/** The parts of objects that readiness is read from. */
interface ReadinessFields extends KubernetesObject {
  readonly spec?: { readonly replicas?: number; readonly type?: string };
  readonly status?: {
    readonly observedGeneration?: number;
    readonly replicas?: number;
    readonly updatedReplicas?: number;
    readonly availableReplicas?: number;
    readonly desiredNumberScheduled?: number;
    readonly updatedNumberScheduled?: number;
    readonly numberAvailable?: number;
    readonly phase?: string;
    readonly loadBalancer?: { readonly ingress?: readonly unknown[] };
  };
}

/**
 * Whether an object is up and as its spec says, by the rules of `kubectl rollout status` and
 * `kubectl wait`: workloads when all replicas are of the present template and available, Jobs when
 * they are complete, custom kinds when their condition `Ready` is true. Kinds that have nothing to
 * wait for are ready when they exist.
 *
 * A PersistentVolumeClaim is ready when it exists: one that waits for its first consumer is bound
 * only after that.
 *
 * @example
 * child(Deployment, web, { after: [child(StatefulSet, database)] }) // waits until isReady(StatefulSet, …)
 */
export function isReady<K extends AnyKind>(kind: K, object: ObjectOf<K>): boolean {
  if (object.metadata.deletionTimestamp !== undefined) return false;
  const seen = object as ReadinessFields;
  const rule = rules[`${kind.group}/${kind.kind}`];
  return rule ? rule(seen) : isReadyByCondition(kind, seen);
}

type Rule = (object: ReadinessFields) => boolean;

/** Whether its controller has seen the present spec. */
function isObserved({ metadata, status }: ReadinessFields): boolean {
  return (status?.observedGeneration ?? 0) >= (metadata.generation ?? 0);
}

const hasAllReplicas: Rule = (object) => {
  const wanted = object.spec?.replicas ?? 1;
  const { replicas = 0, updatedReplicas = 0, availableReplicas = 0 } = object.status ?? {};
  return (
    isObserved(object) && replicas === wanted && updatedReplicas === wanted && availableReplicas === wanted
  );
};

const rules: Readonly<Record<string, Rule>> = {
  "apps/Deployment": hasAllReplicas,
  "apps/StatefulSet": hasAllReplicas,
  "apps/ReplicaSet": (object) =>
    isObserved(object) && (object.status?.availableReplicas ?? 0) === (object.spec?.replicas ?? 1),
  "apps/DaemonSet": (object) => {
    const {
      desiredNumberScheduled = 0,
      updatedNumberScheduled = 0,
      numberAvailable = 0,
    } = object.status ?? {};
    const isRolledOut =
      updatedNumberScheduled === desiredNumberScheduled && numberAvailable === desiredNumberScheduled;
    return isObserved(object) && isRolledOut;
  },
  "batch/Job": (object) => isTrue(object, "Complete"),
  "/Pod": (object) => object.status?.phase === "Succeeded" || isTrue(object, "Ready"),
  "/Namespace": ({ status }) => status?.phase === "Active",
  "/Service": ({ spec, status }) =>
    spec?.type !== "LoadBalancer" || (status?.loadBalancer?.ingress ?? []).length > 0,
  "apiextensions.k8s.io/CustomResourceDefinition": (object) => isTrue(object, "Established"),
  "apiregistration.k8s.io/APIService": (object) => isTrue(object, "Available"),
};

/** Kinds that define a status are not ready before they say so. */
function isReadyByCondition(kind: AnyKind, object: ReadinessFields): boolean {
  const ready = conditionsOf(object.status).find(({ type }) => type === "Ready");
  if (!ready) return !hasStatus(kind);
  const { generation } = object.metadata;
  const isCurrent =
    ready.observedGeneration === undefined ||
    generation === undefined ||
    ready.observedGeneration >= generation;
  return ready.status === "True" && isCurrent;
}

function hasStatus(kind: AnyKind): boolean {
  return (
    "definition" in kind &&
    typeof kind.definition === "object" &&
    kind.definition !== null &&
    "status" in kind.definition &&
    kind.definition.status !== undefined
  );
}

function isTrue(object: ReadinessFields, type: string): boolean {
  return conditionsOf(object.status).some((one) => one.type === type && one.status === "True");
}
