import type { AnyKind, ObjectKey, ObjectOf } from "@windlass/client";
import type { CacheReader, InformerScope } from "../cache/contract.ts";
import type { Registry } from "../metrics/registry.ts";
import { type BackoffOptions, checkBackoff } from "../queue/index.ts";
import type { OwnedKind } from "../reconcile/child.ts";
import type { Finalize, Reconcile } from "../reconcile/context.ts";
import { finalizerName } from "../reconcile/finalizer.ts";
import type { ReconcilerWorld } from "../reconcile/run.ts";
import type { ResourceDefinition } from "../resource/index.ts";
import { ControllerRun } from "./controller-run.ts";
import { type DeclaredIndex, declared, type IndexedKind, type Indexes, IndexTable } from "./indexes.ts";
import { intentChanged, type Predicate } from "./predicate.ts";
import type { Source } from "./source.ts";

/** A kind that the controller owns objects of, with options. */
export interface Owns {
  readonly kind: AnyKind;
  /**
   * Cache metadata alone: a fraction of the memory. `owned()` then gives objects without spec and status. Edits of a child are
   * noticed all the same, except for the order of items in a list. @default false
   */
  readonly metadataOnly?: boolean;
  /** Which changes of a child count. @default all */
  readonly predicate?: Predicate;
  /** For `cache.byIndex`; {@link indexed} knows the type of the objects. @default none */
  readonly indexes?: Indexes;
}

/** What a mapping is handed besides the object. */
export interface MapContext {
  readonly cache: CacheReader;
}

/** A kind whose changes ask for reconciles. Make one with {@link watch}, which knows the type of the objects. */
export interface Watches {
  readonly kind: AnyKind;
  /**
   * The objects to reconcile for this one. Runs on the old and the new state of a changed object, so that both sides of a moved
   * reference hear of it.
   */
  readonly map: (object: never, context: MapContext) => ObjectKey | readonly ObjectKey[] | undefined;
  readonly predicate?: Predicate;
  readonly scope?: InformerScope;
  /** For `cache.byIndex`. @default none */
  readonly indexes?: Indexes;
}

/** How a kind is watched. */
export interface WatchOptions<W extends AnyKind> extends Pick<Watches, "predicate" | "scope"> {
  /**
   * For `cache.byIndex`. Reads see all that the cache holds of the kind: where another controller watches more of it than this scope,
   * objects beyond the scope too. @default none
   */
  readonly indexes?: Indexes<ObjectOf<W>>;
}

/**
 * Watches a kind, and says which objects to reconcile for its changes.
 *
 * @example
 * indexes: { config: ({ spec }) => [spec.configMap] },
 * watches: [watch(ConfigMap, (map, { cache }) => cache.byIndex(WebApp, "config", map.metadata.name).map(keyOf))],
 */
export function watch<W extends AnyKind>(
  kind: W,
  map: (object: ObjectOf<W>, context: MapContext) => ObjectKey | readonly ObjectKey[] | undefined,
  options: WatchOptions<W> = {},
): Watches {
  return { kind, map, ...options };
}

/** A permission that the controller needs beyond what its declaration shows. */
export interface Permission {
  readonly kind: Pick<AnyKind, "group" | "plural" | "scope">;
  readonly verbs: readonly string[];
  /** @default the kind itself */
  readonly subresources?: readonly string[];
}

