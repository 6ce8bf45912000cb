import { type AnyKind, apiVersionOf } from "@windlass/client";

/** The cache does not hold what was asked for, so it cannot know whether it exists. */
export class CacheMissError extends Error {
  override readonly name = "CacheMissError";
  readonly code = "CACHE_MISS";
  readonly kind: AnyKind;
  /**
   * Resolves when the same read can be answered, where an informer that will hold it has been
   * started.
   */
  readonly ready: Promise<void> | undefined;

  constructor(kind: AnyKind, message: string, ready?: Promise<void>) {
    super(`${describeKind(kind)}: ${message}`);
    this.kind = kind;
    this.ready = ready;
  }
}

/** A read that an informer will answer once its first list is here. */
export function notSynced(
  kind: AnyKind,
  { status, synced }: { readonly status: { readonly message: string }; readonly synced: Promise<void> },
): CacheMissError {
  return new CacheMissError(
    kind,
    `its informer has not synced yet (${status.message}); await waitForSync() before reading`,
    synced,
  );
}

/** A read of a namespace that is not among those that are held. */
export function otherNamespace(
  kind: AnyKind,
  namespace: string | undefined,
  held: Iterable<string>,
): CacheMissError {
  return new CacheMissError(
    kind,
    `no informer holds namespace ${JSON.stringify(namespace ?? "")}, only ${[...held].join(", ") || "none"}; widen the scope, or read live with the client`,
  );
}

/** Some informers had not received their first list when the time was up. */
export class CacheSyncError extends Error {
  override readonly name = "CacheSyncError";
  readonly code = "CACHE_SYNC_TIMEOUT";
  readonly kinds: readonly AnyKind[];

  /** @param pending the kinds that have not synced, each with what its informer is doing. */
  constructor(afterMs: number, pending: readonly { readonly kind: AnyKind; readonly status: string }[]) {
    const each = pending.map(({ kind, status }) => `${describeKind(kind)} (${status})`).join(", ");
    super(
      `the cache has not synced within ${afterMs / 1000} s: ${each}. Check that the API server is reachable and that list and watch of these kinds are allowed`,
    );
    this.kinds = pending.map(({ kind }) => kind);
  }
}

/** The cache was stopped, and reads nothing any more. */
export class CacheStoppedError extends Error {
  override readonly name = "CacheStoppedError";
  readonly code = "CACHE_STOPPED";

  constructor() {
    super("the cache has been stopped");
  }
}

/** `Deployment (apps/v1)`, as messages name a kind. */
export function describeKind(kind: AnyKind): string {
  return `${kind.kind} (${apiVersionOf(kind)})`;
}
