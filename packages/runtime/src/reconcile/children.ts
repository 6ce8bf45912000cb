import {
  type AnyKind,
  type InputOf,
  ignoreNotFound,
  isConflict,
  isInvalid,
  isNotFound,
  type KubernetesObject,
  type ObjectKey,
} from "@windlass/client";
import type { Cache } from "../cache/contract.ts";
import {
  type Child,
  checkDistinct,
  type OwnedKind,
  type Owner,
  type WantedChild,
  wantedChild,
} from "./child.ts";
import { keyOf, type ReconcileClient } from "./client.ts";
import { type Deviations, deviations, type IsSame, isFinal, notCached, sameDeviations } from "./compare.ts";
import { deleteObject } from "./delete-object.ts";
import { withoutEmptied } from "./emptied.ts";
import { fingerprint } from "./json.ts";
import { type AppliedFields, ownedFieldsOf } from "./managed-fields.ts";
import { controllerOf } from "./owner.ts";
import type { SchemaFacts, SchemaView } from "./schema-facts.ts";
import {
  appliedAnnotation,
  appliedMark,
  isAppliedBy,
  isKept,
  letGo,
  onRemovalAnnotation,
  refusal,
  type Standing,
  standingOf,
} from "./standing.ts";
import { isAdmittedForm, isStoredForm } from "./stored-form.ts";

/** A version of a child. */
interface Seen {
  readonly resourceVersion: string | undefined;
  readonly generation: number | undefined;
  /** Who owned its fields; unknown of what did not come from the cache. */
  readonly owners: string | undefined;
}

/**
 * What is remembered of the last apply of one child. Losing it costs at most one write that changes
 * nothing.
 */
interface Applied {
  readonly fingerprint: string;
  /** The version that was last found to be as wanted. */
  readonly seen: Seen;
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

/** What applying and pruning children needs. */
export interface ChildrenOptions extends Owner {
  readonly client: ReconcileClient;
  readonly cache: Cache;
  readonly memory: ChildMemory;
  readonly schemas: SchemaFacts;
  /**
   * The field manager of server-side apply; stable over versions of the operator, or fields are
   * orphaned.
   */
  readonly fieldManager: string;
  readonly onSkip?: () => void;
  readonly onChange?: (change: ChildChange) => void;
  /** Somebody else's object is in the place of a child. */
  readonly onRefused?: (owned: OwnedKind, key: ObjectKey) => Promise<unknown>;
}

/** A child as it is applied, and how it is remembered. */
interface MarkedChild extends WantedChild {
  readonly id: string;
  /** Of what was asked for. */
  readonly fingerprint: string;
}

/** An object on the server, and what our field manager owns of it: read only if it matters. */
interface Live {
  readonly object: KubernetesObject;
  readonly owned: () => (AppliedFields & { readonly version?: string }) | undefined;
}

/**
 * Where an apply is allowed to land: on the object that was seen, or where there is none. The
 * server refuses to change an object's uid. And it compares the version that an apply carries with
 * the object's if there is one; no object has the version 1, which is that of an empty store.
 */
type Landing = { readonly uid: string | undefined } | { readonly resourceVersion: "1" };

const none: Deviations = new Map();

const onNothing: Landing = { resourceVersion: "1" };

/**
 * Applies the children of one owner.
 *
 * # Guarantees
 * - A child is written if the server's own dry run of the apply would change something, and only
 *   then: not in the steady state, and not after a restart.
 * - A child that someone edited or deleted is put right. A field that is no longer wanted is
 *   removed on the server.
 * - What other managers set besides (an autoscaler's replicas, a sidecar) is left alone.
 * - An object that was not made for this owner is left alone, unless it was handed over: see
 *   {@link standingOf}. This holds whatever others create or delete at the same time.
 * - Only children that this controller applied are pruned, and only the object that was seen (by
 *   uid).
 *
 * # How
 * Server-side apply does the merging. Whether one is needed is decided here, from the cache: the
 * fingerprint on the object says whether it was this configuration that was applied last, and the
 * server's record of field owners says whether anybody has changed a field of it since.
 */
export class Children {
  readonly #options: ChildrenOptions;
  readonly #wanted = new Set<string>();
  readonly #applied = new Map<Child, KubernetesObject>();

