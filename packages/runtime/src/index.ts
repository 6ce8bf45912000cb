/**
 * The operator framework: define a resource, declare a controller, run it with a manager.
 *
 * @module
 */

export type {
  AnyKind,
  AnyObject,
  ApplyOf,
  ClusterKey,
  ClusterMetaInput,
  ClusterObjectMeta,
  CreateOf,
  InputOf,
  KeyOf,
  KubernetesObject,
  LabelSelector,
  ManagedFieldsEntry,
  Manifest,
  MergePatch,
  MergePatchOf,
  MetadataOnly,
  NamedMetaInput,
  NamespacedKey,
  NamespacedKind,
  NamespacedObjectMeta,
  ObjectKey,
  ObjectMeta,
  ObjectMetaInput,
  ObjectOf,
  OwnerReference,
  Reader,
  Requirement,
  ResourceKind,
  Scope,
  ScopeOf,
  UpdateOf,
} from "@windlass/client";
export {
  ApiError,
  applyManifest,
  asManifest,
  Client,
  conditionOf,
  controllerOf,
  formatSelector,
  ignoreNotFound,
  isAlreadyExists,
  isConflict,
  isForbidden,
  isGone,
  isInvalid,
  isNotFound,
  isObjectOf,
  matchesSelector,
  metadataOnly,
  requirementsOf,
  SelectorError,
  TransportError,
} from "@windlass/client";
export { type Clock, type Duration, type DurationText, milliseconds } from "@windlass/clock";
export {
  type Cache,
  type CacheEvent,
  CacheMissError,
  type CacheReader,
  CacheSyncError,
  createCache,
  type IndexName,
  type Informer,
  type InformerScope,
  type Namespaces,
  namespaceSet,
} from "./cache/index.ts";
export { type Controller, controller } from "./controller/controller.ts";
export {
  type ContextOf,
  type Declaration,
  declaration,
  type FinalizeOf,
  type ReconcileOf,
} from "./controller/declaration.ts";
export { type IndexedKind, type Indexes, type IndexValues, indexed } from "./controller/indexes.ts";
export type { ControllerOptions, Permission } from "./controller/options.ts";
export type { Owns } from "./controller/owns.ts";
export {
  allOf,
  annotationsChanged,
  anyOf,
  deletionRequested,
  finalizersChanged,
  generationChanged,
  intentChanged,
  labelsChanged,
  not,
  type Predicate,
  resourceVersionChanged,
} from "./controller/predicate.ts";
export {
  type PolicyRule,
  type RbacOptions,
  type RoleBindingObject,
  type RoleContribution,
  type RoleObject,
  rbacFor,
} from "./controller/rbac.ts";
export { every, type Source, type SourceContext, type SourceRun } from "./controller/source.ts";
export {
  byLabel,
  byOwner,
  byReference,
  type MapContext,
  type Mapped,
  type MapToKeys,
  type Reference,
  type ReferenceMapping,
  type Watches,
  type WatchOptions,
  watch,
} from "./controller/watch.ts";
export { type Logger, type LogMethod, silentLogger } from "./logging/logger.ts";
export { pinoLogger } from "./logging/pino-logger.ts";
export { PortError, RunnableError } from "./manager/errors.ts";
export { type HealthCheck, HealthChecks } from "./manager/health.ts";
export { type Addable, type Manager, manager } from "./manager/manager.ts";
export type { LeaderElectionOptions, ManagerOptions } from "./manager/options.ts";
export type { Runnable, RunnableContext, Stage, Stop } from "./manager/runnable.ts";
export {
  type Counter,
  type Gauge,
  type Histogram,
  type HistogramOptions,
  type Labels,
  type MetricDescription,
  type MetricOptions,
  metricsContentType,
  Registry,
  type SeriesLabels,
} from "./metrics/registry.ts";
export { type MigrationOptions, migrateStoredVersions } from "./migration/migrate-stored-versions.ts";
export { preload } from "./preload.ts";
export { type Child, type ChildOptions, child, type FieldsOf, type NamedObject } from "./reconcile/child.ts";
export { type KeyIn, keyOf, type ReconcileClient } from "./reconcile/client.ts";
export { condition, microTimestamp, timestamp, type WantedCondition } from "./reconcile/condition.ts";
export type {
  Declared,
  Finalize,
  FinalizeResult,
  Reconcile,
  ReconcileContext,
  ReconcileResult,
  StatusFor,
  Wanted,
  WantedWhileDeleting,
} from "./reconcile/context.ts";
export {
  ChildError,
  FencedError,
  type FencedFate,
  ReconcileError,
  ReconcileOverError,
  ReconcileResultError,
  ReconcileTimeoutError,
  reasonOf,
  TerminalError,
  terminal,
} from "./reconcile/errors.ts";
export type { EventInput, EventRecorder } from "./reconcile/events.ts";
export { controllerReference } from "./reconcile/owner.ts";
export { lastLineOf, type PodFault, podFault, workloadFault } from "./reconcile/pod-fault.ts";
export { isReady } from "./reconcile/readiness.ts";
export { adoptableByAnnotation, appliedAnnotation } from "./reconcile/standing.ts";
export { noTracing, type SpanAttributes, type Tracing } from "./reconcile/tracing.ts";
export * from "./resource/index.ts";
export * from "./webhook/index.ts";
