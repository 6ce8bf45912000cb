/**
 * What every Kubernetes object carries. Plain JSON, as the API server sent it: timestamps are
 * strings.
 */
export interface ObjectMeta {
  readonly name: string;
  readonly namespace?: string;
  readonly generateName?: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly generation?: number;
  readonly creationTimestamp?: string;
  readonly deletionTimestamp?: string;
  readonly deletionGracePeriodSeconds?: number;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly ownerReferences?: readonly OwnerReference[];
  readonly finalizers?: readonly string[];
  readonly managedFields?: readonly ManagedFieldsEntry[];
  readonly selfLink?: string;
}

/** The metadata of an object that lives in a namespace. */
export interface NamespacedObjectMeta extends ObjectMeta {
  readonly namespace: string;
}

/** The metadata of an object that lives in no namespace. */
export interface ClusterObjectMeta extends ObjectMeta {
  readonly namespace?: never;
}

/** The owner of an object, as its `metadata.ownerReferences` has it. */
export interface OwnerReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly controller?: boolean;
  readonly blockOwnerDeletion?: boolean;
}

/** Which fields a manager has set, as `metadata.managedFields` has it. */
export interface ManagedFieldsEntry {
  readonly manager?: string;
  readonly operation?: "Apply" | "Update";
  readonly apiVersion?: string;
  readonly time?: string;
  readonly fieldsType?: string;
  readonly fieldsV1?: unknown;
  readonly subresource?: string;
}

/**
 * Metadata that may lack a name: that of a template, or of an object whose name the server
 * generates.
 */
export type ObjectMetaInput = { readonly [Field in keyof ObjectMeta]?: ObjectMeta[Field] | undefined };

/** The metadata of an object as one writes it: it has a name, and the server fills in the rest. */
export interface NamedMetaInput extends ObjectMetaInput {
  readonly name: string;
}

/** The metadata of an object as one writes it that lives in no namespace. */
export interface ClusterMetaInput extends NamedMetaInput {
  readonly namespace?: undefined;
}

/** The metadata of an object that the server generates a name for. */
export interface GeneratedNameMetaInput extends Omit<ObjectMetaInput, "name"> {
  readonly generateName: string;
}

/** What every object of every kind has. */
export interface KubernetesObject {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata: ObjectMeta;
}

/** The metadata of a list. */
export interface ListMeta {
  readonly resourceVersion?: string;
  readonly continue?: string;
  readonly remainingItemCount?: number;
}

/** A list of objects. */
export interface KubernetesList<T> {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata: ListMeta;
  readonly items: readonly T[];
}

/** Whether the objects of a kind live in a namespace. */
export type Scope = "Namespaced" | "Cluster";

declare const read: unique symbol;
declare const write: unique symbol;
declare const whole: unique symbol;

/**
 * A kind the API server serves, as a value: how to address it, and (for the compiler alone) what
 * its objects look like. `Read` is what the server returns, `Write` what one may send: defaulted
 * fields are optional there. With `Where`, the compiler knows which of its objects have a
 * namespace.
 *
 * Kubernetes' own kinds come from `@windlass/kinds/builtin`; `defineResource` makes one from a
 * schema; for a kind known only at run time write the five fields by hand.
 *
 * @example
 * const Rollout: ResourceKind = { group: "argoproj.io", version: "v1alpha1", kind: "Rollout", plural: "rollouts", scope: "Namespaced" };
 */
export interface ResourceKind<
  Read extends KubernetesObject = AnyObject,
  Write = Read,
  Where extends Scope = Scope,
> {
  /** The API group; empty for the core group. */
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly scope: Where;
  /**
   * In what form reads and watches ask for the objects; see {@link metadataOnly}.
   *
   * @default the kind's own
   */
  readonly representation?: "PartialObjectMetadata";
  /** Type-level only: absent at run time. */
  readonly [read]?: Read;
  /** Type-level only: absent at run time. */
  readonly [write]?: Write;
}