  constructor(options: ChildrenOptions) {
    this.#options = options;
  }

  /**
   * Applies one child if need be. Resolves to the object on the server.
   *
   * @throws ChildError if it cannot be a child of this owner.
   */
  async apply(child: Child): Promise<KubernetesObject> {
    const object = await this.#bring(child);
    this.#applied.set(child, object);
    return object;
  }

  /** @throws ChildError if two of them are one object. */
  checkDistinct(children: readonly Child[]): void {
    checkDistinct(children, this.#options);
  }

  /** The object on the server of a child that was applied in this run. */
  applied(child: Child): KubernetesObject | undefined {
    return this.#applied.get(child);
  }

  async #bring(child: Child): Promise<KubernetesObject> {
    const { cache, fieldManager } = this.#options;
    const wanted = this.#marked(wantedChild(child, this.#options));
    const { kind } = wanted.owned;
    this.#wanted.add(wanted.id);
    const key = keyOf(wanted.object);
    const cached = cache.get(kind, key);
    if (cached) {
      const owned = () => cache.ownedFields(kind, key, fieldManager);
      return await this.#update(wanted, { object: cached, owned });
    }
    try {
      return await this.#send(wanted, onNothing, none);
    } catch (error) {
      if (!isConflict(error)) throw error;
      return await this.#update(wanted, await this.#read(kind, key, error));
    }
  }

