import { isObject, type JsonObject, sorted, stringify } from "../json.ts";
import type { Schema } from "../schema/schema.ts";
import { appliedFields } from "./applied-fields.ts";
import type { FieldSet } from "./field-set.ts";
import { get, put, shallow } from "./plain.ts";
import { rootType } from "./typed.ts";
import { faultsOf } from "./validate.ts";

/** Where `kubectl apply` without `--server-side` keeps what it applied. */
const LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration";

/** All annotations of an object together may take this many bytes. */
const ANNOTATIONS_LIMIT = 256 * 1024;

/**
 * The fields that kubectl applied from the client's side. Undefined when there is no trace of it,
 * or not in this version.
 */
export function lastAppliedFields(
  live: JsonObject,
  { schema, apiVersion }: { schema: Schema; apiVersion: string },
): FieldSet | undefined {
  const text = annotationsOf(live)?.[LAST_APPLIED];
  if (typeof text !== "string" || text === "") return undefined;
  const config = parse(text);
  if (config === undefined || get(config, "apiVersion") !== apiVersion) return undefined;
  const type = rootType(schema);
  return faultsOf(config, type, "refused") === undefined ? appliedFields(config, type) : undefined;
}

/**
 * Keeps the annotation in step with what kubectl now applies from the server's side, so that users
 * can go back.
 */
export function syncLastApplied(object: JsonObject, config: JsonObject): JsonObject {
  const annotations = annotationsOf(object);
  const text = annotations === undefined ? undefined : get(annotations, LAST_APPLIED);
  if (annotations === undefined || typeof text !== "string" || text === "") return object;
  const changed = shallow(annotations);
  const value = `${stringify(sorted(withAnnotations(config, withoutLastApplied)))}\n`;
  put(changed, LAST_APPLIED, escapeHtml(value));
  if (sizeOf(changed) > ANNOTATIONS_LIMIT) delete changed[LAST_APPLIED];
  return withAnnotations(object, () => changed);
}

function withoutLastApplied(annotations: JsonObject): JsonObject {
  const rest = shallow(annotations);
  delete rest[LAST_APPLIED];
  return rest;
}

function annotationsOf(object: JsonObject): JsonObject | undefined {
  const metadata = get(object, "metadata");
  const annotations = isObject(metadata) ? get(metadata, "annotations") : undefined;
  return isObject(annotations) ? annotations : undefined;
}

function withAnnotations(object: JsonObject, change: (annotations: JsonObject) => JsonObject): JsonObject {
  const annotations = annotationsOf(object);
  if (annotations === undefined) return object;
  const metadata = shallow(object.metadata as JsonObject);
  put(metadata, "annotations", change(annotations));
  const result = shallow(object);
  put(result, "metadata", metadata);
  return result;
}

function sizeOf(annotations: JsonObject): number {
  return Object.entries(annotations).reduce(
    (size, [key, value]) =>
      size + Buffer.byteLength(key) + (typeof value === "string" ? Buffer.byteLength(value) : 0),
    0,
  );
}

function parse(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** The server writes JSON that is safe inside HTML. */
function escapeHtml(text: string): string {
  return text.replaceAll(/[<>&\u2028\u2029]/g, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
  });
}
