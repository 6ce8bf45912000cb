import { type AnyKind, apiVersionOf, type InputOf, type KubernetesObject } from "@windlass/client";
import type { Clock } from "@windlass/clock";
import type { ReconcileClient } from "./client.ts";
import {
  type Deviations,
  deviations,
  extras,
  fingerprint,
  sameDeviations,
  shapeFingerprint,
} from "./compare.ts";
import { conditionsOf, stampConditions, timestamp, type WantedCondition } from "./condition.ts";

/** A status as a reconciler returns it. */
export interface StatusObject {
  readonly conditions?: readonly WantedCondition[];
  readonly observedGeneration?: number;
}

/** What is remembered of the last status written for one object. Losing it costs at most one write that changes nothing. */
export interface StatusMemory {
  readonly wanted: StatusObject;
  readonly fingerprint: string;
  readonly shape: string;
  readonly accepted: Deviations;
}

export interface StatusOptions {
  readonly kind: AnyKind;
  readonly client: ReconcileClient;
  readonly clock: Clock;
  readonly fieldManager: string;
  /** Whether the kind's schema has `status.observedGeneration`. */
  readonly hasObservedGeneration: boolean;
}

/** How a status write went. */
export interface StatusWrite {
  readonly memory: StatusMemory;
  /** Paths that differed, with `status.` before them; empty if nothing was written. */
  readonly because: readonly string[];
}

/**
 * Brings the status on the server to what is wanted, by server-side apply, and only if something differs.
 *
 * - Fields left out that were written before are removed; those of other managers stay, and so do their conditions.
 * - `lastTransitionTime` moves only when a condition's status does. `observedGeneration` is the generation that was reconciled.
 * - The write is bound to the object's uid: a namesake created since is never given a dead object's status.
 *
 * @param live The newest state of the object that is known here.
 * @param generation The generation that the reconcile has seen.
 */
export async function writeStatus(
  options: StatusOptions,
  live: KubernetesObject,
  status: StatusObject,
  generation: number | undefined,
  memory: StatusMemory | undefined,
): Promise<StatusWrite> {
  const { kind, client, clock, fieldManager, hasObservedGeneration } = options;
  const before = statusOf(live);
  const wanted = stamp(status, before, timestamp(clock.now()), generation, hasObservedGeneration);
  const print = fingerprint(wanted);
  const shape = shapeFingerprint(wanted);
  const because = difference(wanted, before, print, shape, memory);
  if (because.length === 0)
    return {
      memory: memory ?? {
        wanted,
        fingerprint: print,
        shape,
        accepted: withoutForeignConditions(wanted, before),
      },
      because,
    };
  const { name, namespace, uid } = live.metadata;
  const body = {
    apiVersion: apiVersionOf(kind),
    kind: kind.kind,
    metadata: {
      name,
      ...(namespace === undefined ? {} : { namespace }),
      ...(uid === undefined ? {} : { uid }),
    },
    status: wanted,
  };
  const object = await client.apply(kind, body as InputOf<typeof kind>, {
    fieldManager,
    force: true,
    subresource: "status",
  });
  const accepted = withoutForeignConditions(wanted, statusOf(object));
  return {
    memory: { wanted, fingerprint: print, shape, accepted },
    because: because.map((path) => `status.${path}`),
  };
}

/** The status of any object. */
export function statusOf(object: KubernetesObject): unknown {
  return "status" in object ? object.status : undefined;
}

function stamp(
  status: StatusObject,
  before: unknown,
  now: string,
  generation: number | undefined,
  hasObservedGeneration: boolean,
): StatusObject {
  const conditions =
    status.conditions && stampConditions(status.conditions, conditionsOf(before), now, generation);
  return {
    ...status,
    ...(conditions ? { conditions } : {}),
    ...(hasObservedGeneration && generation !== undefined
      ? { observedGeneration: status.observedGeneration ?? generation }
      : {}),
  };
}

function difference(
  wanted: StatusObject,
  before: unknown,
  print: string,
  shape: string,
  memory: StatusMemory | undefined,
): readonly string[] {
  const found = [...withoutForeignConditions(wanted, before)];
  const differing = found.map(([path]) => path);
  if (memory) {
    if (memory.shape !== shape) return differing.length > 0 ? differing : ["(fields dropped)"];
    const isKnown = memory.fingerprint === print && sameDeviations(new Map(found), memory.accepted);
    return isKnown ? [] : differing;
  }
  return differing.length > 0 ? differing : extras(wanted, before);
}

/** The list of conditions is shared with other writers, so its length says nothing. */
function withoutForeignConditions(wanted: StatusObject, before: unknown): Deviations {
  const found = deviations(wanted, before);
  if (!found.has("conditions[]")) return found;
  return new Map([...found].filter(([path]) => path !== "conditions[]"));
}
