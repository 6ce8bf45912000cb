import { type AnyKind, controllerOf, isConflict, type KubernetesObject } from "@windlass/client";
import type { Clock } from "@windlass/clock";
import type { Cache } from "../cache/contract.ts";
import type { Owner } from "./child.ts";
import type { ChildMemory } from "./child-memory.ts";
import { keyOf, type ReconcileClient } from "./client.ts";
import { afterLoss } from "./contest.ts";
import { deleteObject } from "./delete-object.ts";
import { childId, findChild, hasApplied, type LiveChild } from "./live-child.ts";
import { appliedAgain } from "./rival.ts";
import { isKept, isMarkedBy, letGo, markOf } from "./standing.ts";

/**
 * How often an object is looked at when others change it between the look and the write. What is
 * written after the last look is bound to the object alone, and no longer to its version: a program
 * that writes a status all the time does not keep a child from being changed.
 */
export const looks = 5;

/** What pruning needs. */
export interface PruneOptions extends Owner {
  readonly client: ReconcileClient;
  readonly cache: Cache;
  readonly memory: ChildMemory;
  readonly clock: Pick<Clock, "monotonic">;
  /**
   * The field manager of server-side apply; stable over versions of the operator, or fields are
   * orphaned.
   */
  readonly fieldManager: string;
  /**
   * An object looks like a child that is no longer wanted, but nothing proves that this controller
   * applied it. Called once for each.
   */
  readonly onNotPruned?: (kind: AnyKind, object: KubernetesObject) => void;
}

/**
 * Deletes the children, or lets them go, that were applied by this controller and are not among the
 * wanted ones. One that cannot be deleted does not keep the others.
 *
 * @param wanted by {@link childId}
 * @returns what failed.
 */
export async function prune(options: PruneOptions, wanted: ReadonlySet<string>): Promise<readonly unknown[]> {
  const { owner, owns, cache, memory, fieldManager, onNotPruned } = options;
  const failures: unknown[] = [];
  const notPruned = new Set<string>();
  for (const { kind } of owns) {
    for (const object of cache.ownedBy(kind, owner.metadata.uid ?? "")) {
      const key = keyOf(object);
      if (wanted.has(childId(kind, key))) continue;
      const live = { object, owned: () => cache.ownedFields(kind, key, fieldManager) };
      try {
        const unproven = await remove(options, kind, live);
        if (unproven === undefined) continue;
        const { uid = "" } = unproven.metadata;
        notPruned.add(uid);
        if (!memory.notPruned.has(uid)) onNotPruned?.(kind, unproven);
      } catch (error) {
        failures.push(error);
      }
    }
  }
  memory.notPruned = notPruned;
  // Others have deleted the rest.
  memory.keepOnly(wanted);
  return failures;
}

/**
 * Deletes a child that is no longer wanted, or lets it go.
 *
 * @returns the object if it looks like a child, and nothing proves that it is one.
 */
async function remove(
  options: PruneOptions,
  kind: AnyKind,
  live: LiveChild,
  look = 1,
): Promise<KubernetesObject | undefined> {
  const { client, owner, memory, clock, fieldManager } = options;
  const { object } = live;
  const uid = owner.metadata.uid ?? "";
  if (object.metadata.deletionTimestamp !== undefined || controllerOf(object)?.uid !== uid) return undefined;
  if (!hasApplied(live, fieldManager)) return seemsApplied(live, fieldManager) ? object : undefined;
  const key = keyOf(object);
  const id = childId(kind, key);
  if (look === 1) checkUncontested(options, kind, object, id);
  memory.forget(id);
  const isLast = look === looks;
  const version = isLast ? {} : { resourceVersion: object.metadata.resourceVersion };
  try {
    if (isKept(object)) await letGo(client, kind, object, uid);
    else await deleteObject(client, kind, object, { propagationPolicy: "Background", ...version });
    const { contest } = memory.pruned(id) ?? {};
    memory.setPruned(id, { uid: object.metadata.uid ?? "", at: clock.monotonic(), contest });
    return undefined;
  } catch (error) {
    if (isLast || !isConflict(error)) throw error;
    const found = await findChild(client, kind, key, fieldManager);
    return found && (await remove(options, kind, found, look + 1));
  }
}

/**
 * Decides whether a child is deleted that another process has applied again since this one deleted
 * it.
 *
 * @throws ChildError if it is left to the other for now.
 */
function checkUncontested(options: PruneOptions, kind: AnyKind, object: KubernetesObject, id: string): void {
  const { memory, clock } = options;
  const before = memory.pruned(id);
  const { uid = "" } = object.metadata;
  if (before === undefined || before.uid === uid) return;
  const now = clock.monotonic();
  const { contest, isTaken } = afterLoss(before.contest, now);
  memory.setPruned(id, { ...before, at: now, contest });
  if (!isTaken) throw appliedAgain(kind, object, options);
}

/** Whether one of the two that say that a controller applied an object is left, and no other's. */
function seemsApplied({ object, owned }: LiveChild, fieldManager: string): boolean {
  return isMarkedBy(object, fieldManager) || (markOf(object) === undefined && owned() !== undefined);
}
