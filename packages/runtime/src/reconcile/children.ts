import {
  type AnyKind,
  controllerOf,
  type InputOf,
  ignoreNotFound,
  isConflict,
  isInternalError,
  isInvalid,
  type KubernetesObject,
  type ObjectKey,
} from "@windlass/client";
import { type Child, checkDistinct, type OwnedKind, type WantedChild, wantedChild } from "./child.ts";
import { compareChild, hasWantedMetadata, isSameSpec, reasons } from "./child-difference.ts";
import { keyOf } from "./client.ts";
import { type Deviations, isFinal, sameDeviations } from "./compare.ts";
import { afterLoss } from "./contest.ts";
import { deleteObject } from "./delete-object.ts";
import { withoutEmptied } from "./emptied.ts";
import { isOutdated } from "./errors.ts";
import { type HandOver, handOver } from "./hand-over.ts";
import { fingerprint } from "./json.ts";
import { childId, findChild, hasApplied, type LiveChild } from "./live-child.ts";
import { ownedFieldsOf } from "./managed-fields.ts";
import { controllerReference, withOwner } from "./owner.ts";
import { looks, type PruneOptions, prune } from "./prune.ts";
import { afterRevert, lastManagers } from "./reverts.ts";
import { contested, rivalOf } from "./rival.ts";
import type { SchemaFacts } from "./schema-facts.ts";
import {
  appliedAnnotation,
  appliedMark,
  isKept,
  onRemovalAnnotation,
  type Refused,
  refusal,
  type Standing,
  standingOf,
} from "./standing.ts";
import { isAdmittedForm, isStoredForm } from "./stored-form.ts";

/** A write about to happen, and what made it necessary. */
export interface ChildChange {
  readonly kind: AnyKind;
  readonly object: KubernetesObject;
  /** Paths that differ; empty if there is no such object yet. */
  readonly because: readonly string[];
}

/** What applying and pruning children needs. */
export interface ChildrenOptions extends PruneOptions {
  readonly schemas: SchemaFacts;
  readonly onSkip?: () => void;
  readonly onChange?: (change: ChildChange) => void;
  /**
   * Others change a child again and again, and it is put back each time.
   *
   * @param managers the field managers that changed it last; none if the server does not know
   */
  readonly onReverted?: (
    kind: AnyKind,
    object: KubernetesObject,
    paths: readonly string[],
    managers: readonly string[],
  ) => void;
  /** Somebody else's object is in the place of a child. */
  readonly onRefused?: (owned: OwnedKind, key: ObjectKey) => Promise<unknown>;
}

