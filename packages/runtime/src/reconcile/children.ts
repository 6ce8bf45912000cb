import {
  type AnyKind,
  apiVersionOf,
  type InputOf,
  isNotFound,
  type KubernetesObject,
  type ObjectKey,
  type ObjectMetaInput,
  type OwnerReference,
} from "@windlass/client";
import type { CacheReader } from "../cache/contract.ts";
import { describe, keyOf, type ReconcileClient } from "./client.ts";
import { type Deviations, deviations, fingerprint, sameDeviations } from "./compare.ts";
import { ChildError } from "./errors.ts";
import { controllerOf, controllerReference } from "./owner.ts";

/**
 * Kept on every child that a controller applied: who applied it, and the fingerprint of what was asked for. With it a
 * restarted controller knows, without a write, that nothing was dropped from the wanted configuration since; and it
 * prunes only what it applied itself.
 */
export const appliedAnnotation = "windlass.dev/applied";

/** A child that a reconciler wants: make one with {@link child}. */
export interface Child<K extends AnyKind = AnyKind> {
  readonly kind: K;
  readonly object: InputOf<K>;
}

/**
 * A child with its kind, checked by the compiler. Its namespace is the owner's unless it says otherwise.
 *
 * @example
 * children: [child(ConfigMap, { metadata: { name: "settings" }, data: { colour: "red" } })]
 */
export function child<K extends AnyKind>(kind: K, object: InputOf<K>): Child<K> {
  return { kind, object };
}

/** The children in a list that a reconciler returned, without those that it left out by a condition. */
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

/** What is remembered of the last apply of one child. Losing it costs at most one write that changes nothing. */
interface Applied {
  readonly fingerprint: string;
  readonly resourceVersion: string | undefined;
  readonly generation: number | undefined;
  /** What the server made of it: differences that are known and fine. */
  readonly accepted: Deviations;
}

/** What is remembered of one owner's children, by kind and key. */
export type ChildMemory = Map<string, Applied>;

/** A write about to happen, and what made it necessary. */
export interface ChildChange {
  readonly kind: AnyKind;
  readonly object: KubernetesObject;
  /** Paths that differ; empty if there is no such object yet. */
  readonly because: readonly string[];
}

export interface ChildrenOptions {
  readonly ownerKind: AnyKind;
  readonly owner: KubernetesObject;
  readonly owns: readonly OwnedKind[];
  readonly client: ReconcileClient;
  readonly cache: CacheReader;
  readonly memory: ChildMemory;
  /** The field manager of server-side apply; stable over versions of the operator, or fields are orphaned. */
  readonly fieldManager: string;
  readonly onSkip?: () => void;
  readonly onChange?: (change: ChildChange) => void;
}

/**
 * Applies the children of one owner.
 *
 * # Guarantees
 * - A child that is as wanted causes no write: not in the steady state, and not after a restart.
 * - A child that someone edited or deleted is put right. A field that is no longer wanted is removed on the server.
 * - What other managers set besides (an autoscaler's replicas, a sidecar) is left alone.
 * - Only children that this controller applied are pruned, and only the very object that was seen (by uid).
 *
 * # How
 * Server-side apply does the merging. Whether one is needed is decided here: the fingerprint of the wanted configuration is
 * compared with the one on the object, and the wanted fields with the cached object. What the server changes on its own
 * is learnt from the response to the last apply.
 */
export class Children {
  readonly #options: ChildrenOptions;
  readonly #wanted = new Set<string>();

  constructor(options: ChildrenOptions) {
    this.#options = options;
  }

