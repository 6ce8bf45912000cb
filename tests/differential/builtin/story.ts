import { clone, isObject, type Json, type JsonObject } from "../../../packages/control-plane/src/json.ts";

/**
 * One request. Objects are named by the story; `{ns}` in any string stands for the namespace of the
 * run.
 */
export type Step =
  | { readonly post: JsonObject; readonly at?: string }
  | { readonly put: JsonObject; readonly name: string; readonly sub?: string }
  | { readonly patch: Json; readonly name: string; readonly sub?: string; readonly type?: PatchType }
  /** PUT of what each server holds, changed. */
  | {
      readonly edit: (object: JsonObject) => void;
      readonly name: string;
      readonly sub?: string;
      readonly at?: string;
    }
  | { readonly get: string; readonly at?: string }
  | { readonly delete: string; readonly body?: JsonObject }
  /** Any request, for what a story needs around it. */
  | {
      readonly send: readonly [method: string, path: string, body?: Json, type?: PatchType];
      /** Who sends it. @default the administrator */
      readonly as?: string;
    }
  /** Gives the real server's caches the time to see what was written. The embedded one has none. */
  | { readonly settleMs: number };

export type PatchType = "merge" | "strategic" | "json" | "apply";

/** Requests about one kind, in order, on one server after the other. */
export interface Story {
  readonly name: string;
  /** The collection, such as `/api/v1/namespaces/{ns}/pods`. */
  readonly at: string;
  readonly steps: readonly Step[];
}

/**
 * Fields by path, such as `spec.containers.0.image`, and what they become; undefined takes a field
 * away.
 */
export interface Change {
  readonly [path: string]: Json | undefined;
}

/**
 * A copy with some fields changed. Keys that hold dots themselves are written with a tilde for
 * each.
 */
export function but(object: JsonObject, changes: Change): JsonObject {
  const copy = clone(object);
  for (const [path, value] of Object.entries(changes)) setAt(copy, path.split("."), value);
  return copy;
}

function setAt(object: JsonObject, path: string[], value: Json | undefined): void {
  let at: JsonObject = object;
  for (const [index, raw] of path.entries()) {
    const key = raw.replaceAll("~", ".");
    if (index === path.length - 1) {
      if (value === undefined) delete at[key];
      else at[key] = clone(value);
      return;
    }
    const next = at[key];
    if (isObject(next) || Array.isArray(next)) at = next as JsonObject;
    else {
      const made: JsonObject = {};
      at[key] = made;
      at = made;
    }
  }
}

/** Creates that differ from one object in a few fields each. */
export function variants(base: JsonObject, changes: readonly Change[]): Step[] {
  return changes.map((change) => ({ post: but(base, change) }));
}

/** Merge patches of one object, one after the other. */
export function patches(name: string, bodies: readonly JsonObject[], sub?: string): Step[] {
  return bodies.map((patch) => ({ patch, name, ...(sub === undefined ? {} : { sub }) }));
}
