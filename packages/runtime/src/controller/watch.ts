import type {
  AnyKind,
  ClusterKey,
  KubernetesObject,
  MetadataOnly,
  ObjectKey,
  ObjectOf,
  ScopeOf,
} from "@windlass/client";
import type { CacheReader, InformerScope } from "../cache/contract.ts";
import { refersTo } from "../reconcile/owner.ts";
import type { Bivariant } from "./bivariant.ts";
import type { Indexes } from "./indexes.ts";
import type { Predicate } from "./predicate.ts";

/** What a mapping is handed besides the object. */
export interface MapContext {
  readonly cache: CacheReader;
}

/** The objects to reconcile for a change: one, several, or none. */
export type Mapped<Key extends ObjectKey = ObjectKey> = Key | readonly Key[] | undefined;

/**
 * Maps a watched object to the objects to reconcile. Called with the old and the new state of a
 * changed object, so that both sides of a moved reference are reconciled.
 */
export type MapToKeys<T extends KubernetesObject, Key extends ObjectKey = ObjectKey> = Bivariant<
  [object: T, context: MapContext],
  Mapped<Key>
>;

declare const mapsTo: unique symbol;

/** Says, for the compiler alone, the objects of which kind a mapping reconciles. */
export interface MapsTo<K extends AnyKind> {
  /** Type-level only: absent at run time. */
  readonly [mapsTo]?: K;
}

declare const givesKeys: unique symbol;

/** Says, for the compiler alone, what the keys are that a mapping gives. */
export interface GivesKeys<Key> {
  /** Type-level only: absent at run time. */
  readonly [givesKeys]?: Key;
}

declare const staysWithin: unique symbol;

/**
 * Says, for the compiler alone, that a mapping's keys are in the namespace of the watched object,
 * and in none if that is in none.
 */
export interface StaysWithin<Is extends boolean> {
  /** Type-level only: absent at run time. */
  readonly [staysWithin]?: Is;
}

/** The keys of a mapping that {@link StaysWithin}. */
type KeyWithin<W extends AnyKind> = [ScopeOf<W>] extends ["Cluster"] ? ClusterKey : ObjectKey;

/** A mapping to the owners of the watched object: see {@link byOwner}. */
export type OwnerMapping<K extends AnyKind = AnyKind> = ((object: KubernetesObject) => Mapped) & MapsTo<K>;

/** A mapping to the objects that refer to the watched one: see {@link byReference}. */
export interface ReferenceMapping<K extends AnyKind = AnyKind> extends MapsTo<K> {
  readonly referrer: K;
  /** The keys of the objects that one of the referring kind refers to. */
  references(object: KubernetesObject): readonly ObjectKey[];
}

/**
 * A kind whose changes ask for reconciles. Make one with {@link watch}, which knows the type of the
 * objects.
 */
export interface Watches<
  W extends AnyKind = AnyKind,
  Index extends string = string,
  Target extends AnyKind = AnyKind,
  Key extends ObjectKey = ObjectKey,
> extends MapsTo<Target>,
    GivesKeys<Key> {
  readonly kind: W;
  readonly mapping: MapToKeys<KubernetesObject> | ReferenceMapping;
  readonly predicate?: Predicate;
  readonly scope?: InformerScope;
  readonly indexes?: Indexes<KubernetesObject, Index>;
}

/** How a kind is watched. */
export interface WatchOptions<
  W extends AnyKind,
  Index extends string = never,
  S extends InformerScope = InformerScope,
> {
  /** Which changes count. @default all */
  readonly predicate?: Predicate<ObjectOf<W>>;
  /**
   * Which objects are watched, and whether by their metadata alone: the mapping, the predicate and
   * the cache then have no more of them, by type too. @default all that the manager sees
   */
  readonly scope?: S;
  /**
   * For `cache.byIndex`. Reads see the objects of this scope, whatever other controllers watch of
   * the kind.
   *
   * @default none
   */
  readonly indexes?: Indexes<ObjectOf<W>, Index>;
}

/**
 * Watches a kind, and maps its changes to the objects to reconcile: by {@link byLabel},
 * {@link byOwner}, {@link byReference}, or a function of your own.
 *
 * @example
 * watches: [watch(ConfigMap, byReference(WebApp, ({ spec }) => spec.configMap))],
 */
export function watch<
  W extends AnyKind,
  Index extends string = never,
  Target extends AnyKind = AnyKind,
  const S extends InformerScope = InformerScope,
  Key extends ObjectKey = ObjectKey,
  Within extends boolean = false,
