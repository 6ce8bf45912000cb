import type { CacheObserver, InformerCache, InformerLabels } from "../cache/index.ts";
import type { Labels, Registry } from "./registry.ts";

const informerLabels = ["group", "kind", "namespace"];
const listBuckets = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120];

function labelsOf({ kind, scope }: InformerLabels) {
  return { group: kind.group, kind: kind.kind, namespace: scope.namespace ?? "" };
}

/** Counts what a cache does, under `windlass_cache_*`: no other framework shows its caches. */
export function cacheObserver(registry: Registry): CacheObserver {
  const lists = registry.histogram({
    name: "windlass_cache_list_duration_seconds",
    help: "How long it took to receive all objects of a kind, by stream or by pages",
    labels: [...informerLabels, "how"],
    buckets: listBuckets,
  });
  const restarts = registry.counter({
    name: "windlass_cache_watch_restarts_total",
    help: "Watches opened after an earlier one had ended",
    labels: informerLabels,
  });
  const failures = registry.counter({
    name: "windlass_cache_failures_total",
    help: "Lists and watches that failed and were tried again",
    labels: informerLabels,
  });
  const events = registry.counter({
    name: "windlass_cache_events_total",
    help: "Changes that the cache has seen",
    labels: [...informerLabels, "type"],
  });
  /** Of each informer that had a change: there is one for every object that changes. */
  const changes = new WeakMap<InformerLabels, ChangeLabels>();
  return {
    listed: (labels, seconds, how) => lists.observe(seconds, { ...labelsOf(labels), how }),
    watchRestarted: (labels) => restarts.inc(labelsOf(labels)),
    failed: (labels) => failures.inc(labelsOf(labels)),
    changed: (labels, type) => {
      let byType = changes.get(labels);
      if (!byType) {
        byType = changeLabels(labels);
        changes.set(labels, byType);
      }
      events.inc(byType[type]);
    },
  };
}

type ChangeLabels = { readonly [type in "added" | "updated" | "deleted"]: Labels };

function changeLabels(labels: InformerLabels): ChangeLabels {
  const of = (type: string) => Object.freeze({ ...labelsOf(labels), type });
  return { added: of("added"), updated: of("updated"), deleted: of("deleted") };
}

/**
 * Shows, at each scrape, what a cache holds and how far behind it is: the informers of one kind and
 * namespace together, and no closed one. Returns a function that stops it.
 */
export function watchCache(registry: Registry, cache: InformerCache): () => void {
  const gauge = (name: string, help: string) => registry.gauge({ name, help, labels: informerLabels });
  const items = gauge("windlass_cache_items", "Objects held");
  const bytes = gauge("windlass_cache_bytes", "Bytes of JSON held");
  const pending = gauge("windlass_cache_pending_writes", "Own writes that the watch has not brought yet");
  const stale = gauge(
    "windlass_cache_staleness_seconds",
    "Seconds since the server last gave a sign of life",
  );
  let shown: Labels[] = [];
  return items.collect(() => {
    for (const labels of shown) for (const one of [items, bytes, pending, stale]) one.remove(labels);
    const stats = cache.stats();
    shown = stats.map(labelsOf);
    for (const one of stats) {
      const labels = labelsOf(one);
      items.add(one.items, labels);
      bytes.add(one.bytes, labels);
      pending.add(one.pendingWrites, labels);
      stale.set(Math.max(stale.value(labels), one.staleSeconds), labels);
    }
  });
}