  /**
   * Deletes the children, or lets them go, that were applied by this controller and have not been
   * asked for in this run.
   */
  async prune(): Promise<void> {
    const { owner, owns, client, cache, memory, fieldManager } = this.#options;
    const uid = owner.metadata.uid ?? "";
    for (const { kind } of owns) {
      for (const child of cache.ownedBy(kind, uid)) {
        const id = childId(kind, keyOf(child));
        if (this.#wanted.has(id) || child.metadata.deletionTimestamp !== undefined) continue;
        if (!isAppliedBy(child, fieldManager) || controllerOf(child)?.uid !== uid) continue;
        memory.delete(id);
        if (isKept(child)) await letGo(client, kind, child, uid);
        else await deleteObject(client, kind, child, { propagationPolicy: "Background" });
      }
    }
  }

  /** The child with the annotation that says what was applied, and for whom. */
  #marked(child: WantedChild): MarkedChild {
    const { object, owned } = child;
    const print = fingerprint(object);
    const annotations = {
      ...object.metadata.annotations,
      ...(child.options.onRemoval === "keep" ? { [onRemovalAnnotation]: "keep" } : {}),
      [appliedAnnotation]: appliedMark(this.#options, print),
    };
    return {
      ...child,
      id: childId(owned.kind, keyOf(object)),
      fingerprint: print,
      object: { ...object, metadata: { ...object.metadata, annotations } },
    };
  }

  /** Brings an object that exists to what is wanted, if it is ours to change. */
  async #update(wanted: MarkedChild, live: Live): Promise<KubernetesObject> {
    const { memory, onSkip, onRefused } = this.#options;
    const { owned, id, options } = wanted;
    const standing = standingOf(live.object, this.#options, options);
    if (standing.is === "foreign" || standing.is === "controlled") {
      memory.delete(id);
      await onRefused?.(owned, keyOf(live.object));
      throw refusal(owned.kind, live.object, this.#options, standing);
    }
    if (live.object.metadata.deletionTimestamp !== undefined) {
      // Applying to an object that is being deleted is lost work: its deletion brings the owner
      // back here.
      memory.delete(id);
      return live.object;
    }
    if (options.update === "never") {
      if (standing.is === "ours") {
        onSkip?.();
        return live.object;
      }
      // It gets its owner, and keeps its content.
      const { apiVersion = "", kind = "", metadata } = wanted.object;
      return await this.#change({ ...wanted, object: { apiVersion, kind, metadata } }, live, standing);
    }
    return await this.#change(wanted, live, standing);
  }

  async #change(wanted: MarkedChild, live: Live, standing: Standing): Promise<KubernetesObject> {
    const { memory, onSkip } = this.#options;
    const found = this.#difference(wanted, live);
    if (found.size === 0) {
      onSkip?.();
      return live.object;
    }
    if (standing.is === "free" && !(await this.#isOwnerStaying())) {
      memory.delete(wanted.id);
      return live.object;
    }
    const landing = { uid: live.object.metadata.uid };
    try {
      const shrunk = withoutEmptied(wanted.object, live.owned()?.fields ?? {});
      if (shrunk !== wanted.object) await this.#applyTo({ ...wanted, object: shrunk }, landing);
      return await this.#send(wanted, landing, found);
    } catch (error) {
      if (wanted.options.onImmutable !== "replace" || !isInvalid(error)) throw error;
      return await this.#replace(wanted, live.object, error);
    }
  }

  /**
   * Deletes an object that the server does not let be changed, and creates it again. Where it is
   * not the change that is refused but the object itself, nothing is deleted.
   */
  async #replace(wanted: MarkedChild, live: KubernetesObject, refused: unknown): Promise<KubernetesObject> {
    const { client, memory, fieldManager } = this.#options;
    const { kind } = wanted.owned;
    const { name, ...metadata } = wanted.object.metadata;
    const probe = { ...wanted.object, metadata: { ...metadata, generateName: `${name.slice(0, 40)}-` } };
    try {
      await client.create(kind, probe, { dryRun: true, fieldManager });
    } catch (error) {
      throw isInvalid(error) ? refused : error;
    }
    memory.delete(wanted.id);
    await deleteObject(client, kind, live, { propagationPolicy: "Background" });
    try {
      return await this.#send(wanted, onNothing, none);
    } catch (error) {
      // Finalizers or a grace period hold it. Its end brings the owner back here.
      if (isConflict(error)) return live;
      throw error;
    }
  }

  async #send(wanted: MarkedChild, landing: Landing, found: Deviations): Promise<KubernetesObject> {
    const { memory, onChange } = this.#options;
    const { id, owned, fingerprint } = wanted;
    let [after, accepted] = await this.#applyTo(wanted, landing);
    const isNew = "resourceVersion" in landing;
    if (!isNew && !isFinal(accepted, found))
      [after, accepted] = await this.#applyTo(wanted, { uid: after.metadata.uid });
    const { resourceVersion } = after.metadata;
    const seen = { resourceVersion, generation: undefined, owners: undefined };
    memory.set(id, { fingerprint, seen, accepted });
    onChange?.({ kind: owned.kind, object: after, because: reasons(found) });
    return after;
  }

  /**
   * Applies the child as it is. Resolves to the object on the server, and to what it still differs
   * in.
   */
  async #applyTo({ object, owned }: MarkedChild, landing: Landing): Promise<[KubernetesObject, Deviations]> {
    const { client, fieldManager, schemas } = this.#options;
    const bound = { ...object, metadata: { ...object.metadata, ...landing } };
    const after = await client.apply(owned.kind, bound as InputOf<AnyKind>, { fieldManager, force: true });
    const live = { object: after, owned: () => ownedFieldsOf(after, fieldManager) };
    return [after, compare({ object, owned }, live, isStoredForm, schemas.learning(owned.kind))];
  }

