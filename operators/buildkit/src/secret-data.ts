import type { NamespacedKey, ReconcileClient } from "@windlass/runtime";
import {
  ignoreNotFound,
  isAlreadyExists,
  isConflict,
  type ObjectOf,
  type OwnerReference,
} from "@windlass/runtime";
import { Secret } from "@windlass/runtime/kinds";

/** What may read and write Secrets: a reconciler's client, or a runnable's. */
export type SecretClient = Pick<ReconcileClient, "get" | "create" | "update">;

/** The data of a Secret as text, by key. */
export function textData({
  data = {},
}: Pick<ObjectOf<typeof Secret>, "data">): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(data).map(([key, value]) => [key, Buffer.from(value, "base64").toString("utf8")]),
  );
}

/** A value that is kept in a Secret. */
export interface KeptInit<T> {
  readonly key: NamespacedKey;
  readonly labels: Readonly<Record<string, string>>;
  /** @default none: it outlives everything else */
  readonly owner?: OwnerReference;
  /** @throws if there is something that cannot be read. It is never replaced by itself. */
  readonly read: (data: Readonly<Record<string, string>>) => T;
  readonly write: (value: T) => Readonly<Record<string, string>>;
  /**
   * The value as it should be now: the same one if nothing is to do. `present` is undefined if
   * there is no Secret.
   */
  readonly advance: (present: T | undefined) => T;
}

const ATTEMPTS = 10;

/**
 * The value that a Secret keeps, brought up to date first. Any number of replicas may do so at a
 * time: the first to write wins, and the others take what it wrote.
 */
export async function keptValue<T>(client: SecretClient, init: KeptInit<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    const secret = await ignoreNotFound(client.get(Secret, init.key));
    const present = secret && init.read(textData(secret));
    const value = init.advance(present);
    if (value === present) return value;
    try {
      await write(client, init, value, secret);
      return value;
    } catch (error) {
      if (attempt === ATTEMPTS || !(isConflict(error) || isAlreadyExists(error))) throw error;
    }
  }
}

async function write<T>(
  client: SecretClient,
  { key, labels, owner, write: encode }: KeptInit<T>,
  value: T,
  secret: ObjectOf<typeof Secret> | undefined,
): Promise<void> {
  const data = Object.fromEntries(
    Object.entries(encode(value)).map(([name, text]) => [name, Buffer.from(text).toString("base64")]),
  );
  if (secret) await client.update(Secret, { ...secret, data });
  else {
    const metadata = { ...key, labels, ...(owner && { ownerReferences: [owner] }) };
    await client.create(Secret, { metadata, type: "Opaque", data });
  }
}
