import {
  type AnyKind,
  ApiError,
  type ClusterKey,
  type Deletion,
  type KubernetesObject,
  type NamespacedKey,
  type ObjectKey,
  type ObjectOf,
  type Reader,
  type SendOptions,
  type WriteOptions,
  type Writer,
} from "@windlass/client";
import type { Cache } from "../cache/contract.ts";
import { CacheMissError } from "../cache/errors.ts";

/** A write that went through, for those who count, trace or compare. */
export interface WriteNote {
  readonly verb: "create" | "update" | "patch" | "apply" | "delete" | "deleteCollection";
  readonly kind: AnyKind;
  readonly key: ObjectKey;
  readonly subresource?: string;
  /** The object as the cache had it before the write. */
  readonly before?: KubernetesObject;
  /** The object as the server answered. */
  readonly after?: KubernetesObject;
}

/**
 * The client that a reconciler is handed. Reads of the kinds that its manager caches come from
 * memory and see this process' own writes at once; other kinds, field selectors and pages are read
 * live. Writes go to the server, and are refused with `FencedError` or `ReconcileOverError` when
 * this process may no longer write.
 */
export interface ReconcileClient extends Reader, Writer {
  /** Reads that always ask the server. */
  readonly live: Reader;
}

/** What a reconciler's client is made from. */
export interface CachedClientOptions {
  readonly client: Reader & Writer;
  readonly cache: Cache;
  /** Whether the cache holds this kind in full. */
  readonly isCached: (kind: AnyKind) => boolean;
  /**
   * Called right before each write is sent, and sent again. Throws to refuse it. @default no write
   * is refused
   */
  readonly guard?: (what: string) => void;
  readonly onWrite?: (note: WriteNote) => void;
  /** Brackets the sending of each write, e.g. with a span. */
  readonly around?: <T>(what: string, send: () => Promise<T>) => Promise<T>;
}

/**
 * A client that reads from the cache, writes to the server, and makes its writes visible to the
 * cache's next read.
 */
export function cachedClient(options: CachedClientOptions): ReconcileClient {
  const { client, cache, isCached } = options;
  const around = options.around ?? ((_what, send) => send());
  const guarded = <O extends SendOptions>(what: string, given: O | undefined): O | undefined => {
    const { guard } = options;
    if (!guard) return given;
    const own = given?.guard;
    const both = () => {
      guard(what);
      own?.();
    };
    return { ...given, guard: both } as O;
  };
  const write = async <K extends AnyKind, O extends WriteOptions>(
    { kind, key, verb }: Pick<WriteNote, "verb" | "key"> & { readonly kind: K },
    given: O | undefined,
    send: (given: O | undefined) => Promise<ObjectOf<K>>,
  ): Promise<ObjectOf<K>> => {
    const { subresource } = given ?? {};
    const what = `${verb} ${describe(kind, key)}${subresource ? `/${subresource}` : ""}`;
    const before = isCached(kind) ? cachedState(cache, kind, key) : undefined;
    const after = await around(what, () => send(guarded(what, given)));
    if (given?.dryRun) return after;
    // Other subresources answer with a type of their own, which is no state of the object.
    const isObject = subresource === undefined || subresource === "status";
    if (isObject) cache.wrote(kind, after);
    options.onWrite?.({
      verb,
      kind,
      key: isObject ? keyOf(after) : key,
      ...(subresource === undefined ? {} : { subresource }),
      ...(before === undefined ? {} : { before }),
      ...(isObject ? { after } : {}),
    });
    return after;
  };

  const live: Reader = {
    get: (kind, key, given) => client.get(kind, key, given),
    list: (kind, given) => client.list(kind, given),
  };
  return {
    live,
    async get(kind, key, given) {
      if (!isCached(kind) || given?.subresource !== undefined || given?.resourceVersion !== undefined)
        return live.get(kind, key, given);
      const found = cache.get(kind, key);
      if (!found) throw notFound(kind, key);
      return found;
    },
    async list(kind, given) {
      const asksServer =
        given?.fieldSelector !== undefined ||
        given?.limit !== undefined ||
        given?.continue !== undefined ||
        given?.resourceVersion !== undefined;
      if (!isCached(kind) || asksServer) return live.list(kind, given);
      const items = cache.list(kind, {
        ...(given?.namespace === undefined ? {} : { namespace: given.namespace }),
        ...(given?.labelSelector === undefined ? {} : { labelSelector: given.labelSelector }),
      });
      return { metadata: {}, items };
    },
    create: (kind, object, given) =>
      write({ verb: "create", kind, key: keyOf(object) }, given, (sent) => client.create(kind, object, sent)),
    update: (kind, object, given) =>
      write({ verb: "update", kind, key: keyOf(object) }, given, (sent) => client.update(kind, object, sent)),
    patch: (kind, key, patch, given) =>
      write({ verb: "patch", kind, key }, given, (sent) => client.patch(kind, key, patch, sent)),
    apply: (kind, object, given) =>
      write({ verb: "apply", kind, key: keyOf(object) }, given, (sent) => client.apply(kind, object, sent)),
    async delete(kind, key, given) {
      const what = `delete ${describe(kind, key)}`;
      const before = isCached(kind) ? cachedState(cache, kind, key) : undefined;
      const answer = await around(what, () => client.delete(kind, key, guarded(what, given)));
      if (given?.dryRun) return answer;
      noteDeletion(cache, kind, key, before, answer);
      options.onWrite?.({ verb: "delete", kind, key, ...(before === undefined ? {} : { before }) });
      return answer;
    },
    async deleteCollection(kind, given) {
      const what = `deleteCollection of ${kind.kind}${given?.namespace ? ` in ${given.namespace}` : ""}`;
      await around(what, () => client.deleteCollection(kind, guarded(what, given)));
      if (!given?.dryRun) options.onWrite?.({ verb: "deleteCollection", kind, key: { name: "" } });
    },
  };
}

