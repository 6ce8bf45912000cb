import {
  type AnyKind,
  ApiError,
  type KubernetesObject,
  type ObjectKey,
  type ObjectOf,
  type Reader,
  type Writer,
} from "@windlass/client";
import type { Cache } from "../cache/contract.ts";

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
 * The client that a reconciler is handed. Reads of the kinds that its manager caches come from memory and see this process' own
 * writes at once; other kinds, field selectors and pages are read live. Writes go to the server, and are refused with
 * `FencedError` or `ReconcileOverError` when this process may no longer write.
 */
export interface ReconcileClient extends Reader, Writer {
  /** Reads that always ask the server. */
  readonly live: Reader;
}

export interface CachedClientOptions {
  readonly client: Reader & Writer;
  readonly cache: Cache;
  /** Whether the cache holds this kind in full. */
  readonly isCached: (kind: AnyKind) => boolean;
  /** Called before each write is sent. Throws to refuse it. */
  readonly guard: (what: string) => void;
  /** Aborts the requests that are given no signal of their own. */
  readonly signal?: AbortSignal;
  readonly onWrite?: (note: WriteNote) => void;
  /** Brackets the sending of each write, e.g. with a span. */
  readonly around?: <T>(what: string, send: () => Promise<T>) => Promise<T>;
}

/** A client that reads from the cache, writes to the server, and makes its writes visible to the cache's next read. */
export function cachedClient(options: CachedClientOptions): ReconcileClient {
  const { client, cache, isCached, guard } = options;
  const around = options.around ?? ((_what, send) => send());
  const withSignal = <T extends { readonly signal?: AbortSignal }>(given: T | undefined): T =>
    options.signal === undefined
      ? ((given ?? {}) as T)
      : ({
          ...given,
          signal: given?.signal ? AbortSignal.any([given.signal, options.signal]) : options.signal,
        } as T);

  const write = async <K extends AnyKind>(
    note: Pick<WriteNote, "verb" | "key" | "subresource"> & {
      readonly kind: K;
      readonly dryRun?: boolean | undefined;
    },
    send: () => Promise<ObjectOf<K>>,
  ): Promise<ObjectOf<K>> => {
    const { kind, key, verb, subresource, dryRun } = note;
    const what = `${verb} ${describe(kind, key)}${subresource ? `/${subresource}` : ""}`;
    guard(what);
    const before = isCached(kind) ? cache.get(kind, key) : undefined;
    const after = await around(what, send);
    if (dryRun) return after;
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
    get: (kind, key, given) => client.get(kind, key, withSignal(given)),
    list: (kind, given) => client.list(kind, withSignal(given)),
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
      write({ verb: "create", kind, key: keyOf(object), ...picked(given) }, () =>
        client.create(kind, object, withSignal(given)),
      ),
    update: (kind, object, given) =>
      write({ verb: "update", kind, key: keyOf(object), ...picked(given) }, () =>
        client.update(kind, object, withSignal(given)),
      ),
    patch: (kind, key, patch, given) =>
      write({ verb: "patch", kind, key, ...picked(given) }, () =>
        client.patch(kind, key, patch, withSignal(given)),
      ),
    apply: (kind, object, given) =>
      write({ verb: "apply", kind, key: keyOf(object), ...picked(given) }, () =>
        client.apply(kind, object, withSignal(given)),
      ),
    async delete(kind, key, given) {
      const what = `delete ${describe(kind, key)}`;
      guard(what);
      const before = isCached(kind) ? cache.get(kind, key) : undefined;
      await around(what, () => client.delete(kind, key, withSignal(given)));
      if (given?.dryRun) return;
      if (before && goesAtOnce(kind, before, given?.propagationPolicy)) cache.deleted(kind, before);
      options.onWrite?.({ verb: "delete", kind, key, ...(before === undefined ? {} : { before }) });
    },
    async deleteCollection(kind, given) {
      const what = `deleteCollection of ${kind.kind}${given?.namespace ? ` in ${given.namespace}` : ""}`;
      guard(what);
      await around(what, () => client.deleteCollection(kind, withSignal(given)));
      if (!given?.dryRun) options.onWrite?.({ verb: "deleteCollection", kind, key: { name: "" } });
    },
  };
}

/**
 * Whether a delete leaves nothing behind. Finalizers, foreground and orphan deletion, and a pod's grace period keep the object
 * for a while; then the watch brings its last states. If the cached object was out of date, the watch's newer version wins.
 */
function goesAtOnce(kind: AnyKind, object: KubernetesObject, propagation: string | undefined): boolean {
  const lingers =
    propagation === "Foreground" || propagation === "Orphan" || (kind.group === "" && kind.kind === "Pod");
  return !lingers && !object.metadata.finalizers?.length;
}

function notFound(kind: AnyKind, key: ObjectKey): ApiError {
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

function picked(given: { readonly subresource?: string; readonly dryRun?: boolean } | undefined) {
  return {
    ...(given?.subresource === undefined ? {} : { subresource: given.subresource }),
    ...(given?.dryRun === undefined ? {} : { dryRun: given.dryRun }),
  };
}

/** Where an object is, from its metadata. */
export function keyOf(object: unknown): ObjectKey {
  const metadata =
    typeof object === "object" && object !== null && "metadata" in object
      ? (object.metadata as Partial<KubernetesObject["metadata"]> | undefined)
      : undefined;
  const name = metadata?.name ?? metadata?.generateName ?? "";
  return metadata?.namespace ? { namespace: metadata.namespace, name } : { name };
}

/** `Deployment default/web`, as messages name an object. */
export function describe(kind: Pick<AnyKind, "kind">, key: ObjectKey): string {
  return `${kind.kind} ${key.namespace ? `${key.namespace}/` : ""}${key.name}`;
}
