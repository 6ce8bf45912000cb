import type { JsonObject } from "../json.ts";
import type { KindInfo } from "../kinds/index.ts";
import type { NumberSources } from "../schema/parse-json.ts";
import type { Schema } from "../schema/schema.ts";
import type { Cause } from "../status.ts";
import type { Steps } from "../steps.ts";
import type { Strategy } from "./strategy.ts";

/** One version of a kind, as it is served: how its objects are read, checked and kept. */
export interface Resource {
  readonly info: KindInfo;
  /** Where objects are kept. Versions of a kind share it. */
  readonly bucket: string;
  readonly strategy: Strategy;
  readonly hasStatus: boolean;
  /** Extra fields that can be selected by. */
  readonly selectableFields: readonly string[];
  readonly schema: () => Schema;
  /** What an object without any field looks like when it is stored. Absent for custom kinds. */
  readonly empty?: () => JsonObject;
  /**
   * Gives a decoded object the shape it is stored in: types checked, unknown fields dropped,
   * defaults filled in. May change the object it is given.
   *
   * @returns the object, and the fields that were dropped
   */
  readonly decode: (object: JsonObject, numbers?: NumberSources) => Decoded;
  /** The same for a large object, with turns of the event loop in between. @default one step */
  readonly decodeInSteps?: (object: JsonObject, numbers?: NumberSources) => Steps<Decoded>;
  /**
   * The same for what server-side apply has merged, where that is not the same.
   *
   * @returns the object
   */
  readonly decodeApplied?: (object: JsonObject) => JsonObject;
  /** Why no object can be created at the moment. Absent while they can. */
  readonly refusesCreates?: string;
  /** The last shaping before an object is stored. */
  readonly settle?: (object: JsonObject) => JsonObject;
  /** The same for a large object, with turns of the event loop in between. @default one step */
  readonly settleInSteps?: (object: JsonObject) => Steps<JsonObject>;
  /** Schema and CEL validation; built-in kinds validate in their strategy. */
  readonly validate?: (
    object: JsonObject,
    live: JsonObject | undefined,
    subresource: string | undefined,
  ) => Cause[] | Promise<Cause[]>;
  /** From the version that is stored to this one, and back. Absent where they are the same. */
  readonly conversion?: Conversion;
  /**
   * Another version of a custom kind, be it served or not: managers may have written it. Absent for
   * built-in kinds.
   */
  readonly inVersion?: (version: string) => Resource | undefined;
  /** Absent for kinds that do not scale. */
  readonly scale?: Scaling;
  /** Answers carry this as a `Warning`. */
  readonly deprecation?: string;
}

export interface Decoded {
  readonly object: JsonObject;
  /** Paths of unknown fields, for field validation. */
  readonly unknown: readonly string[];
}

/** Translates between this version and the stored one. Both return objects of their own. */
export interface Conversion {
  readonly fromStorage: (objects: readonly JsonObject[]) => JsonObject[] | Promise<JsonObject[]>;
  readonly toStorage: (objects: readonly JsonObject[]) => JsonObject[] | Promise<JsonObject[]>;
  /**
   * From any version to this one, and nothing else: no defaults.
   *
   * @default by way of the stored version
   */
  readonly fromAny?: (objects: readonly JsonObject[]) => JsonObject[] | Promise<JsonObject[]>;
}

/** How an object is seen and changed through its `scale` subresource. */
export interface Scaling {
  /** The names of the fields down to the replicas that are wanted. */
  readonly replicas: readonly string[];
  /**
   * The `autoscaling/v1` Scale.
   *
   * @param unset what is shown for an object that has no replicas @default such an object has no
   *   Scale
   */
  readonly get: (object: JsonObject, unset?: number) => JsonObject | undefined;
  /** Changes the object. */
  readonly set: (object: JsonObject, scale: JsonObject) => void;
}

/** `deployments.apps`, `pods`: a kind's bucket, and its name in messages. */
export function bucketOf(group: string, plural: string): string {
  return group === "" ? plural : `${plural}.${group}`;
}
