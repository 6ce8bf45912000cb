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
  OwnedFields,
} from "./contract.ts";
export { CacheMissError, CacheStoppedError, CacheSyncError } from "./errors.ts";
export type { LiveInformer } from "./informer.ts";
export type { CacheObserver, InformerLabels, InformerStats, InformerStatus } from "./metrics.ts";
export {
  type NamespaceSet,
  type Namespaces,
  type NamespacesByLabel,
  namespaceSet,
  namespacesByLabel,
} from "./namespaces.ts";
export type { Source } from "./source.ts";
export { MalformedObjectError, type Transform } from "./stored-object.ts";
