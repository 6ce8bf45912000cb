import type { Client, KubernetesObject } from "@windlass/client";
import type { Operator } from "../generate/resolve.ts";

/** An object whose condition Ready is False. */
export interface UnreadyObject {
  readonly kind: string;
  readonly key: string;
  readonly reason: string;
  readonly message: string;
}

interface Conditions {
  readonly conditions?: readonly {
    readonly type: string;
    readonly status: string;
    readonly reason: string;
    readonly message: string;
  }[];
}

/**
 * The operator's objects that are not ready, with the reason that their condition gives. Metrics do
 * not name objects: there may be any number.
 */
export async function unreadyObjects(
  client: Client,
  { kinds }: Operator,
  signal: AbortSignal,
): Promise<readonly UnreadyObject[]> {
  const lists = await Promise.all(
    kinds.map(async (kind) => {
      const { items } = await client.list(kind, { signal });
      return items.flatMap((object) => unready(kind.kind, object));
    }),
  );
  return lists.flat();
}

function unready(kind: string, object: KubernetesObject): readonly UnreadyObject[] {
  const { metadata } = object;
  const { conditions = [] } = ((object as { readonly status?: Conditions }).status ?? {}) as Conditions;
  const key = metadata.namespace === undefined ? metadata.name : `${metadata.namespace}/${metadata.name}`;
  return conditions
    .filter(({ type, status }) => type === "Ready" && status === "False")
    .map(({ reason, message }) => ({ kind, key, reason, message }));
}
