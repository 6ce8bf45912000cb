import {
  type AnyKind,
  apiVersionOf,
  type DeepPartial,
  type InputOf,
  type KubernetesObject,
  type ObjectKey,
  type ObjectOf,
} from "@windlass/client";
import { type Duration, ManualClock } from "@windlass/clock";
import type { Controller } from "../controller/controller.ts";
import { type ControllerSettings, settings } from "../controller/settings.ts";
import { Registry } from "../metrics/registry.ts";
import {
  type Child,
  checkDistinct,
  type NamedObject,
  wantedChild,
  wantedChildren,
} from "../reconcile/child.ts";
import { checkOrder } from "../reconcile/child-order.ts";
import { describe, keyOf } from "../reconcile/client.ts";
import type { ReconcileContext, StatusFor, Wanted } from "../reconcile/context.ts";
import { deleteObject } from "../reconcile/delete-object.ts";
import type { EventInput } from "../reconcile/events.ts";
import { plainJson } from "../reconcile/json.ts";
import { ownedReader } from "../reconcile/owned.ts";
import { controllerReference } from "../reconcile/owner.ts";
import { checkResult, finalizeResult, reconcileResult } from "../reconcile/result.ts";
import { plainStatus, type StatusObject } from "../reconcile/status.ts";
import { ObjectsInMemory, type RecordedWrite, withDefaults } from "./objects-in-memory.ts";
import { type LoggedLine, recordingLogger } from "./recording-logger.ts";

/** An object that is there when a reconcile begins. Make one with {@link existing}. */
export interface Existing<K extends AnyKind = AnyKind> {
  readonly kind: K;
  readonly object: ObjectOf<K>;
}

/**
 * An object that is there when a reconcile begins, with as many fields as the test needs. Its
 * namespace is that of the reconciled object unless it says otherwise.
 *
 * @example
 * existing(Deployment, { metadata: { name: "shop" }, status: { availableReplicas: 2 } })
 */
export function existing<K extends AnyKind>(
  kind: K,
  object: DeepPartial<ObjectOf<K>> & { readonly metadata: { readonly name: string } },
): Existing<K> {
  // A test says what its reconciler looks at. What it leaves out is not there, whatever the type
  // says.
  return { kind, object: object as unknown as ObjectOf<K> };
}

/** What is there when the reconcile begins. */
export interface ReconcileGiven<Owned extends AnyKind> {
  /** The children of the object. Owner references are set. @default none */
  readonly owned?: readonly Existing<Owned>[];
  /** Other objects. @default none */
  readonly cache?: readonly Existing[];
  /** The wall-clock time. @default 2026-01-01T00:00:00Z */
  readonly now?: Date;
  /** @default 1 */
  readonly attempt?: number;
  /** @default a signal that is never aborted */
  readonly signal?: AbortSignal;
}

/** What a reconcile did and wants. */
export interface ReconcileTried<K extends AnyKind, Owned extends AnyKind> {
  /**
   * The children that were returned and, before them, those that were applied with `context.apply`;
   * as they are sent, so without fields that are undefined.
   */
  readonly children: readonly Child<Owned>[];
  /**
   * The one child of this kind that is wanted, or the one of this name. Undefined if there is none.
   */
  child<C extends Owned>(kind: C, name?: string): InputOf<C> | undefined;
  /** Whether `children` was returned, and so children that are not in it are deleted. */
  readonly prunes: boolean;
  readonly status: StatusFor<K> | undefined;
  readonly requeueAfter: Duration | undefined;
  /** Events that were returned, and those that were recorded with `context.events`. */
  readonly events: readonly EventInput[];
  /** Writes through `context.client`, in order. */
  readonly writes: readonly RecordedWrite[];
  /** What was followed with `context.follow`. */
  readonly followed: readonly { readonly kind: AnyKind; readonly key: ObjectKey }[];
  readonly logs: readonly LoggedLine[];
  readonly metrics: Registry;
}

const defaultNow = Date.UTC(2026, 0, 1);

/**
 * Calls a controller's reconcile function once, or its `finalize` for an object that is being
 * deleted, and tells what it wants. Nothing is started: reads are answered from what is given,
 * writes are recorded.
 *
 * Writes are visible to later reads of the same call: maps are merged, lists are replaced. For what
 * an API server would make of them use `startCluster`.
 *
 * @throws whatever the function throws; ReconcileResultError for a result that the runtime could
 *   not act on, and ChildError for a child that cannot be one, as when the manager runs.
 * @example
 * const { child, status } = await testReconcile(webapp, WebApp.make("shop", { image: "nginx:1.25" }), {
 *   owned: [existing(Deployment, { metadata: { name: "shop" }, status: { availableReplicas: 1 } })],
 * });
 * expect(child(Deployment)?.spec.replicas).toBe(1);
 * expect(status?.availableReplicas).toBe(1);
 */