/**
 * A kind where one of several is asked for, such as those that a controller declares: the members
 * that differ between kinds, and no more. In a union with a type that has all members of a kind,
 * the compiler compares any other kind with that type.
 */
export interface DeclaredKind<Read, Write, Whole = unknown> {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly scope: Scope;
  /** Type-level only: absent at run time. */
  readonly [read]?: Read;
  /** Type-level only: absent at run time. */
  readonly [write]?: Write;
  /** Type-level only: absent at run time. */
  readonly [whole]?: Whole;
}

/** Any kind at all: the bound for code that works with every kind. */
export type AnyKind = ResourceKind<KubernetesObject, unknown>;

/**
 * Any kind whose objects live in a namespace: the bound for code that addresses objects of many
 * kinds by namespace and name.
 *
 * @example
 * const find = <K extends NamespacedKind>(kind: K, name: string) => client.get(kind, { namespace, name });
 */
export type NamespacedKind = ResourceKind<KubernetesObject, unknown, "Namespaced">;

/** An object whose kind is not known to the compiler. */
export interface AnyObject extends KubernetesObject {
  readonly [field: string]: unknown;
}

/** The type of object that a kind's reads return. */
export type ObjectOf<K> = K extends ResourceKind<infer Read, infer _Write> ? Read : never;

/** The type of object that a kind's writes take. */
export type InputOf<K> = K extends ResourceKind<infer _Read, infer Write> ? Write : never;

/**
 * Whether a kind's objects live in a namespace, as far as the compiler knows: either, for a kind
 * known only at run time.
 */
export type ScopeOf<K> = K extends { readonly scope: infer Where extends Scope } ? Where : never;

/** What a write must say of the object's namespace. What is known only at run time may have one. */
type InNamespace<K> = [ScopeOf<K>] extends ["Namespaced"]
  ? { readonly metadata: { readonly namespace: string } }
  : [ScopeOf<K>] extends ["Cluster"]
    ? { readonly metadata?: { readonly namespace?: undefined } }
    : unknown;

/** The same object, for which the server generates a name. */
type WithGeneratedName<Input> = Omit<Input, "metadata"> & { readonly metadata: GeneratedNameMetaInput };

/**
 * What creates an object of a kind: it has a name or has one generated, and a namespace if its kind
 * lives in one.
 */
export type CreateOf<K> =
  unknown extends InputOf<K> ? unknown : (InputOf<K> | WithGeneratedName<InputOf<K>>) & InNamespace<K>;

/** What replaces an object of a kind: it names the object. */
export type UpdateOf<K> = InputOf<K> & InNamespace<K>;

/** The same type with every field optional, at any depth; undefined fields are left out. */
export type DeepPartial<T> = T extends readonly (infer Item)[]
  ? readonly DeepPartial<Item>[]
  : T extends object
    ? { readonly [Field in keyof T]?: DeepPartial<T[Field]> | undefined }
    : T;

/**
 * What server-side apply takes of a kind: the fields that one wants to own, and no others. The
 * server merges them with those of other owners, so nothing but the name and the namespace is
 * required.
 */
export type ApplyOf<K> =
  unknown extends InputOf<K>
    ? unknown
    : DeepPartial<InputOf<K>> & { readonly metadata: { readonly name: string } } & InNamespace<K>;

/**
 * A JSON merge patch (RFC 7386) of a type: any of its fields, at any depth. Null removes a field, a
 * list replaces the whole list, and what is undefined is left as it is.
 */
export type MergePatch<T> = unknown extends T
  ? unknown
  : T extends readonly unknown[]
    ? T
    : T extends object
      ? { readonly [Field in keyof T]?: MergePatch<T[Field]> | null | undefined }
      : T;

/**
 * What a merge patch takes of a kind. Anything at all for a kind known only at run time:
 * `client.patch<AnyKind>(…)` leaves the check to the server.
 */
