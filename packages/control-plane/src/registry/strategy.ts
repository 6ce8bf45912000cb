import type { Clock, Random } from "@windlass/clock";
import type { Json, JsonObject } from "../json.ts";
import type { Cause } from "../status.ts";
import type { Steps } from "../steps.ts";
import type { Store } from "../storage/store.ts";
import type { NameForm } from "./name-faults.ts";
import type { ServiceNetwork } from "./service-network.ts";

/** What a strategy may look at besides the object. It may not write. */
export interface StrategyContext {
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
  readonly network: ServiceNetwork;
  /** The subresource being written, if any. */
  readonly subresource: string | undefined;
  readonly warn: (text: string) => void;
  /** With dry runs nothing may be reserved, such as an address. */
  readonly dryRun: boolean;
}

/**
 * The rules of one kind. The registry implements what all kinds have in common; every field here is
 * a difference that clients can see.
 *
 * Functions may change the object they are given first: it is the request's own copy.
 */
export interface Strategy {
  /** What the names of its objects may be. @default "subdomain" */
  readonly names?: NameForm;
  /** Whether `metadata.generation` counts changes of the spec. @default false */
  readonly generation?: boolean;
  /** PUT creates what is missing. @default false */
  readonly createOnUpdate?: boolean;
  /** PUT without a resourceVersion overwrites. @default true */
  readonly unconditionalUpdate?: boolean;
  /** DELETE answers with the object instead of a Status. @default false */
  readonly returnsDeleted?: boolean;
  /** What DELETE does about dependents when nothing is said. @default "Background" */
  readonly dependents?: "Background" | "Orphan";
  /** The warning of a DELETE that does not say what happens to dependents. @default none */
  readonly orphanWarning?: string;
  /** Fields that can be selected by, besides the name and the namespace. @default none */
  readonly selectableFields?: readonly string[];
  /** The warning of every answer about the kind. @default none */
  readonly deprecation?: string;
  /** The template of the pods that a workload creates, for admission. @default it creates none */
  readonly podTemplate?: (object: JsonObject) => Json | undefined;
  /**
   * Seconds an object lingers after DELETE, unless the request says otherwise; undefined: it goes
   * at once.
   */
  readonly gracePeriod?: (object: JsonObject) => number | bigint | undefined;
  /** Finalizers that a delete request adds, for a controller to act on. */
  readonly deletionFinalizers?: (object: JsonObject) => readonly string[];
  /** Whether something besides `metadata.finalizers` keeps a deleted object there. */
  readonly heldBack?: (object: JsonObject) => boolean;
  /** Changes an object as its deletion begins. */
  readonly onDeletion?: (object: JsonObject, context: { readonly clock: Clock }) => void;
  /** Fills in what the real server's types default. Runs on every decoded object. */
  readonly setDefaults?: (object: JsonObject) => void;
  /** Before a create is validated: allocate, derive, clear. */
  readonly prepareCreate?: (object: JsonObject, context: StrategyContext) => void;
  /** Before an update is validated: carry over what may not change silently. */
  readonly prepareUpdate?: (next: JsonObject, live: JsonObject, context: StrategyContext) => void;
  /** What is wrong with a new object. Steps where that may take long. */
  readonly validate?: (object: JsonObject, context: StrategyContext) => Cause[] | Steps<Cause[]>;
  /** Runs instead of `validate` on updates, also of subresources. */
  readonly validateUpdate?: (
    next: JsonObject,
    live: JsonObject,
    context: StrategyContext,
  ) => Cause[] | Steps<Cause[]>;
  /**
   * Report faults of a new object's metadata only if the rest is valid.
   *
   * @default false: all are reported together
   */
  readonly metadataLast?: boolean;
  /**
   * Whether a new object is stored without defaults that it is read with ever after: its first
   * update stores them, and so is a change whatever it says. @default never
   */
  readonly settlesLate?: (object: JsonObject) => boolean;
  /** Warns about a new object, or one with a new generation. */
  readonly warn?: (object: JsonObject, warn: (text: string) => void) => void;
  /** Whether a change counts for the generation. @default any difference of `spec` */
  readonly specChanged?: (next: JsonObject, live: JsonObject) => boolean;
  /** After an object is removed from storage: release what was allocated. */
  readonly afterDelete?: (object: JsonObject, context: StrategyContext) => void;
}

/** The rules of custom kinds. */
export const customStrategy: Strategy = { generation: true, unconditionalUpdate: false };
