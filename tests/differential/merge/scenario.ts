import type { JsonObject } from "../../../packages/control-plane/src/json.ts";
import type { Schema } from "../../../packages/control-plane/src/schema/schema.ts";
import type { Draw } from "./generate.ts";

/** A kind to play with: how to write objects of it, and what the server makes of what it stores. */
export interface Scenario {
  readonly apiVersion: string;
  readonly kind: string;
  /** The path of its objects in the namespace. */
  readonly collection: string;
  readonly schema: Schema;
  /** The object with nothing set. */
  readonly empty: JsonObject;
  readonly builtin: boolean;
  /** Whether it has a status that can be applied on its own. */
  readonly status: boolean;
  /** Where JSON patches point, inside and outside of what objects have. */
  readonly paths: readonly string[];
  /**
   * Everything but apiVersion, kind and metadata. `whole` objects can be created; others are what a
   * manager cares about.
   */
  body(draw: Draw, extent: "whole" | "part"): JsonObject;
  statusBody(draw: Draw): JsonObject;
  /** The answered object as it was when the entries were made, given what was sent. */
  tracked(answered: JsonObject, sent: JsonObject): JsonObject;
  /** What storing makes of a merged object, as far as merging leaves that to others. */
  stored(object: JsonObject): JsonObject;
}