export type MergePatchOf<K> = MergePatch<[InputOf<K>] extends [never] ? ObjectOf<K> : InputOf<K>>;

/** An object that says what kind it is of, as a manifest file has it. */
export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: NamedMetaInput;
}

/**
 * Takes a document of which nothing is known, such as one of a YAML file, for a manifest.
 *
 * @param from Where it is from, for the error.
 * @throws TypeError unless it says its apiVersion, its kind and its name
 * @example
 * for (const one of loadAll(text)) await applyManifest(client, asManifest(one, file));
 */
export function asManifest(document: unknown, from: string): Manifest & Readonly<Record<string, unknown>> {
  if (!isManifest(document))
    throw new TypeError(`${from}: a manifest needs apiVersion, kind and metadata.name`);
  return document;
}

function isManifest(document: unknown): document is Manifest & Readonly<Record<string, unknown>> {
  if (typeof document !== "object" || document === null) return false;
  const { apiVersion, kind, metadata } = document as { readonly [Field in keyof Manifest]?: unknown };
  if (typeof apiVersion !== "string" || typeof kind !== "string") return false;
  if (typeof metadata !== "object" || metadata === null) return false;
  return "name" in metadata && typeof metadata.name === "string";
}

/** A kind whose objects are read without spec and status, and not written. */
export interface MetadataOnly<K extends AnyKind = AnyKind>
  extends ResourceKind<
    KubernetesObject & Pick<ObjectOf<K> & KubernetesObject, "metadata">,
    never,
    K["scope"]
  > {
  /** Type-level only: absent at run time. */
  readonly [whole]?: K;
}

/**
 * The same kind, read without spec and status: lists and watches carry apiVersion, kind and
 * metadata alone, at a tenth of the cost. The objects' own `kind` is then `PartialObjectMetadata`.
 *
 * @example
 * for await (const event of client.watch(metadataOnly(Pod))) console.log(event.object.metadata.name);
 */
export function metadataOnly<K extends AnyKind>(kind: K): MetadataOnly<K> {
  const { group, version, plural, scope } = kind;
  return { group, version, kind: kind.kind, plural, scope, representation: "PartialObjectMetadata" };
}

/**
 * Where an object is. `namespace` is left out, or undefined, for cluster-scoped kinds: an object's
 * own metadata will do.
 */
export interface ObjectKey {
  readonly namespace?: string | undefined;
  readonly name: string;
}

/** Where an object that lives in a namespace is. */
export interface NamespacedKey {
  readonly namespace: string;
  readonly name: string;
}

/** Where an object that lives in no namespace is. */
export interface ClusterKey {
  readonly namespace?: undefined;
  readonly name: string;
}

interface KeyByScope {
  readonly Namespaced: NamespacedKey;
  readonly Cluster: ClusterKey;
}

/**
 * Where an object of this kind is: kinds whose objects live in a namespace have one in their keys,
 * cluster-scoped ones have none. For a kind known only at run time it is any key.
 */
export type KeyOf<K extends Pick<AnyKind, "scope">> =
  | KeyByScope[K["scope"]]
  | (Scope extends K["scope"] ? ObjectKey : never);

/**
 * Whether an object is of a kind and version, by its `apiVersion` and `kind`: for objects that were
 * read without knowing their kind, such as manifests.
 *
 * @example
 * const maps = objects.filter((object) => isObjectOf(ConfigMap, object));
 */
export function isObjectOf<K extends AnyKind>(kind: K, object: unknown): object is ObjectOf<K> {
  if (typeof object !== "object" || object === null) return false;
  const { apiVersion, kind: name } = object as Partial<KubernetesObject>;
  return apiVersion === apiVersionOf(kind) && name === kind.kind;
}

/**
 * `group/version`, or the version alone for the core group, as objects carry it in `apiVersion`.
 */
export function apiVersionOf(kind: Pick<ResourceKind, "group" | "version">): string {
  return kind.group === "" ? kind.version : `${kind.group}/${kind.version}`;
}
