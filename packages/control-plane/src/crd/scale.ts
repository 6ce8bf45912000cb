import { append } from "../append.ts";
import { isObject, type Json, type JsonObject } from "../json.ts";
import { field } from "../json-fields.ts";
import { invalidValue } from "../schema/causes.ts";
import { goNumber } from "../schema/go-text.ts";
import { setField } from "../schema/paths.ts";
import { kindOf } from "../schema/validate.ts";
import type { Cause } from "../status.ts";

/**
 * `spec.versions[].subresources.scale`: where a kind keeps what a `Scale` shows. Paths are dotted,
 * from the root.
 */
export interface ScalePaths {
  readonly specReplicasPath: string;
  readonly statusReplicasPath: string;
  readonly labelSelectorPath?: string;
}

/** The names of the fields down to the replicas that are wanted. */
export function replicasPath({ specReplicasPath }: ScalePaths): string[] {
  return segments(specReplicasPath);
}

function segments(path: string): string[] {
  return (path.startsWith(".") ? path.slice(1) : path).split(".");
}

/**
 * The value at a dotted path; undefined when a part of it is absent, an `AccessError` when a part
 * is not an object.
 */
function valueAt(object: JsonObject, path: string): Json | undefined | AccessError {
  let value: Json = object;
  const walked: string[] = [];
  for (const segment of segments(path)) {
    if (!isObject(value)) {
      return new AccessError(
        path,
        `${shown(value)} is of the type ${goType(value)}, expected map[string]interface{}`,
      );
    }
    walked.push(segment);
    const next: Json | undefined = field(value, segment);
    if (next === undefined) return undefined;
    value = next;
  }
  return value;
}

/** A value on the way to a scale path that has the wrong type. */
class AccessError {
  readonly message: string;

  constructor(path: string, what: string) {
    this.message = `.${segments(path).join(".")} accessor error: ${what}`;
  }
}

function integerAt(object: JsonObject, path: string): number | bigint | undefined | AccessError {
  const value = valueAt(object, path);
  if (value === undefined || value instanceof AccessError) return value;
  if (kindOf(value) === "integer") return value as number | bigint;
  return new AccessError(path, `${shown(value)} is of the type ${goType(value)}, expected int64`);
}

function textAtPath(object: JsonObject, path: string): string | undefined | AccessError {
  const value = valueAt(object, path);
  if (value === undefined || value instanceof AccessError || typeof value === "string") return value;
  return new AccessError(path, `${shown(value)} is of the type ${goType(value)}, expected string`);
}

function goType(value: Json): string {
  const kinds = {
    null: "<nil>",
    boolean: "bool",
    string: "string",
    integer: "int64",
    number: "float64",
    array: "[]interface {}",
    object: "map[string]interface {}",
  };
  return kinds[kindOf(value)];
}

/** A value as Go's `%v` prints it. */
function shown(value: Json): string {
  if (value === null) return "<nil>";
  if (typeof value === "number" || typeof value === "bigint") return goNumber(value);
  if (Array.isArray(value)) return `[${value.map(shown).join(" ")}]`;
  if (isObject(value)) {
    const entries = Object.keys(value)
      .sort()
      .map((key) => `${key}:${shown(value[key] as Json)}`);
    return `map[${entries.join(" ")}]`;
  }
  return String(value);
}

/**
 * What makes a custom resource impossible to show as a `Scale`. `part` is what is being written.
 */
export function scaleFaults(object: JsonObject, paths: ScalePaths, part: "all" | "status"): Cause[] {
  const causes: Cause[] = [];
  if (part === "all") append(causes, replicasFaults(object, paths.specReplicasPath));
  append(causes, replicasFaults(object, paths.statusReplicasPath));
  if (paths.labelSelectorPath !== undefined) {
    const selector = textAtPath(object, paths.labelSelectorPath);
    if (selector instanceof AccessError) {
      causes.push(invalidValue(paths.labelSelectorPath, "", selector.message));
    }
  }
  return causes;
}

function replicasFaults(object: JsonObject, path: string): Cause[] {
  const replicas = integerAt(object, path);
  if (replicas instanceof AccessError) return [invalidValue(path, 0, replicas.message)];
  if (replicas === undefined) return [];
  if (replicas < 0) return [invalidValue(path, replicas, "should be a non-negative integer")];
  if (replicas > 2147483647) {
    return [invalidValue(path, replicas, "should be less than or equal to 2147483647")];
  }
  return [];
}

/**
 * The `autoscaling/v1` Scale of a custom resource.
 *
 * @param unset what is shown where the resource has no replicas in its spec
 * @returns undefined where it has none, and nothing is to be shown instead
 */
export function scaleOf(object: JsonObject, paths: ScalePaths, unset?: number): JsonObject | undefined {
  const replicas = integerAt(object, paths.specReplicasPath) ?? unset;
  if (replicas === undefined || replicas instanceof AccessError) return undefined;
  const observed = integerAt(object, paths.statusReplicasPath);
  const selector =
    paths.labelSelectorPath === undefined ? undefined : textAtPath(object, paths.labelSelectorPath);
  const metadata = isObject(object.metadata) ? object.metadata : {};
  const kept: JsonObject = {};
  for (const name of ["name", "namespace", "uid", "resourceVersion", "creationTimestamp"]) {
    const value = field(metadata, name);
    if (value !== undefined) kept[name] = value;
  }
  return {
    kind: "Scale",
    apiVersion: "autoscaling/v1",
    metadata: kept,
    spec: replicas === 0 ? {} : { replicas },
    status: {
      replicas: typeof observed === "number" ? observed : 0,
      ...(typeof selector === "string" && selector !== "" ? { selector } : {}),
    },
  };
}

/**
 * Writes a Scale's replicas into a custom resource. Changes the object; makes the objects on the
 * way where absent.
 */
export function applyScale(object: JsonObject, paths: ScalePaths, scale: JsonObject): void {
  const spec = isObject(scale.spec) ? scale.spec : {};
  const replicas = typeof spec.replicas === "number" ? spec.replicas : 0;
  const path = segments(paths.specReplicasPath);
  let at: JsonObject = object;
  for (const segment of path.slice(0, -1)) {
    const next = field(at, segment);
    if (next !== undefined && isObject(next)) {
      at = next;
    } else {
      const made: JsonObject = {};
      setField(at, segment, made);
      at = made;
    }
  }
  setField(at, path.at(-1) as string, replicas);
}