export interface ControllerOptions<K extends AnyKind> {
  readonly reconcile: Reconcile<K>;
  /** Its presence gives every object the controller's finalizer; without it the field is never touched. */
  readonly finalize?: Finalize<K>;
  /**
   * The kinds of the children. Their changes ask for a reconcile of the owner; they are cached in full, because reconcilers read them.
   * @default none
   */
  readonly owns?: readonly (AnyKind | Owns)[];
  /** Other kinds whose changes matter. @default none */
  readonly watches?: readonly Watches[];
  /** Kinds that the reconciler reads from the cache, and whose changes do not matter by themselves. @default none */
  readonly reads?: readonly (AnyKind | IndexedKind)[];
  /** Indexes of the controller's own kind, for `cache.byIndex`. @default none */
  readonly indexes?: Indexes<ObjectOf<K>>;
  /** Sources outside Kubernetes. @default none */
  readonly sources?: readonly Source[];
  /** In metrics, logs, events, the field manager and the finalizer. @default the kind in lower case */
  readonly name?: string;
  /** How many objects are reconciled at a time. One object is never reconciled twice at a time. @default 1 */
  readonly concurrency?: number;
  /** Milliseconds until a reconcile is given up, its signal aborted and its client closed. 0: never. @default 300_000 */
  readonly timeout?: number;
  /** Milliseconds between two looks at every object, ±10 %. Local: nothing is listed again. 0: never. @default 36_000_000 (10 h) */
  readonly resync?: number;
  /** Which changes of the object itself count. @default intentChanged: spec, labels, annotations, finalizers, deletion */
  readonly predicate?: Predicate<ObjectOf<K>>;
  /** Backoff of failing objects. @default 5 ms doubling to 1,000 s, with jitter */
  readonly rateLimit?: BackoffOptions;
  /** Which objects of the kind to reconcile. @default all that the manager sees */
  readonly scope?: InformerScope;
  /** Who server-side apply says owns the fields. Must not change over the operator's life. @default `<name>.windlass` */
  readonly fieldManager?: string;
  /** @default `<group>/<name>` */
  readonly finalizer?: string;
  /**
   * The condition that a failed reconcile sets to False, with the failure's reason and message. False: none is set.
   * @default "Ready", on kinds made by defineResource
   */
  readonly errorCondition?: string | false;
  /** Runs on every replica, not only on the leader. Only for controllers whose writes cannot collide. @default false */
  readonly everywhere?: boolean;
  /** What imperative code needs beyond what this declaration shows, for the generated role. @default none */
  readonly permissions?: readonly Permission[];
}

/** A controller of whatever kind: what a manager runs, and what a role can be generated from. */
export interface AnyController {
  readonly type: "controller";
  readonly kind: AnyKind;
  readonly name: string;
  readonly owns: readonly (OwnedKind & { readonly predicate: Predicate | undefined })[];
  readonly watches: readonly Watches[];
  readonly reads: readonly AnyKind[];
  readonly indexes: readonly DeclaredIndex[];
  readonly permissions: readonly Permission[];
  readonly finalizes: boolean;
  /** Whether reconciles may write the status: the kind has one, as far as that is known. */
  readonly hasStatus: boolean;
  readonly everywhere: boolean;
  readonly concurrency: number;
  /** Who server-side apply says owns what its reconciles apply. */
  readonly fieldManager: string;
  /** Starts its informers. Managers call this. */
  open(world: ReconcilerWorld, registry: Registry): OpenController;
}

/** A controller whose informers run. */
export interface OpenController {
  readonly name: string;
  /** Resolves when every informer of the controller has its first list. */
  synced(): Promise<void>;
  /** Whether every informer of the controller has its first list. */
  readonly hasSynced: boolean;
  /** Begins to reconcile. Every object that is there is reconciled once, behind what happens from now on. */
  start(): void;
  /** Stops taking work and waits for the reconciles under way; the signal aborts them. */
  stop(abort: AbortSignal): Promise<void>;
  /** Lets the informers go. */
  close(): void;
}

/** A controller, declared: a plain value. Run it with a manager. */
export interface Controller<K extends AnyKind = AnyKind> extends AnyController {
  readonly kind: K;
  readonly options: ControllerOptions<K>;
  readonly timeoutMs: number;
  readonly resyncMs: number;
  readonly predicate: Predicate<ObjectOf<K>>;
  readonly finalizer: string;
}

const namePattern = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;

/**
 * Declares a controller: keeps the world as the objects of one kind say.
 *
 * @throws TypeError or RangeError naming the option that cannot be right.
 * @example
 * const webapp = controller(WebApp, {
 *   owns: [Deployment, Service],
 *   reconcile: (app) => ({ children: [deploymentFor(app), serviceFor(app)] }),
 * });
 */
