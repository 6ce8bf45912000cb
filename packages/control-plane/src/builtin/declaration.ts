import type { ControllerDependencies, Running } from "../controllers/loop.ts";
import type { Json, JsonObject } from "../json.ts";
import type { Strategy } from "../registry/strategy.ts";
import type { Stored } from "../storage/typed.ts";

/**
 * Makes the cells of an object's row, wide columns included. `now` is in milliseconds since the
 * epoch.
 */
export type Cells = (object: JsonObject, now: number) => Json[];

/** The same for a kind whose objects have the type `T`. */
export function cellsOf<T>(cells: (object: T, now: number) => Json[]): Cells {
  return (object, now) => cells(object as Stored<T>, now);
}

/** Starts a controller. */
export type StartController = (deps: ControllerDependencies) => Running;

/** A version whose objects are stored in the form of another kind or version. */
export interface StoredForm {
  readonly bucket: string;
  readonly stored: { readonly group: string; readonly version: string; readonly kind: string };
  readonly fromStorage: (object: JsonObject) => JsonObject;
  readonly toStorage: (object: JsonObject) => JsonObject;
}

/**
 * What is particular to one of Kubernetes' own kinds. The tables of strategies, columns and
 * controllers are made from these declarations.
 */
export interface KindDeclaration {
  readonly group: string;
  readonly kind: string;
  /** Its own rules. @default those of every kind */
  readonly strategy?: Strategy;
  /** Versions that differ from the others of the kind. @default none */
  readonly versions?: {
    readonly [version: string]: {
      /** @default the kind's */
      readonly strategy?: Strategy;
      /** @default objects are stored as they are */
      readonly storedAs?: StoredForm;
    };
  };
  /** Fills the columns of its table. @default its name and the time it was created */
  readonly cells?: Cells;
  /** The conditions of an object's row. Clients may hide such rows. @default none */
  readonly rowConditions?: (object: JsonObject) => JsonObject[];
  /** Its controllers, by their names in kube-controller-manager. @default none */
  readonly controllers?: { readonly [name: string]: StartController };
}
