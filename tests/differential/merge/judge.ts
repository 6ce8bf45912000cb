import { isDeepStrictEqual } from "node:util";
import { clone, isObject, type Json, type JsonObject } from "../../../packages/control-plane/src/json.ts";
import { normalizeAs } from "../../../packages/control-plane/src/kinds/index.ts";
import { applySchemaDefaults } from "../../../packages/control-plane/src/schema/defaults.ts";
import { nodeOf } from "../../../packages/control-plane/src/schema/node.ts";
import { pruneNulls } from "../../../packages/control-plane/src/schema/prune.ts";
import type { Schema } from "../../../packages/control-plane/src/schema/schema.ts";
import { StatusError } from "../../../packages/control-plane/src/status.ts";
import type { Answer } from "./real-server.ts";

export interface Divergence {
  readonly seed: number;
  readonly step: number;
  readonly kind: string;
  readonly write: unknown;
  readonly live: Json;
  readonly difference: unknown;
}

export interface Played {
  readonly played: number;
  readonly divergences: readonly Divergence[];
}

/** Entries carry whole seconds, so writes are spaced out: only then does a time tell which write it is from. */
export function wait(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

/** When the server says the write happened. */
export function latestTime({ body }: Answer): string {
  const entries = (body.metadata as JsonObject | undefined)?.managedFields;
  const times = Array.isArray(entries) ? entries.map((entry) => text((entry as JsonObject).time)) : [];
  return times.toSorted().at(-1) ?? "2000-01-01T00:00:00Z";
}

/** What storing a custom resource adds and takes away, which merging leaves to others: defaults, nulls, empty metadata. */
export function stored(object: JsonObject, schema: Schema): JsonObject {
  const result = clone(object);
  const metadata = normalizeAs("meta.v1.ObjectMeta", result.metadata ?? {}) as JsonObject;
  const entries = (object.metadata as JsonObject).managedFields;
  result.metadata = { ...metadata, ...(entries === undefined ? {} : { managedFields: entries }) };
  pruneNulls(result, nodeOf(schema));
  applySchemaDefaults(result, schema);
  return result;
}

const SERVERS = ["uid", "creationTimestamp", "resourceVersion", "generation", "namespace", "selfLink"];

export function compareAnswers(
  expected: JsonObject | StatusError,
  answer: Answer,
  part: "all" | "status",
): unknown {
  if (expected instanceof StatusError) {
    const theirs = withSortedCauses(answer.body);
    const ours = withSortedCauses(expected.toStatus());
    return isDeepStrictEqual(ours, theirs) ? undefined : { ours, theirs };
  }
  if (answer.status >= 300) {
    return [409, 500].includes(answer.status) && !/modified/.test(text(answer.body.message))
      ? { ours: "accepted", theirs: answer.body }
      : undefined;
  }
  const ours = comparable(expected, part);
  const theirs = comparable(answer.body, part);
  if (isDeepStrictEqual(ours, theirs)) return undefined;
  return { paths: differences(ours, theirs, ""), ours, theirs };
}

/** Causes of several managers come in the order of a Go map. */
function withSortedCauses(status: JsonObject): JsonObject {
  const details = status.details;
  if (!isObject(details) || !Array.isArray(details.causes)) return status;
  const causes = details.causes.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
  return { ...status, details: { ...details, causes } };
}

/** What a status endpoint answers of the rest of the object is not merging's to say. */
function comparable(object: JsonObject, part: "all" | "status"): JsonObject {
  const copy = clone(object);
  const metadata = copy.metadata as JsonObject;
  for (const name of SERVERS) delete metadata[name];
  if (part === "all") return copy;
  return { status: copy.status ?? null, managedFields: metadata.managedFields ?? null };
}

export function differences(ours: Json | undefined, theirs: Json | undefined, path: string): string[] {
  if (isDeepStrictEqual(ours, theirs)) return [];
  if (isObject(ours) && isObject(theirs)) {
    return [...new Set([...Object.keys(ours), ...Object.keys(theirs)])].flatMap((key) =>
      differences(ours[key], theirs[key], `${path}.${key}`),
    );
  }
  if (Array.isArray(ours) && Array.isArray(theirs) && ours.length === theirs.length) {
    return ours.flatMap((item, at) => differences(item, theirs[at], `${path}[${at}]`));
  }
  return [`${path}: ours ${JSON.stringify(ours)} theirs ${JSON.stringify(theirs)}`];
}

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}
