import type { AnyKind } from "@windlass/client";
import type { FinalizeResult, ReconcileResult, Wanted, WantedWhileDeleting } from "../reconcile/context.ts";
import type {
  Entry,
  KindIn,
  Mappable,
  NothingOwned,
  Ownable,
  Returnable,
  Returned,
  Spelled,
} from "./declared.ts";
import { type IndexedKind, IndexTable } from "./indexes.ts";
import type { ControllerOptions } from "./options.ts";
import type { Owns } from "./owns.ts";
import { type AnyOptions, type ControllerSettings, resolve, settings } from "./settings.ts";
import type { Watches } from "./watch.ts";

declare const ownedKinds: unique symbol;

/**
 * A controller, declared: a plain value. Run it with a manager; generate its role with `rbacFor`.
 */
export interface Controller<K extends AnyKind = AnyKind, Owned extends AnyKind = AnyKind> {
  readonly kind: K;
  readonly name: string;
  /** For the runtime alone. */
  readonly [settings]: ControllerSettings;
  /** Type-level only: absent at run time. */
  readonly [ownedKinds]?: Owned;
}

const namePattern = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;

/**
 * Declares a controller: keeps the world as the objects of one kind say.
 *
 * @throws TypeError or RangeError naming the option that cannot be right.
 * @example
 * const webapp = controller(WebApp, {
 *   owns: [Deployment, Service],
 *   reconcile: (app) => ({ children: [deploymentFor(app), serviceFor(app)] }),
 * });
 */
export function controller<
  K extends AnyKind,
  const O extends readonly (AnyKind | Owns)[] = NothingOwned,
  const W extends readonly Watches[] = readonly [],
  const R extends readonly (AnyKind | IndexedKind)[] = readonly [],
  Index extends string = never,
  const Result extends Returned<ReconcileResult<K>, Wanted<K>> = undefined,
  const Finalized extends Returned<FinalizeResult<K>, WantedWhileDeleting<K>> = undefined,
>(
  kind: K,
  options: ControllerOptions<K, O, W, R, Index, Result, Finalized> &
    Ownable<K, Entry<O>> &
    Spelled<Entry<O>> &
    Mappable<K, W[number]> &
    Returnable<"reconcile", Result, ReconcileResult<K>, Wanted<K>, KindIn<Entry<O>>> &
    Returnable<"finalize", Finalized, FinalizeResult<K>, WantedWhileDeleting<K>, never>,
): Controller<K, KindIn<Entry<O>>> {
  const name = options.name ?? kind.kind.toLowerCase();
  if (!namePattern.test(name))
    throw new TypeError(
      `controller name "${name}" must be lower-case letters, digits and "-", at most 63 of them`,
    );
  const resolved = resolve(kind, name, options as AnyOptions);
  new IndexTable().add(name, resolved.indexes);
  return { kind, name, [settings]: resolved };
}

/** Whether a value is a controller made by {@link controller}. */
export function isController(value: unknown): value is Controller {
  return typeof value === "object" && value !== null && settings in value;
}