/** A child as it is applied, and how it is remembered. */
interface MarkedChild extends WantedChild {
  readonly id: string;
  /** Of what was asked for. */
  readonly fingerprint: string;
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
 *   seen. Annotations and owner references alone do not count: a copy of a child has them too. What
 *   is left alone for lack of proof is reported.
 * - A child that another program applies too is not written all the time: see {@link afterLoss}.
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
    this.#options.memory.wants(wanted.id);
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
  prune(): Promise<readonly unknown[]> {
    return prune(this.#options, this.#wanted);
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
  async #update(wanted: MarkedChild, live: LiveChild, look = 1): Promise<KubernetesObject> {
    const { memory, onSkip, fieldManager } = this.#options;
    const { owned, id, options } = wanted;
    const standing = await this.#standing(wanted, live);
    if (live.object.metadata.deletionTimestamp !== undefined) {
      // Applying to an object that is being deleted is lost work: its deletion brings the owner
      // back here.
      memory.forget(id);
      return live.object;
    }
    const isCreatedOnly = options.update === "never";
    // Where the server has no record of the apply any more, it would not be pruned later.
    const isDone = isCreatedOnly && standing.is === "ours" && hasApplied(live, fieldManager);
    if (isDone && options.onRemoval === "keep" && !isKept(live.object)) return await this.#keep(wanted, live);
    const found = isDone ? none : this.#difference(wanted, live);
    if (found.size === 0) {
      onSkip?.();
      return live.object;
    }
    if (standing.is === "ours" && look === 1) {
      this.#checkUncontested(wanted, live, found);
      if (this.#isRevert(wanted, live)) await this.#noteRevert(wanted, found);
    }
    const isLast = look === looks;
    if ((standing.is === "free" || isLast) && !(await this.#isOwnerStaying())) {
      memory.forget(id);
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
    { object, owned: fieldsOwned }: LiveChild,
  ): Promise<Exclude<Standing, Refused>> {
    const { memory, onRefused } = this.#options;
    const standing = standingOf(object, () => fieldsOwned() !== undefined, this.#options, options);
    if (standing.is === "ours" || standing.is === "free") return standing;
    memory.forget(id);
    await onRefused?.(owned, keyOf(object));
    throw refusal(owned.kind, object, this.#options, standing);
  }

  /** Marks an object as kept that was created before its program kept it. */
  async #keep({ owned: { kind } }: MarkedChild, { object }: LiveChild): Promise<KubernetesObject> {
    const { client, onChange } = this.#options;
    const metadata = { ...landingOn(object), annotations: { [onRemovalAnnotation]: "keep" } };
    const after = await client.patch(kind, keyOf(object), { type: "merge", patch: { metadata } });
    onChange?.({ kind, object: after, because: [`metadata.annotations.${onRemovalAnnotation}`] });
    return after;
  }

  /**
   * Decides whether a child that another program applied since this one did is taken back.
   *
   * @throws ChildError if it is left to the other for now.
   */
  #checkUncontested({ owned, id }: MarkedChild, live: LiveChild, found: Deviations): void {
    const { memory, clock } = this.#options;
    const rival = rivalOf(live, memory.applied.get(id), this.#options);
    if (rival === undefined) return;
    const { contest, isTaken } = afterLoss(memory.contests.get(id), clock.monotonic());
    memory.contests.set(id, contest);
    if (!isTaken) throw contested(owned.kind, live.object, this.#options, rival, reasons(found));
  }

  /** Whether a child was as wanted, and is not only because others have changed it. */
  #isRevert({ id, object, fingerprint }: MarkedChild, { object: live }: LiveChild): boolean {
    if (this.#options.memory.applied.get(id)?.fingerprint !== fingerprint) return false;
    return (
      live.metadata.annotations?.[appliedAnnotation] === object.metadata.annotations?.[appliedAnnotation]
    );
  }

  /** Reports who changes a child again and again. */
  async #noteRevert({ owned: { kind }, id, object }: MarkedChild, found: Deviations): Promise<void> {
    const { client, memory, clock, fieldManager, onReverted } = this.#options;
    const { reverts, isToReport } = afterRevert(memory.reverts.get(id), clock.monotonic());
    memory.reverts.set(id, reverts);
    if (!isToReport) return;
    // The cache has no other manager's record, and after the write the server has none either.
    const live = await findChild(client, kind, keyOf(object), fieldManager);
    if (live) onReverted?.(kind, live.object, reasons(found), lastManagers(live.object, fieldManager));
  }

  /** Gives an object its owner and its mark, and leaves it its content. */
  async #takeAsItIs(
    wanted: MarkedChild,
    live: LiveChild,
    landing: Landing,
    found: Deviations,
  ): Promise<KubernetesObject> {
    const { client, memory, onChange, ownerKind, owner } = this.#options;
    const { owned, object, id, fingerprint } = wanted;
    const { apiVersion = "", kind = "", metadata } = object;
    const fields = Object.keys(live.owned()?.fields ?? {});
    const marks = [appliedAnnotation, onRemovalAnnotation];
    const annotations = Object.fromEntries(
      marks.flatMap((mark) => {
        const value = metadata.annotations?.[mark];
        return value === undefined ? [] : [[mark, value]];
      }),
    );
    let after: KubernetesObject;
    // To apply less than what was applied before would remove the rest from the object.
    if (fields.every((field) => field === "f:metadata")) {
      const isLost = fields.length === 0 && controllerOf(live.object) !== undefined;
      const { labels: _labels, ...own } = { ...metadata, annotations };
      const taken = { apiVersion, kind, metadata: isLost ? own : metadata };
      try {
        after = await this.#send({ ...wanted, object: taken }, landing, found);
      } catch (error) {
        // A server applies nothing to an object that it cannot take apart, such as one with an item
        // twice in a list. Only its record is lost, which is reported when it is to be pruned.
        if (!isLost || isOutdated(error) || !(isInternalError(error) || isInvalid(error))) throw error;
        after = live.object;
      }
    } else {
      const references = withOwner(
        live.object.metadata.ownerReferences,
        controllerReference(ownerKind, owner),
      );
      // The list of owners is replaced as a whole, so no owner may have come since.
      const patch = { metadata: { ...landingOn(live.object), annotations, ownerReferences: references } };
      after = await client.patch(owned.kind, keyOf(object), { type: "merge", patch });
      onChange?.({ kind: owned.kind, object: after, because: ["metadata.ownerReferences"] });
    }
    const { resourceVersion } = after.metadata;
    const seen = { resourceVersion, generation: undefined, owners: undefined };
    memory.applied.set(id, { fingerprint, seen, accepted: none });
    return after;
  }

  async #change(
    wanted: MarkedChild,
    live: LiveChild,
    landing: Landing,
    found: Deviations,
  ): Promise<KubernetesObject> {
    try {
      const place = await this.#handOver(wanted, live, landing);
      const shrunk = withoutEmptied(wanted.object, live.owned()?.fields ?? {});
      if (shrunk === wanted.object) return await this.#send(wanted, place, found);
      const [after] = await this.#applyTo({ ...wanted, object: shrunk }, place);
      return await this.#send(wanted, landingOn(after), found);
    } catch (error) {
      const isRefused = isInvalid(error) && !isOutdated(error);
      if (wanted.options.onImmutable !== "replace" || !isRefused) throw error;
      return await this.#replace(wanted, live.object, error);
    }
  }

  /** Where a child lands once the fields are held that it hands over. */
  async #handOver(
    { object: wanted, owned: { kind, metadataOnly }, options }: MarkedChild,
    { object: live, owned }: { readonly object: KubernetesObject; readonly owned: () => HandOver["owned"] },
    landing: Landing,
  ): Promise<Landing> {
    const { client, fieldManager } = this.#options;
    if (options.handOver === undefined) return landing;
    const fields = options.handOver;
    const given = { client, kind, wanted, fields, live, owned: owned(), fieldManager, metadataOnly };
    const after = await handOver(given);
    return after === undefined ? landing : landingOn(after);
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
    memory.applied.delete(wanted.id);
    // The server has been asked twice since the object was looked at.
    const present = await findChild(client, kind, keyOf(live), fieldManager);
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
    // Whether it arrived is not known until it is answered.
    memory.applied.delete(id);
    let [after, accepted] = await this.#applyTo(wanted, landing);
    if (landing !== onNothing && !isFinal(accepted, found))
      [after, accepted] = await this.#applyTo(wanted, landingOn(after));
    const { resourceVersion } = after.metadata;
    const seen = { resourceVersion, generation: undefined, owners: undefined };
    memory.applied.set(id, { fingerprint, seen, accepted });
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
    return [after, compareChild({ object, owned }, live, isStoredForm, schemas.learning(owned.kind))];
  }

  /** Where an apply would change something. Empty when it would not. */
  #difference(wanted: MarkedChild, live: LiveChild): Deviations {
    const { memory, schemas } = this.#options;
    const { id, object, owned, fingerprint } = wanted;
    const { annotations, resourceVersion, generation } = live.object.metadata;
    const isApplied = annotations?.[appliedAnnotation] === object.metadata.annotations?.[appliedAnnotation];
    const last = memory.applied.get(id);
    const known = isApplied && last?.fingerprint === fingerprint ? last : undefined;
    if (known && known.seen.resourceVersion === resourceVersion) return none;
    const seen = { resourceVersion, generation, owners: live.owned()?.version };
    if (known && isSameSpec(known.seen, seen) && hasWantedMetadata(object, live.object)) {
      memory.applied.set(id, { ...known, seen });
      return none;
    }
    const schema = schemas.known(owned.kind);
    const found = compareChild(wanted, live, isStoredForm, schema);
    const isAsWanted =
      found.size === 0 ||
      (known
        ? sameDeviations(found, known.accepted)
        : compareChild(wanted, live, isAdmittedForm, schema).size === 0);
    if (!isAsWanted) return found;
    memory.applied.set(id, { fingerprint, seen, accepted: found });
    return none;
  }

  /**
   * An object that is not as the cache has it: the cache is behind, or does not hold it.
   *
   * @throws the conflict that said so, if there is no such object.
   */
  async #read(kind: AnyKind, key: ObjectKey, conflict: unknown): Promise<LiveChild> {
    const { client, fieldManager } = this.#options;
    const found = await findChild(client, kind, key, fieldManager);
    if (found === undefined) throw conflict;
    return found;
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