export async function testReconcile<K extends AnyKind, Owned extends AnyKind>(
  controller: Controller<K, Owned>,
  object: ObjectOf<K>,
  given: ReconcileGiven<NoInfer<Owned>> = {},
): Promise<ReconcileTried<K, Owned>> {
  const rules: ControllerSettings = controller[settings];
  const owner = withDefaults(rules.kind, object, undefined);
  const owned = (given.owned ?? []).map(({ kind, object: child }) => ({
    kind,
    object: withOwner(rules.kind, owner, child),
  }));
  const cache = new ObjectsInMemory(
    [{ kind: rules.kind, object: owner }, ...owned, ...(given.cache ?? [])],
    owner.metadata.namespace,
    rules.indexes,
  );
  const family = { ownerKind: rules.kind, owner, owns: rules.owns };
  const applied: Child[] = [];
  const events: EventInput[] = [];
  const followed: { readonly kind: AnyKind; readonly key: ObjectKey }[] = [];
  const logs: LoggedLine[] = [];
  const metrics = new Registry();
  const now = given.now ?? new Date(defaultNow);
  const context: ReconcileContext = {
    client: cache.client,
    live: cache.client,
    cache,
    ...ownedReader(cache, rules.kind, owner, rules.owns),
    follow: async (kind, key) => {
      followed.push({ kind, key });
      return cache.get(kind, key);
    },
    apply: async <C extends AnyKind>(child: Child<C>) => {
      wantedChild(child, family);
      applied.push(child);
      const wanted = withOwner(rules.kind, owner, child.object as unknown as KubernetesObject);
      return cache.merge(child.kind, wanted) as ObjectOf<C>;
    },
    delete: (kind, object, options) => deleteObject(cache.client, kind, object, options),
    events: {
      normal: (reason, message) => void events.push({ type: "Normal", reason, message }),
      warning: (reason, message) => void events.push({ type: "Warning", reason, message }),
      record: (event) => void events.push(event),
    },
    log: recordingLogger(logs),
    metrics,
    signal: given.signal ?? new AbortController().signal,
    attempt: given.attempt ?? 1,
    key: keyOf(owner),
    reconcileId: "00000000-0000-4000-8000-000000000000",
    clock: new ManualClock(now.getTime()),
    now,
  };
  const isGoing = owner.metadata.deletionTimestamp !== undefined;
  const run = isGoing ? rules.finalize : rules.reconcile;
  const option = isGoing ? "finalize" : "reconcile";
  if (!run) throw new TypeError(`controller ${rules.name} has no ${option}`);
  const result = await run(owner, context);
  checkResult(
    result,
    isGoing ? finalizeResult : reconcileResult,
    `${option} of ${describe(rules.kind, context.key)}`,
    { schema: rules.statusSchema, object: owner },
  );
  const wanted = (result ?? {}) as Wanted<K>;
  const listed = wantedChildren(wanted.children);
  checkDistinct(listed, family);
  checkOrder(listed, (child) => applied.includes(child));
  for (const child of listed) wantedChild(child, family);
  const status = wanted.status && plainStatus(rules.kind, owner, wanted.status as StatusObject);
  // The declaration of the controller holds reconcilers to the kinds that they own.
  const children = asSent([...applied, ...listed]) as readonly unknown[] as readonly Child<Owned>[];
  return {
    children,
    child: <C extends Owned>(kind: C, name?: string) => findChild(children, kind, name),
    prunes: wanted.children !== undefined,
    status: status as StatusFor<K> | undefined,
    requeueAfter: wanted.requeueAfter,
    events: [...events, ...(wanted.events ?? [])],
    writes: cache.writes,
    followed,
    logs,
    metrics,
  };
}

/** The children with their objects as they are sent: without fields that are undefined. */
function asSent(children: readonly Child[]): readonly Child[] {
  const sent = new Map(
    children.map((one) => [one, { ...one, object: plainJson(one.object, one.kind.kind) as NamedObject }]),
  );
  for (const one of sent.values()) {
    const { after } = one.options;
    if (after) one.options = { ...one.options, after: after.map((before) => sent.get(before) ?? before) };
  }
  return [...sent.values()];
}

function findChild<C extends AnyKind>(
  children: readonly Child[],
  kind: C,
  name: string | undefined,
): InputOf<C> | undefined {
  const found = children.filter(
    (child) =>
      apiVersionOf(child.kind) === apiVersionOf(kind) &&
      child.kind.kind === kind.kind &&
      (name === undefined || keyOf(child.object).name === name),
  );
  if (name === undefined && found.length > 1)
    throw new TypeError(
      `there are ${found.length} children of kind ${kind.kind}: ${found.map(({ object }) => keyOf(object).name).join(", ")}; say which`,
    );
  const object: unknown = found[0]?.object;
  return object as InputOf<C> | undefined;
}

function withOwner(ownerKind: AnyKind, owner: KubernetesObject, child: KubernetesObject): KubernetesObject {
  const { namespace } = owner.metadata;
  const others = child.metadata.ownerReferences ?? [];
  return {
    ...child,
    metadata: {
      ...(namespace === undefined ? {} : { namespace }),
      ...child.metadata,
      ownerReferences: [...others, controllerReference(ownerKind, owner)],
    },
  };
}
