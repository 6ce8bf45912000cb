import type { KubernetesObject } from "@windlass/client";
import { type Child, describeChild } from "./child.ts";
import { ChildError } from "./errors.ts";
import { isReady } from "./readiness.ts";

/** How many children of one owner are applied at a time. */
const parallel = 8;

/** What came of applying children. */
export interface OrderedApply {
  /** Those that wait for others to be ready. */
  readonly waiting: readonly Child[];
  readonly failures: readonly unknown[];
}

/** How children are applied in order. */
export interface OrderOptions {
  /** Applies one child. Resolves to the object on the server. */
  readonly apply: (child: Child) => Promise<KubernetesObject>;
  /** A child that was applied before this, by itself. */
  readonly applied: (child: Child) => KubernetesObject | undefined;
}

/**
 * Applies children, each once those that it comes after are ready. What has no order is applied at
 * the same time. A child that fails delays those that come after it, and no others.
 *
 * A child can name only children that were made before it, so there are no circles.
 *
 * @throws ChildError if a child comes after another that is not listed.
 */
export async function applyInOrder(
  children: readonly Child[],
  { apply, applied }: OrderOptions,
): Promise<OrderedApply> {
  checkOrder(children, (child) => applied(child) !== undefined);
  const failed = new Map<Child, unknown>();
  const live = new Map<Child, KubernetesObject>();
  const isMet = (before: Child): boolean => {
    const object = live.get(before) ?? applied(before);
    return object !== undefined && isChildReady(before, object);
  };
  let waiting = children;
  for (;;) {
    const due = new Set(waiting.filter(({ options: { after = [] } }) => after.every(isMet)));
    if (due.size === 0)
      return { waiting, failures: children.filter((one) => failed.has(one)).map((one) => failed.get(one)) };
    waiting = waiting.filter((child) => !due.has(child));
    const queue = due.values();
    const work = async () => {
      for (const child of queue) {
        try {
          live.set(child, await apply(child));
        } catch (error) {
          failed.set(child, error);
        }
      }
    };
    await Promise.all(Array.from({ length: Math.min(parallel, due.size) }, work));
  }
}

/** @throws ChildError if a child comes after another that is neither listed nor applied. */
export function checkOrder(children: readonly Child[], isApplied: (child: Child) => boolean): void {
  const listed = new Set(children);
  for (const child of children)
    for (const before of child.options.after ?? [])
      if (!listed.has(before) && !isApplied(before))
        throw new ChildError(
          "ChildInvalid",
          `${describeChild(child)} comes after ${describeChild(before)}, which is not among the children; list it too`,
        );
}

/**
 * Whether those that come after a child may follow. Not while it is being deleted: it is the one
 * before, and another takes its place.
 */
function isChildReady({ kind, options: { readyWhen } }: Child, object: KubernetesObject): boolean {
  if (object.metadata.deletionTimestamp !== undefined) return false;
  return readyWhen ? readyWhen(object) : isReady(kind, object);
}
