import { type AnyKind, apiVersionOf, type InputOf, type KubernetesObject } from "@windlass/client";
import type { Clock } from "@windlass/clock";
import type { Cache } from "../cache/contract.ts";
import { describe, keyOf, type ReconcileClient } from "./client.ts";
import { type Deviations, deviations, isFinal, sameDeviations } from "./compare.ts";
import { conditionsOf, stampConditions, timestamp, type WantedCondition } from "./condition.ts";
import { withoutEmptied } from "./emptied.ts";
import { ReconcileResultError } from "./errors.ts";
import { canonical, fingerprint, NotJsonError, plainJson } from "./json.ts";
import { type AppliedFields, ownedFieldsOf } from "./managed-fields.ts";
import { ownedPart } from "./owned-part.ts";
import type { SchemaFacts, SchemaView } from "./schema-facts.ts";

/** A status as a reconciler returns it. */
export interface StatusObject {
  readonly conditions?: readonly WantedCondition[];
  readonly observedGeneration?: number;
}

/**
 * What is remembered of the last status written for one object. Losing it costs at most one write
 * that changes nothing.
 */
export interface StatusMemory {
  readonly fingerprint: string;
  /** The version that was last found to be as wanted. */
  readonly resourceVersion: string | undefined;
  /** What the server made of it: differences that are known and fine. */
  readonly accepted: Deviations;
}

/** What writing a status needs. */
export interface StatusOptions {
  readonly kind: AnyKind;
  readonly client: ReconcileClient;
  readonly cache: Cache;
  readonly clock: Clock;
  readonly fieldManager: string;
  readonly schemas: SchemaFacts;
  /** Whether the kind's schema has `status.observedGeneration`. */
  readonly hasObservedGeneration: boolean;
}

/** How a status write went. */
export interface StatusWrite {
  readonly memory: StatusMemory;
  /** Paths that differed; empty if nothing was written. */
  readonly because: readonly string[];
}

const subresource = "status";

/**
 * Brings the status on the server to what is wanted, by server-side apply, and only if the server's
 * own dry run of it would change something.
 *
 * - Fields left out that were written before are removed; those of other managers stay, and so do
 *   their conditions.
 * - `lastTransitionTime` moves only when a condition's status does. `observedGeneration` is the
 *   generation that was reconciled.
 * - The write is bound to the object's uid: a namesake created since is never given a dead object's
 *   status.
 *
 * @param live The newest state of the object that the cache has.
 * @param generation The generation that the reconcile has seen.
 * @throws ReconcileResultError if the status is not plain JSON.
 */
export async function writeStatus(
  options: StatusOptions,
  live: KubernetesObject,
  status: StatusObject,
  generation: number | undefined,
  memory: StatusMemory | undefined,
): Promise<StatusWrite> {
  const { kind, client, cache, clock, fieldManager, schemas, hasObservedGeneration } = options;
  const plain = plainStatus(kind, live, status);
  const wanted = stamp(plain, statusOf(live), timestamp(clock.now()), generation, hasObservedGeneration);
  const print = fingerprint(wanted);
  const { resourceVersion } = live.metadata;
  const isSameStatus = memory?.fingerprint === print;
  if (isSameStatus && memory.resourceVersion === resourceVersion) return { memory, because: [] };
  const owned = cache.ownedFields(kind, keyOf(live), fieldManager, subresource);
  const found = compare(kind, wanted, live, owned, schemas.known(kind));
  if (found.size === 0 || (isSameStatus && sameDeviations(found, memory.accepted)))
    return { memory: { fingerprint: print, resourceVersion, accepted: found }, because: [] };
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
  const send = (object: object) =>
    client.apply(kind, object as InputOf<typeof kind>, { fieldManager, force: true, subresource });
  const apply = async (): Promise<StatusMemory> => {
    const after = await send(body);
    const fields = ownedFieldsOf(after, fieldManager, subresource);
    const accepted = compare(kind, wanted, after, fields, schemas.learning(kind));
    return { fingerprint: print, resourceVersion: after.metadata.resourceVersion, accepted };
  };
  const shrunk = withoutEmptied(body, owned?.fields ?? {});
  if (shrunk !== body) await send(shrunk);
  let written = await apply();
  if (!isFinal(written.accepted, found)) written = await apply();
  return { memory: written, because: [...found.keys()] };
}

/** The status of any object. */
export function statusOf(object: KubernetesObject): unknown {
  return "status" in object ? object.status : undefined;
}

/** The part of an object's status that a field manager applied, as it is now. */
export function ownStatusOf(
  live: KubernetesObject,
  cache: Cache,
  kind: AnyKind,
  fieldManager: string,
): StatusObject | undefined {
  const fields = cache.ownedFields(kind, keyOf(live), fieldManager, subresource)?.fields["f:status"];
  return fields && (ownedPart(statusOf(live), fields) as StatusObject | undefined);
}

/** Where an apply of the status would change something. */
function compare(
  kind: AnyKind,
  wanted: StatusObject,
  live: KubernetesObject,
  owned: AppliedFields | undefined,
  schema: SchemaView,
): Deviations {
  const isOurs = owned?.apiVersion === apiVersionOf(kind);
  const fields = isOurs ? owned.fields : {};
  return deviations({ wanted: { status: wanted }, fields, live, isSame, schema });
}

/**
 * Nothing tells what was applied last, so only equal values are known to be what the server made of
 * the wanted ones.
 */
function isSame(wanted: unknown, live: unknown): boolean {
  return wanted === live || (live !== undefined && canonical(wanted) === canonical(live));
}

/** @throws ReconcileResultError naming a field that JSON cannot hold. */
export function plainStatus(kind: AnyKind, live: KubernetesObject, status: StatusObject): StatusObject {
  try {
    return plainJson(status, "status") as StatusObject;
  } catch (error) {
    if (!(error instanceof NotJsonError)) throw error;
    throw new ReconcileResultError(
      `reconcile of ${describe(kind, keyOf(live))} returned a status in which ${error.message}`,
    );
  }
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