  /** Applies one child if need be. Resolves to the object on the server. */
  async apply(child: Child): Promise<KubernetesObject> {
    const { client, cache, memory, fieldManager, onSkip, onChange } = this.#options;
    const { owned, object } = this.#prepare(child);
    const { kind } = owned;
    const key = keyOf(object);
    const id = idOf(kind, key);
    this.#wanted.add(id);
    const print = fingerprint(object);
    const live = cache.get(kind, key);
    if (live) this.#checkOwner(kind, live);
    const known = memory.get(id);
    if (live?.metadata.deletionTimestamp !== undefined) {
      // Applying to an object on its way out is lost work: its deletion brings the owner back here.
      memory.delete(id);
      return live;
    }
    const because = live ? difference(owned, object, live, print, fieldManager, known) : [];
    if (live && because.length === 0) {
      onSkip?.();
      return live;
    }
    if (live && controllerOf(live) === undefined && !(await this.#mayAdopt())) {
      memory.delete(id);
      return live;
    }
    const marked = {
      ...object,
      metadata: {
        ...object.metadata,
        annotations: { ...object.metadata.annotations, [appliedAnnotation]: `${fieldManager}:${print}` },
      },
    };
    const after = await client.apply(kind, marked as InputOf<typeof kind>, { fieldManager, force: true });
    memory.set(id, {
      fingerprint: print,
      resourceVersion: after.metadata.resourceVersion,
      generation: after.metadata.generation,
      accepted: deviations(object, after),
    });
    onChange?.({ kind, object: after, because });
    return after;
  }

  /** Deletes the children that were applied by this controller and have not been asked for in this run. */
  async prune(): Promise<void> {
    const { owner, owns, client, cache, memory, fieldManager } = this.#options;
    const uid = owner.metadata.uid ?? "";
    for (const { kind } of owns) {
      for (const child of cache.ownedBy(kind, uid)) {
        const id = idOf(kind, keyOf(child));
        const isOurs =
          child.metadata.annotations?.[appliedAnnotation]?.startsWith(`${fieldManager}:`) ?? false;
        if (!isOurs || this.#wanted.has(id) || child.metadata.deletionTimestamp !== undefined) continue;
        if (controllerOf(child)?.uid !== uid) continue;
        memory.delete(id);
        await ignoreNotFound(
          client.delete(kind, keyOf(child), {
            propagationPolicy: "Background",
            ...(child.metadata.uid ? { preconditions: { uid: child.metadata.uid } } : {}),
          }),
        );
      }
    }
  }

  #prepare(child: Child): { owned: OwnedKind; object: KubernetesObject } {
    const { ownerKind, owner, owns } = this.#options;
    const from = describe(ownerKind, keyOf(owner));
    const { kind: given } = child;
    const { status: _status, ...object } = child.object as ChildObject;
    const name = object.metadata?.name;
    const owned = owns.find(({ kind }) => kind.kind === given.kind && kind.group === given.group);
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
    const {
      namespace: _namespace,
      uid: _uid,
      resourceVersion: _version,
      managedFields: _fields,
      creationTimestamp: _time,
      ...metadata
    } = object.metadata ?? {};
    return {
      owned,
      object: {
        ...object,
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
   * Whether the owner, asked of the server itself, is still there to stay. A child without an owner may have been let go by the
   * owner's deletion (`--cascade=orphan`), of which the cache has not heard yet: taking it back would be its end.
   */
  async #mayAdopt(): Promise<boolean> {
    const { client, ownerKind, owner } = this.#options;
    try {
      const { metadata } = await client.live.get(ownerKind, keyOf(owner));
      return metadata.uid === owner.metadata.uid && metadata.deletionTimestamp === undefined;
    } catch (error) {
      if (isNotFound(error)) return false;
      throw error;
    }
  }

  #checkOwner(kind: AnyKind, live: KubernetesObject): void {
    const { ownerKind, owner } = this.#options;
    const controller = controllerOf(live);
    if (controller && controller.uid !== owner.metadata.uid)
      throw new ChildError(
        "ChildOwnedByOther",
        `${describe(kind, keyOf(live))} is controlled by ${controller.kind} ${controller.name}, so ${describe(ownerKind, keyOf(owner))} cannot have it as a child; choose another name, or remove the other owner`,
      );
  }
}

/** Why an apply is needed: the paths that differ. Empty when none is. */
function difference(
  owned: OwnedKind,
  wanted: KubernetesObject,
  live: KubernetesObject,
  print: string,
  fieldManager: string,
  known: Applied | undefined,
): readonly string[] {
  if (live.metadata.annotations?.[appliedAnnotation] !== `${fieldManager}:${print}`) {
    const found = owned.metadataOnly ? [] : [...deviations(wanted, live).keys()];
    return found.length > 0 ? found : [`metadata.annotations.${appliedAnnotation}`];
  }
  const isRemembered = known?.fingerprint === print;
  if (isRemembered && known.resourceVersion === live.metadata.resourceVersion) return [];
  if (owned.metadataOnly) {
    // The spec is not here to compare. Its generation is, for the kinds that have one.
    const isSame =
      isRemembered && known.generation !== undefined && known.generation === live.metadata.generation;
    return isSame ? [...deviations(wanted.metadata, live.metadata).keys()] : ["spec"];
  }
  const found = deviations(wanted, live);
  if (found.size === 0 || (isRemembered && sameDeviations(found, known.accepted))) return [];
  return [...found.keys()];
}

function withOwner(
  given: readonly OwnerReference[] | undefined,
  owner: OwnerReference,
): readonly OwnerReference[] {
  return [...(given ?? []).filter((reference) => reference.uid !== owner.uid), owner];
}

function idOf(kind: AnyKind, key: ObjectKey): string {
  return `${kind.group}/${kind.kind}/${key.namespace ?? ""}/${key.name}`;
}

/** Waits for a delete, and takes "not there" for done. */
async function ignoreNotFound(deletion: Promise<unknown>): Promise<void> {
  try {
    await deletion;
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}