/**
 * What the cache has of an object, if it holds its namespace: what it does not hold can still be
 * written.
 */
function cachedState(cache: Cache, kind: AnyKind, key: ObjectKey): KubernetesObject | undefined {
  try {
    return cache.get(kind, key);
  } catch (error) {
    if (error instanceof CacheMissError) return undefined;
    throw error;
  }
}

/**
 * Tells the cache what the server said of a delete: that the object no longer exists, or the state
 * in which finalizers or a grace period keep it.
 */
function noteDeletion(
  cache: Cache,
  kind: AnyKind,
  key: ObjectKey,
  before: KubernetesObject | undefined,
  answer: Deletion<AnyKind>,
): void {
  if (answer.is === "object") {
    cache.deleted(kind, answer.object, { isCertain: true });
    return;
  }
  const known = answer.status.details?.uid;
  // Some aggregated servers do not say which object it was; then the cached one is assumed,
  // unless it cannot have gone at once.
  const uid = known ?? (before?.metadata.finalizers?.length ? undefined : before?.metadata.uid);
  if (uid === undefined) return;
  const { resourceVersion } = before?.metadata.uid === uid ? before.metadata : {};
  const { name, namespace } = key;
  const metadata = {
    name,
    uid,
    ...(namespace === undefined ? {} : { namespace }),
    ...(resourceVersion === undefined ? {} : { resourceVersion }),
  };
  cache.deleted(kind, { metadata }, { isCertain: known !== undefined });
}

/** The error of a server that has no such object. */
export function notFound(kind: AnyKind, key: ObjectKey): ApiError {
  const resource = kind.group === "" ? kind.plural : `${kind.plural}.${kind.group}`;
  return new ApiError({
    kind: "Status",
    apiVersion: "v1",
    status: "Failure",
    reason: "NotFound",
    code: 404,
    message: `${resource} "${key.name}" not found`,
    details: { name: key.name, group: kind.group, kind: kind.plural },
  });
}

/** The key of an object: with its namespace, or without any, where the object's type says which. */
export type KeyIn<T> = T extends { readonly metadata: infer Meta }
  ? Meta extends NamespacedKey
    ? NamespacedKey
    : "namespace" extends keyof Meta
      ? Meta extends ClusterKey
        ? ClusterKey
        : ObjectKey
      : ObjectKey
  : ObjectKey;

/** Where an object is, from its metadata: a key for the client and the cache. */
export function keyOf<T>(object: T): KeyIn<T>;
export function keyOf(object: unknown): ObjectKey {
  const metadata =
    typeof object === "object" && object !== null && "metadata" in object
      ? (object.metadata as Partial<KubernetesObject["metadata"]> | undefined)
      : undefined;
  const name = metadata?.name ?? metadata?.generateName ?? "";
  return metadata?.namespace ? { namespace: metadata.namespace, name } : { name };
}

/** A key as one string, to look things up by. */
export function keyId({ namespace = "", name }: ObjectKey): string {
  return `${namespace}/${name}`;
}

/** `Deployment default/web`, as messages name an object. */
export function describe(kind: Pick<AnyKind, "kind">, key: ObjectKey): string {
  return `${kind.kind} ${key.namespace ? `${key.namespace}/` : ""}${key.name}`;
}
