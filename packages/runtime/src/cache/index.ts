export { type CacheOptions, createCache, type InformerCache } from "./cache.ts";
export type {
  Cache,
  CacheEvent,
  CacheListOptions,
  CacheReader,
  FieldsV1,
  IndexName,
  Informer,
  InformerScope,
  Namespaces,
  OwnedFields,
} from "./contract.ts";
export { CacheMissError, CacheStoppedError, CacheSyncError } from "./errors.ts";
export type { LiveInformer } from "./informer.ts";
export type { ListWatcher } from "./list-watcher.ts";
export type { CacheObserver, InformerLabels, InformerStats, InformerStatus } from "./metrics.ts";
export { type NamespaceSet, type NamespacesByLabel, namespaceSet, namespacesByLabel } from "./namespaces.ts";
export { MalformedObjectError } from "./received.ts";
export type { Transform } from "./transform.ts";