export function controller<K extends AnyKind>(kind: K, options: ControllerOptions<K>): Controller<K> {
  const name = options.name ?? kind.kind.toLowerCase();
  if (!namePattern.test(name))
    throw new TypeError(
      `controller name "${name}" must be lower-case letters, digits and "-", at most 63 of them`,
    );
  const concurrency = options.concurrency ?? 1;
  if (!(Number.isInteger(concurrency) && concurrency >= 1))
    throw new RangeError(
      `controller ${name}: concurrency (${concurrency}) must be a whole number of at least 1`,
    );
  const timeoutMs = options.timeout ?? 300_000;
  if (!(timeoutMs >= 0))
    throw new RangeError(`controller ${name}: timeout (${timeoutMs}) must be 0 or more milliseconds`);
  const resyncMs = options.resync ?? 36_000_000;
  if (!(resyncMs >= 0))
    throw new RangeError(`controller ${name}: resync (${resyncMs}) must be 0 or more milliseconds`);
  if (options.rateLimit) checkBackoff(options.rateLimit, `controller ${name}: rateLimit`);
  const finalizer = options.finalizer ?? finalizerName(kind, name);
  if (!finalizer.includes("/"))
    throw new TypeError(
      `controller ${name}: finalizer "${finalizer}" must be qualified by a domain, e.g. example.com/${name}`,
    );
  const indexes = indexesOf(kind, options);
  new IndexTable().add(name, indexes);
  const made: Controller<K> = {
    type: "controller",
    kind,
    name,
    options,
    reads: (options.reads ?? []).map((one) => (hasKind(one) ? one.kind : one)),
    indexes,
    permissions: options.permissions ?? [],
    finalizes: options.finalize !== undefined,
    hasStatus: hasStatus(kind) ?? true,
    everywhere: options.everywhere ?? false,
    open: (world, registry) => new ControllerRun(made, world, registry),
    owns: (options.owns ?? []).map((owned) =>
      hasKind(owned)
        ? { kind: owned.kind, metadataOnly: owned.metadataOnly ?? false, predicate: owned.predicate }
        : { kind: owned, metadataOnly: false, predicate: undefined },
    ),
    watches: options.watches ?? [],
    concurrency,
    timeoutMs,
    resyncMs,
    predicate: options.predicate ?? (intentChanged as Predicate<ObjectOf<K>>),
    fieldManager: options.fieldManager ?? `${name}.windlass`,
    finalizer,
  };
  return made;
}

/** Whether a value is a controller made by {@link controller}. */
export function isController(value: unknown): value is AnyController {
  return typeof value === "object" && value !== null && "type" in value && value.type === "controller";
}

/** Whether a kind has a status with conditions and `observedGeneration`: those made by `defineResource` say so, of others it is not known. */
export function hasStatus(kind: AnyKind): boolean | undefined {
  if (!("definition" in kind)) return undefined;
  const definition = kind.definition as Partial<ResourceDefinition> | undefined;
  return definition?.status !== undefined;
}

function indexesOf<K extends AnyKind>(kind: K, options: ControllerOptions<K>): readonly DeclaredIndex[] {
  const { owns = [], watches = [], reads = [] } = options;
  return [
    ...declared(kind, options.indexes, options.scope?.metadataOnly),
    ...owns.flatMap((one) => (hasKind(one) ? declared(one.kind, one.indexes, one.metadataOnly) : [])),
    ...watches.flatMap((one) => declared(one.kind, one.indexes, one.scope?.metadataOnly)),
    ...reads.flatMap((one) => (hasKind(one) ? declared(one.kind, one.indexes) : [])),
  ];
}

/** Whether what was declared is a kind with options, rather than a kind. */
function hasKind<T extends { readonly kind: AnyKind }>(given: AnyKind | T): given is T {
  return typeof given.kind === "object";
}