>(
  kind: W,
  mapping:
    | (MapToKeys<ObjectOf<Watched<W, S>>, Key> & MapsTo<Target> & StaysWithin<Within>)
    | ReferenceMapping<Target>,
  options: WatchOptions<Watched<W, S>, Index, S> = {},
): Watches<Watched<W, S>, Index, Target, Within extends true ? KeyWithin<W> : Key> {
  // One value stands for both: what is read of it follows from the scope.
  return { kind: kind as AnyKind as Watched<W, S>, mapping, ...options };
}

/** A kind as it is watched in a scope. */
type Watched<W extends AnyKind, S extends InformerScope> = S extends { readonly metadataOnly: true }
  ? MetadataOnly<W>
  : W;

/** How {@link byLabel} finds the object. */
export interface LabelOptions {
  /** The label with its namespace. @default it is in the namespace of the watched one */
  readonly namespace?: string;
}

/**
 * Reconciles the object that a label of the watched one names: the one in the same namespace,
 * unless another label names that too. Of a kind without namespaces, the one of the name.
 *
 * @example
 * watch(Pod, byLabel("app.kubernetes.io/instance"))
 * watch(ClusterRole, byLabel("example.com/team", { namespace: "example.com/team-namespace" }))
 */
export function byLabel(
  label: string,
  options: LabelOptions & { readonly namespace: string },
): (object: KubernetesObject) => Mapped;
export function byLabel(
  label: string,
  options?: LabelOptions,
): ((object: KubernetesObject) => Mapped) & StaysWithin<true>;
export function byLabel(
  label: string,
  { namespace: namespaceLabel }: LabelOptions = {},
): (object: KubernetesObject) => Mapped {
  return ({ metadata: { labels = {}, ...metadata } }) => {
    const name = labelOf(labels, label);
    const namespace = namespaceLabel === undefined ? metadata.namespace : labelOf(labels, namespaceLabel);
    // An object that lacks one of the labels belongs to another owner.
    if (!name || namespace === "" || (namespaceLabel !== undefined && namespace === undefined))
      return undefined;
    return { namespace, name };
  };
}

/** A label may have the name of what every object inherits, such as `constructor`. */
function labelOf(labels: Readonly<Record<string, string>>, name: string): string | undefined {
  return Object.hasOwn(labels, name) ? labels[name] : undefined;
}

/**
 * Reconciles the objects of a kind that the watched one has among its owners, be they its
 * controller or not. For children of the controller itself use `owns`.
 *
 * @param owner The controller's own kind.
 * @example
 * watch(ReplicaSet, byOwner(Deployment))
 */
export function byOwner<K extends AnyKind>(owner: K): OwnerMapping<K> {
  return ({ metadata: { namespace, ownerReferences = [] } }) =>
    ownerReferences
      .filter((reference) => refersTo(reference, owner))
      .map(({ name }) => (owner.scope === "Cluster" ? { name } : { namespace, name }));
}

/**
 * What an object refers to: a name in its own namespace or of a kind without namespaces, a key,
 * several of them, or nothing.
 */
export type Reference = string | ObjectKey | readonly (string | ObjectKey)[] | undefined;

/**
 * Reconciles the objects that refer to the watched one. Keeps an index of its own, so that a change
 * costs one look-up however many objects there are.
 *
 * @param referrer The controller's own kind.
 * @param references What such an object refers to: the name of an object in its namespace or of a
 *   kind without namespaces, or a key.
 * @example
 * watch(Secret, byReference(WebApp, ({ spec }) => spec.env.map(({ secretName }) => secretName)))
 */
export function byReference<K extends AnyKind>(
  referrer: K,
  references: (object: ObjectOf<K>) => Reference,
): ReferenceMapping<K> {
  return {
    referrer,
    references: (object: ObjectOf<K>) =>
      listOf(references(object)).map((one) =>
        typeof one === "string" ? { namespace: object.metadata.namespace, name: one } : one,
      ),
  };
}

function listOf(reference: Reference): readonly (string | ObjectKey)[] {
  if (reference === undefined) return [];
  return typeof reference === "object" && Symbol.iterator in reference ? reference : [reference];
}

/**
 * The key of an object of a kind as one string, as the index of a {@link ReferenceMapping} has it.
 *
 * @throws TypeError if the kind needs a namespace, and the key has none.
 */
export function referenceText({ kind, scope }: AnyKind, { namespace, name }: ObjectKey): string {
  if (scope === "Cluster") return name;
  if (!namespace)
    throw new TypeError(`the reference to ${kind} ${name} needs a namespace: { namespace, name }`);
  return `${namespace}/${name}`;
}
