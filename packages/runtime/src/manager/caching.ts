import type { AnyKind, Client } from "@windlass/client";
import { type Clock, milliseconds, type Random } from "@windlass/clock";
import {
  type Cache,
  createCache,
  type InformerScope,
  namespaceSet,
  namespacesByLabel,
} from "../cache/index.ts";
import type { ControllerSettings } from "../controller/settings.ts";
import type { Logger } from "../logging/logger.ts";
import { cacheObserver, watchCache } from "../metrics/cache-metrics.ts";
import type { Registry } from "../metrics/registry.ts";
import type { ManagerOptions } from "./options.ts";

/** What a manager's own cache is made with. */
export interface CachingParts {
  readonly source: Client;
  readonly registry: Registry;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** Whether it is logged that no server answers. */
  readonly isServerOut: () => boolean;
}

/**
 * The cache that was handed in, or one on the connection, whose metrics are shown; and the way to
 * stop it.
 */
export function openCache(
  { cache: given, caching, cacheSyncTimeout = "2m" }: ManagerOptions,
  { source, registry, clock, random, log, isServerOut }: CachingParts,
): { readonly cache: Cache; readonly stop: () => Promise<void> } {
  if (given) return { cache: given, stop: () => given.stop() };
  const cache = createCache({
    ...caching,
    source,
    clock,
    random,
    log,
    isServerOut,
    observer: cacheObserver(registry),
    syncTimeout: milliseconds(cacheSyncTimeout, "manager: cacheSyncTimeout"),
  });
  const unwatch = watchCache(registry, cache);
  const stop = async () => {
    unwatch();
    await cache.stop();
  };
  return { cache, stop };
}

/**
 * The scope of informers without one: the manager's namespaces. `release` lets go what it
 * takes to know them.
 */
export function scopeOf(
  namespaces: ManagerOptions["namespaces"],
  cache: Cache,
): { readonly scope: InformerScope; readonly release: () => void } {
  const release = () => undefined;
  if (namespaces === undefined) return { scope: {}, release };
  if (Array.isArray(namespaces)) {
    const [only] = namespaces;
    const scope = namespaces.length === 1 ? { namespace: only } : { namespaces: namespaceSet(namespaces) };
    return { scope, release };
  }
  if ("names" in namespaces) return { scope: { namespaces }, release };
  if (!("labelSelector" in namespaces)) return { scope: {}, release };
  const chosen = namespacesByLabel(cache, namespaces.labelSelector);
  return { scope: { namespaces: chosen }, release: () => chosen.release() };
}

/**
 * Which kinds the controllers have cached in full, in the version that they watch: a client may
 * answer from the cache for these alone.
 */
export function cachedKinds(controllers: readonly ControllerSettings[]): (kind: AnyKind) => boolean {
  const full = new Set<string>();
  const add = (kind: AnyKind, scope: InformerScope = {}) => {
    const isPart = Object.values(scope).some((value) => value !== undefined && value !== false);
    if (!isPart) full.add(kindName(kind));
  };
  for (const { kind: own, scope: ownScope, owns, watches, reads } of controllers) {
    add(own, ownScope);
    for (const { kind, metadataOnly } of owns) add(kind, { metadataOnly });
    for (const { kind, scope } of watches) add(kind, scope);
    for (const kind of reads) add(kind);
  }
  return (kind) => full.has(kindName(kind));
}

function kindName(kind: AnyKind): string {
  return `${kind.group}/${kind.version}/${kind.kind}`;
}
