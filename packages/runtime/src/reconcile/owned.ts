import type { AnyKind, KeyOf, KubernetesObject, ObjectOf } from "@windlass/client";
import type { CacheReader } from "../cache/contract.ts";
import type { OwnedKind } from "./child.ts";
import { describe, keyOf } from "./client.ts";
import type { ReconcileContext } from "./context.ts";
import { ChildError } from "./errors.ts";

/** How a reconciler looks at its children: the `owned` and `ownedAll` of its context. */
export function ownedReader(
  cache: CacheReader,
  ownerKind: AnyKind,
  owner: KubernetesObject,
  owns: readonly OwnedKind[],
): Pick<ReconcileContext, "owned" | "ownedAll"> {
  const { uid = "", namespace } = owner.metadata;
  const check = (kind: AnyKind) => {
    if (!owns.some((one) => one.kind.kind === kind.kind && one.kind.group === kind.group))
      throw new ChildError(
        "ChildNotDeclared",
        `${describe(ownerKind, keyOf(owner))} asks for an owned ${kind.kind}; add it to the controller's "owns"`,
      );
  };
  const ownedAll = <C extends AnyKind>(kind: C): readonly ObjectOf<C>[] => {
    check(kind);
    return cache
      .ownedBy(kind, uid)
      .filter((child) => isControlledBy(child, uid))
      .toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
  };
  return {
    ownedAll,
    owned: (kind, name) => {
      if (name === undefined || namespace === undefined)
        return ownedAll(kind).find((child) => name === undefined || child.metadata.name === name);
      check(kind);
      // An object in a namespace owns only what is in its own.
      const child = cache.get(kind, { namespace, name } as KeyOf<typeof kind>);
      return child && isControlledBy(child, uid) ? child : undefined;
    },
  };
}

function isControlledBy(child: KubernetesObject, uid: string): boolean {
  return child.metadata.ownerReferences?.some((one) => one.controller === true && one.uid === uid) ?? false;
}
