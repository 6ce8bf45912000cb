import {
  type AnyKind,
  apiVersionOf,
  type InputOf,
  type KubernetesObject,
  type NamedMetaInput,
  type ObjectMetaInput,
  type ObjectOf,
} from "@windlass/client";
import type { Bivariant } from "../controller/bivariant.ts";
import { withEncodedStringData } from "../kinds/secret.ts";
import { describe, keyOf } from "./client.ts";
import { ChildError } from "./errors.ts";
import type { NothingElse } from "./exact.ts";
import { NotJsonError, plainJson } from "./json.ts";
import { controllerReference, withOwner } from "./owner.ts";

/** In which order a child is applied, and how it is treated. */
export interface ChildOptions<K extends AnyKind = AnyKind> {
  /**
   * Other children that must be ready before this one is applied: created, or changed. Until then
   * it is left as it is, and nothing is deleted that is no longer wanted. @default none
   */
  readonly after?: readonly Child[];
  /**
   * When those that come after this one may follow, from the object on the server. Never while
   * that is being deleted.
   *
   * @default {@link isReady}
   */
  readonly readyWhen?: Bivariant<[object: ObjectOf<K>], boolean>;
  /**
   * `never`: it is created if it is missing, and left alone from then on. For what others fill in,
   * such as a Secret with a generated password. @default "always"
   */
  readonly update?: "always" | "never";
  /**
   * What to do where a field differs that cannot be changed, such as a Deployment's selector.
   * `replace`: delete the object and create it again, if the server would take the new one.
   * @default "fail"
   */
  readonly onImmutable?: "fail" | "replace";
  /**
   * What happens to the object when it is no longer among the children. `keep`: it loses its owner,
   * and stays. When the owner itself is deleted, Kubernetes still deletes its children.
   * @default "delete"
   */
  readonly onRemoval?: "delete" | "keep";
  /**
   * Fields whose value stays when they are no longer wanted, because another takes them over: an
   * autoscaler the `replicas`. Otherwise a field that nobody applies any more falls back to its
   * default, here to one replica. They are held, by a field manager of this purpose, until the
   * other writes them, and wanted again as soon as the child has them.
   *
   * @default none
   * @example
   * child(Deployment, web, { handOver: { spec: { replicas: true } } })
   */
  readonly handOver?: FieldsOf<InputOf<K>>;
  /**
   * Take the object over if it exists already and has no owner, no matter who made it: its fields
   * are set as wanted, and it goes with its owner. Without it such an object is left alone, and the
   * reconcile fails with `ChildAlreadyExists`. An object that has another controller is never taken
   * over. @default false
   */
  readonly adopt?: boolean;
}

/** Some fields of a type, at any depth; not the items of lists. */
export type FieldsOf<T> = unknown extends T
  ? object
  : NonNullable<T> extends infer Value
    ? Value extends readonly unknown[]
      ? never
      : Value extends object
        ? { readonly [Field in keyof Value]?: FieldsOf<Value[Field]> }
        : true
    : never;

/** What a child of any kind has: its name. */
export interface NamedObject {
  readonly metadata: NamedMetaInput;
}

/**
 * A child that a reconciler wants: make one with {@link child}. A changed one is a copy, whatever
 * its kind: `{ ...one, object: { ...one.object, metadata } }`.
 */
export interface Child<K extends AnyKind = AnyKind> {
  readonly kind: K;
  readonly object: InputOf<K> & NamedObject;
  readonly options: ChildOptions<K>;
}

/**
 * A child with its kind, checked by the compiler. Its namespace is the owner's unless it says
 * otherwise.
 *
 * @example
 * const settings = child(ConfigMap, { metadata: { name: "settings" }, data: { colour: "red" } });
 * const web = child(Deployment, { metadata: { name: "web" }, spec }, { after: [settings] });
 * return { children: [settings, web] };
 */
export function child<K extends AnyKind, const Given extends InputOf<K> = InputOf<K>>(
  kind: K,
  object: InputOf<K> & NothingElse<Given, InputOf<K>>,
  options: ChildOptions<K> = {},
): Child<K> {
  // Whatever the kind, a child has a name; that is checked when it is applied.
  const named: unknown = object;
  return { kind, object: named as InputOf<K> & NamedObject, options };
}

/** A child as messages name it. */
export function describeChild({ kind, object }: Child): string {
  return describe(kind, keyOf(object));
}

/**
 * The children in a list that a reconciler returned, without those that it left out by a condition.
 */
export function wantedChildren<K extends AnyKind>(
  listed: readonly (Child<K> | undefined | false)[] = [],
): readonly Child<K>[] {
  return listed.filter((one) => one !== undefined && one !== false);
}

