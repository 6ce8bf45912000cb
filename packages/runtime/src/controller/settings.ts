import type { AnyKind, KubernetesObject } from "@windlass/client";
import { milliseconds } from "@windlass/clock";
import type { InformerScope } from "../cache/contract.ts";
import { kindIdOf } from "../cache/kind-id.ts";
import { type BackoffOptions, checkBackoff } from "../queue/index.ts";
import type { OwnedKind } from "../reconcile/child.ts";
import { keyOf } from "../reconcile/client.ts";
import type { Finalize, Reconcile } from "../reconcile/context.ts";
import { finalizerName } from "../reconcile/finalizer.ts";
import type { StatusSchema } from "../reconcile/result.ts";
import type { ResourceDefinition } from "../resource/index.ts";
import { Problems } from "../resource/refusal.ts";
import type { StructuralSchema } from "../resource/structural.ts";
import { objectSchemaOf } from "../resource/version-entry.ts";
import { type DeclaredIndex, declared } from "./indexes.ts";
import type { ControllerOptions, Permission } from "./options.ts";
import { intentChanged, type Predicate, resourceVersionChanged } from "./predicate.ts";
import type { Source } from "./source.ts";
import { type MapToKeys, referenceText, type Watches } from "./watch.ts";

/** Where a controller keeps its settings: not part of its public face. */
export const settings: unique symbol = Symbol("settings");

/** Options of any controller. */
export type AnyOptions = ControllerOptions<AnyKind>;

/** A kind whose changes ask for reconciles, with its mapping made ready. */
export interface WatchedKind {
  readonly kind: AnyKind;
  readonly map: MapToKeys<KubernetesObject>;
  readonly predicate: Predicate;
  readonly scope: InformerScope;
}

/** What a controller declares, checked, with the defaults filled in. */
export interface ControllerSettings {
  readonly kind: AnyKind;
  readonly name: string;
  readonly reconcile: Reconcile<AnyKind>;
  readonly finalize: Finalize<AnyKind> | undefined;
  readonly finalizer: string;
  readonly owns: readonly (OwnedKind & { readonly predicate: Predicate })[];
  readonly watches: readonly WatchedKind[];
  readonly reads: readonly AnyKind[];
  /** Kinds that reconciles may follow. */
  readonly follows: readonly AnyKind[];
  readonly indexes: readonly DeclaredIndex[];
  readonly sources: readonly Source[];
  readonly permissions: readonly Permission[];
  /** Whether reconciles may write the status: the kind has one, as far as that is known. */
  readonly mayWriteStatus: boolean;
  /** Whether the status has conditions and `observedGeneration`. */
  readonly hasConditions: boolean;
  readonly statusSchema: StatusSchema;
  /** Undefined for kinds without conditions, and where none is wanted. */
  readonly errorCondition: string | undefined;
  readonly hotLoopThreshold: number;
  readonly everywhere: boolean;
  readonly concurrency: number;
  readonly timeoutMs: number;
  readonly resyncMs: number;
  readonly predicate: Predicate;
  readonly rateLimit: BackoffOptions;
  readonly scope: InformerScope;
  readonly fieldManager: string;
}