  /** Where an apply would change something. Empty when it would not. */
  #difference(wanted: MarkedChild, live: Live): Deviations {
    const { memory, schemas } = this.#options;
    const { id, object, owned, fingerprint } = wanted;
    const { annotations, resourceVersion, generation } = live.object.metadata;
    const isApplied = annotations?.[appliedAnnotation] === object.metadata.annotations?.[appliedAnnotation];
    const last = memory.get(id);
    const known = isApplied && last?.fingerprint === fingerprint ? last : undefined;
    if (known && known.seen.resourceVersion === resourceVersion) return none;
    const seen = { resourceVersion, generation, owners: live.owned()?.version };
    if (known && isSameSpec(known.seen, seen) && !hasOrderedMetadata(object)) {
      memory.set(id, { ...known, seen });
      return none;
    }
    const schema = schemas.known(owned.kind);
    const found = compare(wanted, live, isStoredForm, schema);
    const isAsWanted =
      found.size === 0 ||
      (known
        ? sameDeviations(found, known.accepted)
        : compare(wanted, live, isAdmittedForm, schema).size === 0);
    if (!isAsWanted) return found;
    memory.set(id, { fingerprint, seen, accepted: found });
    return none;
  }

  /**
   * An object that the cache does not have, though it is there: the cache is behind, or does not
   * hold it.
   */
  async #read(kind: AnyKind, key: ObjectKey, conflict: unknown): Promise<Live> {
    const { client, fieldManager } = this.#options;
    try {
      const object = await client.live.get(kind, key);
      return { object, owned: () => ownedFieldsOf(object, fieldManager) };
    } catch (error) {
      throw isNotFound(error) ? conflict : error;
    }
  }

  /**
   * Whether the owner, asked of the server itself, is still there to stay. A child without an owner
   * may have been orphaned by the owner's deletion (`--cascade=orphan`), which the cache
   * does not show yet: taking it back would let it be deleted.
   */
  async #isOwnerStaying(): Promise<boolean> {
    const { client, ownerKind, owner } = this.#options;
    const found = await ignoreNotFound(client.live.get(ownerKind, keyOf(owner)));
    if (found === undefined) return false;
    return found.metadata.uid === owner.metadata.uid && found.metadata.deletionTimestamp === undefined;
  }
}

/** Where an apply would change something. */
function compare(
  { object, owned }: Pick<MarkedChild, "object" | "owned">,
  { object: live, owned: fieldsOwned }: Live,
  isSame: IsSame,
  schema: SchemaView,
): Deviations {
  const { apiVersion: _apiVersion, kind: _kind, metadata, ...content } = object;
  const { name: _name, namespace: _namespace, ...tracked } = metadata;
  return deviations({
    wanted: { ...content, metadata: tracked },
    fields: fieldsOwned()?.fields ?? {},
    live: owned.metadataOnly ? partly(content, live) : live,
    isSame,
    schema,
  });
}

/**
 * Whether no more than the status has changed: the spec has the same generation, and nobody has
 * taken a field of ours.
 */
function isSameSpec(before: Seen, after: Seen): boolean {
  const { generation, owners } = after;
  if (generation === undefined || owners === undefined) return false;
  return generation === before.generation && owners === before.owners;
}

/**
 * Whether metadata is wanted in an order. Others can change that without a new generation, and
 * without taking a field.
 */
function hasOrderedMetadata({ metadata: { finalizers, ownerReferences } }: KubernetesObject): boolean {
  return (finalizers?.length ?? 0) > 1 || (ownerReferences?.length ?? 0) > 1;
}

/**
 * The paths that differ; our own annotation, which always does when something else is wanted, only
 * if there is no other.
 */
function reasons(found: Deviations): readonly string[] {
  const own = `metadata.annotations.${appliedAnnotation}`;
  const others = [...found.keys()].filter((path) => path !== own);
  return others.length === 0 && found.size > 0 ? [own] : others;
}

/** The live object, of which the cache holds no more than the metadata. */
function partly(content: object, { metadata }: KubernetesObject): object {
  return { ...Object.fromEntries(Object.keys(content).map((key) => [key, notCached])), metadata };
}

function childId(kind: AnyKind, key: ObjectKey): string {
  return `${kind.group}/${kind.kind}/${key.namespace ?? ""}/${key.name}`;
}