/** What a child looks like to code that works with every kind. */
interface ChildObject {
  readonly apiVersion?: string;
  readonly metadata?: ObjectMetaInput;
  readonly status?: unknown;
}

/** A kind that a controller owns. */
export interface OwnedKind {
  readonly kind: AnyKind;
  readonly metadataOnly: boolean;
}

/** A child with its owner, as plain JSON, ready to be compared and sent. */
export interface WantedChild {
  readonly owned: OwnedKind;
  readonly object: KubernetesObject & { readonly [field: string]: unknown };
  readonly options: ChildOptions;
}

/** Whose children they are. */
export interface Owner {
  readonly ownerKind: AnyKind;
  readonly owner: KubernetesObject;
  readonly owns: readonly OwnedKind[];
}

/** @throws ChildError naming the child, what is wrong with it, and the way out. */
export function wantedChild(child: Child, { ownerKind, owner, owns }: Owner): WantedChild {
  const { kind: given, options } = child;
  const object = child.object as ChildObject;
  const from = describe(ownerKind, keyOf(owner));
  const name = object.metadata?.name;
  const owned = owns.find((one) => one.kind.kind === given.kind && one.kind.group === given.group);
  if (!owned)
    throw new ChildError(
      "ChildNotDeclared",
      `${from} returned a ${given.kind} (${given.group || "core group"}) as a child; add it to the controller's "owns"`,
    );
  if (!name)
    throw new ChildError(
      "ChildInvalid",
      `${from} returned a ${given.kind} without metadata.name; a child needs a stable name`,
    );
  const { kind } = owned;
  const namespace =
    kind.scope === "Cluster" ? undefined : (object.metadata?.namespace ?? owner.metadata.namespace);
  const subject = describe(kind, namespace === undefined ? { name } : { namespace, name });
  if (kind.scope === "Namespaced" && namespace === undefined)
    throw new ChildError(
      "ChildInvalid",
      `${subject} needs metadata.namespace: its owner ${from} is cluster-scoped`,
    );
  if (owner.metadata.namespace !== undefined && namespace !== owner.metadata.namespace)
    throw new ChildError(
      "ChildInvalid",
      `${subject} cannot be owned by ${from}: an owner in a namespace owns only objects in that namespace. Apply it with context.client and remove it in "finalize".`,
    );
  const { metadata, ...rest } = sendable(kind, object, subject);
  return {
    owned,
    options,
    object: {
      ...rest,
      apiVersion: object.apiVersion ?? apiVersionOf(kind),
      kind: kind.kind,
      metadata: {
        ...metadata,
        name,
        ...(namespace === undefined ? {} : { namespace }),
        ownerReferences: withOwner(metadata.ownerReferences, controllerReference(ownerKind, owner)),
      },
    },
  };
}

/**
 * @throws ChildError if two of the children are one object: each would be undone by the other with
 *   every reconcile.
 */
export function checkDistinct(
  children: readonly Child[],
  { ownerKind, owner }: Pick<Owner, "ownerKind" | "owner">,
): void {
  if (children.length < 2) return;
  const taken = new Set<string>();
  for (const { kind, object } of new Set(children)) {
    const { namespace = owner.metadata.namespace ?? "", name } = keyOf(object);
    const id = `${kind.group}/${kind.kind}/${kind.scope === "Cluster" ? "" : namespace}/${name}`;
    if (taken.has(id))
      throw new ChildError(
        "ChildInvalid",
        `${describe(ownerKind, keyOf(owner))} returned ${describe(kind, keyOf(object))} twice; give each child a name of its own`,
      );
    taken.add(id);
  }
}

/** What is sent of an object: plain JSON, without what only the server sets. */
function sendable(kind: AnyKind, object: ChildObject, subject: string) {
  const {
    namespace: _namespace,
    uid: _uid,
    resourceVersion: _version,
    managedFields: _fields,
    creationTimestamp: _time,
    ...metadata
  } = object.metadata ?? {};
  const { status: _status, ...rest } = object;
  try {
    const plain = plainJson({ ...rest, metadata }, "") as KubernetesObject & Record<string, unknown>;
    return kind.group === "" && kind.kind === "Secret" ? withEncodedStringData(plain) : plain;
  } catch (error) {
    if (!(error instanceof NotJsonError)) throw error;
    const { path, what, instead } = error;
    throw new ChildError(
      "ChildInvalid",
      `${subject}: ${path} is ${what}, which JSON cannot hold; ${instead}`,
      { cause: error },
    );
  }
}
