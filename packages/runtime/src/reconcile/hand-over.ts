import type { AnyKind, InputOf, KubernetesObject } from "@windlass/client";
import { isRecord } from "@windlass/kinds/json";
import type { FieldsV1 } from "../cache/contract.ts";
import { keyOf, type ReconcileClient } from "./client.ts";
import type { AppliedFields } from "./managed-fields.ts";

/** What handing fields over takes. */
export interface HandOver {
  readonly client: ReconcileClient;
  readonly kind: AnyKind;
  /** The child as it is applied. */
  readonly wanted: KubernetesObject;
  /** The child's option `handOver`. */
  readonly fields: object;
  readonly live: KubernetesObject;
  /** What our field manager owns of it. */
  readonly owned: AppliedFields | undefined;
  readonly fieldManager: string;
  /** Whether the cache has no more of the object than its metadata. */
  readonly metadataOnly: boolean;
}

/**
 * Has a field manager of this purpose apply the fields that are handed over, at their present
 * value: those that we own and no longer want. The server then keeps them when we stop applying
 * them, until another writes them.
 *
 * The write is bound to the version that was seen: a value that another has written since is not
 * put back.
 *
 * @returns the object on the server, if anything was handed over.
 */
export async function handOver(given: HandOver): Promise<KubernetesObject | undefined> {
  const { client, kind, wanted, fields, live, owned, fieldManager, metadataOnly } = given;
  const left = leftFields(fields, wanted, owned?.fields ?? {});
  if (left === undefined) return undefined;
  const whole = metadataOnly ? await client.live.get(kind, keyOf(live)) : live;
  const held = valuesOf(left, whole);
  if (held === undefined) return undefined;
  const { name, namespace, uid, resourceVersion } = live.metadata;
  const object = {
    ...held,
    metadata: { ...(isRecord(held.metadata) ? held.metadata : {}), name, namespace, uid, resourceVersion },
  };
  return await client.apply(kind, object as InputOf<AnyKind>, { fieldManager: `${fieldManager}-handover` });
}

type Left = { readonly [field: string]: Left | true };

/** The chosen fields that are owned, and not wanted. Undefined if there are none. */
function leftFields(chosen: object, wanted: unknown, owned: FieldsV1): Left | undefined {
  const left: Record<string, Left | true> = {};
  for (const [name, below] of Object.entries(chosen)) {
    const fields = owned[`f:${name}`];
    const value = isRecord(wanted) ? wanted[name] : undefined;
    if (fields === undefined) continue;
    if (!isRecord(below)) {
      if (value === undefined) left[name] = true;
      continue;
    }
    const within = leftFields(below, value, fields);
    if (within !== undefined) left[name] = within;
  }
  return Object.keys(left).length === 0 ? undefined : left;
}

/** These fields of an object. Undefined if it has none of them. */
function valuesOf(left: Left, live: unknown): Record<string, unknown> | undefined {
  if (!isRecord(live)) return undefined;
  const values: Record<string, unknown> = {};
  for (const [name, below] of Object.entries(left)) {
    const value = below === true ? live[name] : valuesOf(below, live[name]);
    if (value !== undefined) values[name] = value;
  }
  return Object.keys(values).length === 0 ? undefined : values;
}
