import {
  type AnyKind,
  controllerOf,
  type InputOf,
  ignoreNotFound,
  isConflict,
  isInvalid,
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
import { isOutdated } from "./errors.ts";
import { fingerprint } from "./json.ts";
import { type AppliedFields, ownedFieldsOf } from "./managed-fields.ts";
import { controllerReference, withOwner } from "./owner.ts";
import type { SchemaFacts, SchemaView } from "./schema-facts.ts";
import {
  appliedAnnotation,
  appliedMark,
  isKept,
  isMarkedBy,
  letGo,
  onRemovalAnnotation,
  type Refused,
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
interface Landing {
  readonly uid?: string | undefined;
  readonly resourceVersion?: string | undefined;
}

const none: Deviations = new Map();

const onNothing: Landing = { resourceVersion: "1" };

/**
 * How often an object is looked at when others change it between the look and the write. What is
 * written after the last look is bound to the object alone, and no longer to its version: a program
 * that writes a status all the time does not keep a child from being changed.
 */
const looks = 5;

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
 *   {@link standingOf}. This holds whatever others create, change or delete at the same time: a
 *   write is bound to the version that was seen, and after a conflict the object is judged again.
 * - Only what the server says this controller has applied is pruned, and only the object that was
 *   seen. Annotations and owner references alone do not count: a copy of a child has them too.
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
   * asked for in this run. One that cannot be deleted does not keep the others.
   *
   * @returns what failed.
   */
  async prune(): Promise<readonly unknown[]> {
    const { owner, owns, cache, memory, fieldManager } = this.#options;
    const failures: unknown[] = [];
    for (const { kind } of owns) {
      for (const object of cache.ownedBy(kind, owner.metadata.uid ?? "")) {
        const key = keyOf(object);
        if (this.#wanted.has(childId(kind, key))) continue;
        try {
          await this.#remove(kind, { object, owned: () => cache.ownedFields(kind, key, fieldManager) });
        } catch (error) {
          failures.push(error);
        }
      }
    }
    // Others have deleted the rest.
    if (memory.size > this.#wanted.size)
      for (const id of memory.keys()) if (!this.#wanted.has(id)) memory.delete(id);
    return failures;
  }

  /** Deletes a child that is no longer wanted, or lets it go. */
  async #remove(kind: AnyKind, live: Live, look = 1): Promise<void> {
    const { client, owner, memory } = this.#options;
    const { object } = live;
    const uid = owner.metadata.uid ?? "";
    if (object.metadata.deletionTimestamp !== undefined || controllerOf(object)?.uid !== uid) return;
    if (!this.#hasApplied(live)) return;
    memory.delete(childId(kind, keyOf(object)));
    const isLast = look === looks;
    const version = isLast ? {} : { resourceVersion: object.metadata.resourceVersion };
    try {
      if (isKept(object)) await letGo(client, kind, object, uid);
      else await deleteObject(client, kind, object, { propagationPolicy: "Background", ...version });
    } catch (error) {
      if (isLast || !isConflict(error)) throw error;
      const found = await this.#find(kind, keyOf(object));
      if (found !== undefined) await this.#remove(kind, found, look + 1);
    }
  }

  /** Whether this controller applied a child, by the object's mark and by the server. */
  #hasApplied({ object, owned }: Live): boolean {
    return isMarkedBy(object, this.#options.fieldManager) && owned() !== undefined;
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

  /**
   * Brings an object that exists to what is wanted, if it is ours to change. Where it has changed
   * since it was looked at, it is looked at again: it may not be ours any more.
   */
  async #update(wanted: MarkedChild, live: Live, look = 1): Promise<KubernetesObject> {
    const { memory, onSkip } = this.#options;
    const { owned, id, options } = wanted;
    const standing = await this.#standing(wanted, live);
    if (live.object.metadata.deletionTimestamp !== undefined) {
      // Applying to an object that is being deleted is lost work: its deletion brings the owner
      // back here.
      memory.delete(id);
      return live.object;
    }
    const isCreatedOnly = options.update === "never";
    const isToBeKept = isCreatedOnly && options.onRemoval === "keep" && !isKept(live.object);
    if (isToBeKept && standing.is === "ours" && this.#hasApplied(live)) return await this.#keep(wanted, live);
    const found = isCreatedOnly && standing.is === "ours" ? none : this.#difference(wanted, live);
    if (found.size === 0) {
      onSkip?.();
      return live.object;
    }
    const isLast = look === looks;
    if ((standing.is === "free" || isLast) && !(await this.#isOwnerStaying())) {
      memory.delete(id);
      return live.object;
    }
    const { uid, resourceVersion } = live.object.metadata;
    const landing = isLast ? { uid } : { uid, resourceVersion };
    try {
      if (isCreatedOnly) return await this.#takeAsItIs(wanted, live, landing, found);
      return await this.#change(wanted, live, landing, found);
    } catch (error) {
      if (isLast || !isOutdated(error)) throw error;
      return await this.#update(wanted, await this.#read(owned.kind, keyOf(live.object), error), look + 1);
    }
  }

  /**
   * How an object stands to the owner that wants it.
   *
   * @throws ChildError if it is not the owner's to change.
   */
  async #standing(
    { owned, id, options }: MarkedChild,
    { object, owned: fieldsOwned }: Live,
  ): Promise<Exclude<Standing, Refused>> {
    const { memory, onRefused } = this.#options;
    const standing = standingOf(object, () => fieldsOwned() !== undefined, this.#options, options);
    if (standing.is === "ours" || standing.is === "free") return standing;
    memory.delete(id);
    await onRefused?.(owned, keyOf(object));
    throw refusal(owned.kind, object, this.#options, standing);
  }

  /** Marks an object as kept that was created before its program kept it. */
  async #keep({ owned: { kind } }: MarkedChild, { object }: Live): Promise<KubernetesObject> {
    const { client, onChange } = this.#options;
    const metadata = { ...landingOn(object), annotations: { [onRemovalAnnotation]: "keep" } };
    const after = await client.patch(kind, keyOf(object), { type: "merge", patch: { metadata } });
    onChange?.({ kind, object: after, because: [`metadata.annotations.${onRemovalAnnotation}`] });
    return after;
  }

  /** Gives an object its owner, and leaves it its content. */
  async #takeAsItIs(
    wanted: MarkedChild,
    live: Live,
    landing: Landing,
    found: Deviations,
  ): Promise<KubernetesObject> {
    const { client, memory, onChange, ownerKind, owner } = this.#options;
    const { owned, object } = wanted;
    const { apiVersion = "", kind = "", metadata } = object;
    const fields = Object.keys(live.owned()?.fields ?? {});
    // To apply less than what was applied before would remove the rest from the object.
    if (fields.every((field) => field === "f:metadata")) {
      const after = await this.#send({ ...wanted, object: { apiVersion, kind, metadata } }, landing, found);
      memory.delete(wanted.id);
      return after;
    }
    const marks = [appliedAnnotation, onRemovalAnnotation];
    const annotations = Object.fromEntries(marks.map((name) => [name, metadata.annotations?.[name]]));
    const ownerReferences = withOwner(
      live.object.metadata.ownerReferences,
      controllerReference(ownerKind, owner),
    );
    // The list of owners is replaced as a whole, so no owner may have come since.
    const patch = { metadata: { ...landingOn(live.object), annotations, ownerReferences } };
    const after = await client.patch(owned.kind, keyOf(object), { type: "merge", patch });
    onChange?.({ kind: owned.kind, object: after, because: ["metadata.ownerReferences"] });
    return after;
  }

  async #change(
    wanted: MarkedChild,
    live: Live,
    landing: Landing,
    found: Deviations,
  ): Promise<KubernetesObject> {
    try {
      const shrunk = withoutEmptied(wanted.object, live.owned()?.fields ?? {});
      if (shrunk === wanted.object) return await this.#send(wanted, landing, found);
      const [after] = await this.#applyTo({ ...wanted, object: shrunk }, landing);
      return await this.#send(wanted, landingOn(after), found);
    } catch (error) {
      const isRefused = isInvalid(error) && !isOutdated(error);
      if (wanted.options.onImmutable !== "replace" || !isRefused) throw error;
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
    // The server has been asked twice since the object was looked at.
    const present = await this.#find(kind, keyOf(live));
    if (present !== undefined && present.object.metadata.uid === live.metadata.uid) {
      const standing = await this.#standing(wanted, present);
      if (standing.is === "free" && !(await this.#isOwnerStaying())) return present.object;
      const { resourceVersion } = present.object.metadata;
      await deleteObject(client, kind, live, { propagationPolicy: "Background", resourceVersion });
    }
    try {
      return await this.#send(wanted, onNothing, none);
    } catch (error) {
      if (!isConflict(error)) throw error;
      // Finalizers or a grace period hold it, and its end brings the owner back here. Or another
      // client was faster.
      const { object } = await this.#read(kind, keyOf(live), error);
      if (object.metadata.deletionTimestamp === undefined) throw error;
      return object;
    }
  }

  async #send(wanted: MarkedChild, landing: Landing, found: Deviations): Promise<KubernetesObject> {
    const { memory, onChange } = this.#options;
    const { id, owned, fingerprint } = wanted;
    let [after, accepted] = await this.#applyTo(wanted, landing);
    if (landing !== onNothing && !isFinal(accepted, found))
      [after, accepted] = await this.#applyTo(wanted, landingOn(after));
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
    if (known && isSameSpec(known.seen, seen) && hasWantedMetadata(object, live.object)) {
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
   * An object that is not as the cache has it: the cache is behind, or does not hold it.
   *
   * @throws the conflict that said so, if there is no such object.
   */
  async #read(kind: AnyKind, key: ObjectKey, conflict: unknown): Promise<Live> {
    const found = await this.#find(kind, key);
    if (found === undefined) throw conflict;
    return found;
  }

  /** An object as the server has it at this moment. */
  async #find(kind: AnyKind, key: ObjectKey): Promise<Live | undefined> {
    const { client, fieldManager } = this.#options;
    const object = await ignoreNotFound<KubernetesObject>(client.live.get(kind, key));
    return object && { object, owned: () => ownedFieldsOf(object, fieldManager) };
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

function landingOn({ metadata: { uid, resourceVersion } }: KubernetesObject): Landing {
  return { uid, resourceVersion };
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
 * Whether labels and annotations are as wanted, and nothing else of the metadata is wanted in an
 * order. A program with our field manager can change their values, and any program the order,
 * without a new generation and without taking a field.
 */
function hasWantedMetadata({ metadata: wanted }: KubernetesObject, { metadata }: KubernetesObject): boolean {
  const { finalizers, ownerReferences } = wanted;
  return (
    (finalizers?.length ?? 0) <= 1 &&
    (ownerReferences?.length ?? 0) <= 1 &&
    hasValues(metadata.labels, wanted.labels) &&
    hasValues(metadata.annotations, wanted.annotations)
  );
}

function hasValues(
  live: Readonly<Record<string, string>> = {},
  wanted: Readonly<Record<string, string>> = {},
): boolean {
  return Object.entries(wanted).every(([name, value]) => live[name] === value);
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
