import type { StartController } from "../builtin/declaration.ts";
import { declarations } from "../builtin/index.ts";
import { startGarbageCollector } from "./garbage-collector.ts";
import { type ControllerDependencies, type Running, together } from "./loop.ts";

/** Controllers that are not about one kind. */
const general = {
  "garbage-collector-controller": startGarbageCollector,
};

type Declaration = (typeof declarations)[number];
type NamesOf<D> = D extends { readonly controllers: infer C } ? keyof C : never;

/**
 * A controller, by the real controller manager's name for it; `kubernetes-service` and
 * `event-expiry` are the API server's own.
 */
export type ControllerName = keyof typeof general | NamesOf<Declaration>;

/** The supported controllers, in the order in which they start. */
const known = Object.fromEntries([
  ...Object.entries(general),
  ...declarations.flatMap((declaration) =>
    "controllers" in declaration ? Object.entries(declaration.controllers) : [],
  ),
]) as Readonly<Record<ControllerName, StartController>>;

/** The names of all controllers. */
export const controllerNames = Object.keys(known) as ControllerName[];

/**
 * Which controllers run.
 *
 * - `all`: every one
 * - `none`: what a bare API server is
 * - a list of names: only these
 * - `{ except }`: every one but these
 *
 * The API server's own Service, `default/kubernetes`, is kept whatever is chosen.
 */
export type ControllerChoice =
  | "all"
  | "none"
  | readonly ControllerName[]
  | { readonly except: readonly ControllerName[] };

/** Starts controllers in a fixed order. @throws TypeError for a name that no controller has */
export function startControllers(deps: ControllerDependencies, choice: ControllerChoice): Running {
  return together(chosen(choice).map((name) => known[name](deps)));
}

/** Controllers that always run. */
const always: readonly ControllerName[] = ["kubernetes-service"];

function chosen(choice: ControllerChoice): readonly ControllerName[] {
  if (choice === "none") return always;
  if (choice === "all") return controllerNames;
  const named = "except" in choice ? choice.except : choice;
  for (const name of named) {
    if (!Object.hasOwn(known, name)) {
      throw new TypeError(
        `there is no controller ${JSON.stringify(name)}; there are ${controllerNames.join(", ")}`,
      );
    }
  }
  const isChosen = (name: ControllerName) => named.includes(name) !== "except" in choice;
  return controllerNames.filter((name) => always.includes(name) || isChosen(name));
}