/** @throws TypeError or RangeError naming the option that cannot be right. */
export function resolve(kind: AnyKind, name: string, options: AnyOptions): ControllerSettings {
  const { concurrency = 1, timeout = "5m", resync = "10h" } = options;
  if (!(Number.isInteger(concurrency) && concurrency >= 1))
    throw new RangeError(
      `controller ${name}: concurrency (${concurrency}) must be a whole number of at least 1`,
    );
  if (options.rateLimit) checkBackoff(options.rateLimit, `controller ${name}: rateLimit`);
  const finalizer = options.finalizer ?? finalizerName(kind, name);
  if (!finalizer.includes("/"))
    throw new TypeError(
      `controller ${name}: finalizer "${finalizer}" must be qualified by a domain, e.g. example.com/${name}`,
    );
  for (const { mapping } of options.watches ?? [])
    if (typeof mapping !== "function" && kindIdOf(mapping.referrer) !== kindIdOf(kind))
      throw new TypeError(
        `controller ${name}: byReference takes the controller's own kind, ${kind.kind}, not ${mapping.referrer.kind}`,
      );
  const status = statusIn(kind);
  const { owns = [], watches = [], reads = [], errorCondition } = options;
  return {
    kind,
    name,
    reconcile: options.reconcile,
    finalize: options.finalize,
    finalizer,
    owns: owns.map((owned) => {
      const { metadataOnly = false, predicate = resourceVersionChanged } = hasKind(owned) ? owned : {};
      return { kind: kindOf(owned), metadataOnly, predicate };
    }),
    watches: watches.map((watch, index) => ({
      kind: watch.kind,
      map: mapOf(watch, mappingIndexName(name, index)),
      predicate: watch.predicate ?? resourceVersionChanged,
      scope: watch.scope ?? {},
    })),
    reads: reads.map(kindOf),
    follows: options.follows ?? [],
    indexes: indexesOf(kind, name, options),
    sources: options.sources ?? [],
    permissions: options.permissions ?? [],
    mayWriteStatus: status !== "none",
    hasConditions: status === "defined",
    statusSchema: statusSchemaOf(kind),
    errorCondition:
      errorCondition === false ? undefined : (errorCondition ?? (status === "defined" ? "Ready" : undefined)),
    hotLoopThreshold: options.hotLoopThreshold ?? 20,
    everywhere: options.everywhere ?? false,
    concurrency,
    timeoutMs: milliseconds(timeout, `controller ${name}: timeout`),
    resyncMs: milliseconds(resync, `controller ${name}: resync`),
    predicate: options.predicate ?? intentChanged,
    rateLimit: options.rateLimit ?? {},
    scope: options.scope ?? {},
    fieldManager: options.fieldManager ?? `${name}.windlass`,
  };
}

const noFields: StructuralSchema = { type: "object", properties: {} };

/** The schema of the status of a kind that `defineResource` made, worked out once. */
function statusSchemaOf(kind: AnyKind): StatusSchema {
  const definition = "definition" in kind ? (kind.definition as ResourceDefinition | undefined) : undefined;
  if (definition === undefined) return () => undefined;
  if (definition.status === undefined) return () => noFields;
  let schema: StructuralSchema | undefined;
  return () => {
    schema ??= objectSchemaOf(definition, new Problems()).properties?.status;
    return schema;
  };
}

/**
 * What is known of a kind's status: those made by `defineResource` say, and have conditions if they
 * have one; of others it is not known.
 */
function statusIn(kind: AnyKind): "defined" | "none" | "unknown" {
  if (!("definition" in kind)) return "unknown";
  const definition = kind.definition as Partial<ResourceDefinition> | undefined;
  return definition?.status === undefined ? "none" : "defined";
}

/**
 * The index of the controller's own kind that a mapping by reference looks into: one for each entry
 * of `watches`.
 */
function mappingIndexName(controller: string, index: number): string {
  return `${controller}.watches[${index}]`;
}

function mapOf({ kind, mapping }: Watches, indexName: string): MapToKeys<KubernetesObject> {
  if (typeof mapping === "function") return mapping;
  return ({ metadata }, { cache }) =>
    cache.byIndex(mapping.referrer, indexName, referenceText(kind, metadata)).map(keyOf);
}

function indexesOf(kind: AnyKind, name: string, options: AnyOptions): readonly DeclaredIndex[] {
  const { owns = [], watches = [], reads = [], scope } = options;
  return [
    ...declared(kind, options.indexes, scope?.metadataOnly),
    ...watches.flatMap(({ kind: watched, mapping }, index) => {
      if (typeof mapping === "function") return [];
      const references = (object: KubernetesObject) =>
        mapping.references(object).map((key) => referenceText(watched, key));
      return declared(mapping.referrer, { [mappingIndexName(name, index)]: references });
    }),
    ...owns.flatMap((one) => (hasKind(one) ? declared(one.kind, one.indexes, one.metadataOnly) : [])),
    ...watches.flatMap((one) => declared(one.kind, one.indexes, one.scope?.metadataOnly)),
    ...reads.flatMap((one) => (hasKind(one) ? declared(one.kind, one.indexes) : [])),
  ];
}

function kindOf(entry: AnyKind | { readonly kind: AnyKind }): AnyKind {
  return hasKind(entry) ? entry.kind : entry;
}

/** Whether what was declared is a kind with options, rather than a kind. */
function hasKind<T extends { readonly kind: AnyKind }>(given: AnyKind | T): given is T {
  return typeof given.kind === "object";
}
