import { ApiError, type NamespacedObjectMeta, type ObjectOf } from "@windlass/runtime";
import { Secret, type SecretInput } from "@windlass/runtime/kinds";
import { existing } from "@windlass/runtime/testing";
import type { SecretClient } from "./secret-data.ts";

type LiveSecret = ObjectOf<typeof Secret>;
type WrittenSecret = SecretInput & { readonly metadata: NamespacedObjectMeta };

/** Secrets in memory, with resource versions as a server counts them. */
export class SecretsInMemory {
  readonly #secrets = new Map<string, LiveSecret>();
  #version = 0;

  /** The part of a client that code which keeps Secrets uses. */
  readonly client = {
    get: async (_kind: unknown, { namespace, name }: { namespace: string; name: string }) => {
      const found = this.#secrets.get(`${namespace}/${name}`);
      if (!found) throw failure(404, "NotFound", name);
      return found;
    },
    create: async (_kind: unknown, secret: LiveSecret) => {
      if (this.#secrets.has(secretKey(secret))) throw failure(409, "AlreadyExists", secret.metadata.name);
      return this.put(secret);
    },
    update: async (_kind: unknown, secret: LiveSecret) => {
      const before = this.#secrets.get(secretKey(secret));
      if (before?.metadata.resourceVersion !== secret.metadata.resourceVersion)
        throw failure(409, "Conflict", secret.metadata.name);
      return this.put(secret);
    },
  } as unknown as SecretClient;

  /** Writes a Secret, whatever is there. */
  put(secret: WrittenSecret): LiveSecret {
    const metadata = { ...secret.metadata, resourceVersion: String(++this.#version) };
    const { stringData = {}, ...rest } = secret;
    const encoded = Object.entries(stringData).map(([key, text]) => [
      key,
      Buffer.from(text).toString("base64"),
    ]);
    const data = { ...rest.data, ...Object.fromEntries(encoded) };
    const stored = existing(Secret, { ...rest, metadata, data }).object;
    this.#secrets.set(secretKey(secret), stored);
    return stored;
  }

  /** How often anything was written. */
  get writes(): number {
    return this.#version;
  }
}

function secretKey({ metadata }: Pick<LiveSecret, "metadata">): string {
  return `${metadata.namespace}/${metadata.name}`;
}

function failure(code: number, reason: string, name: string): ApiError {
  return new ApiError({
    kind: "Status",
    apiVersion: "v1",
    status: "Failure",
    code,
    reason,
    message: `secrets "${name}": ${reason}`,
  });
}
