import { isDeepStrictEqual } from "node:util";
import { clone, isObject, type Json, type JsonObject } from "../../../packages/control-plane/src/json.ts";
import type { StatusError } from "../../../packages/control-plane/src/status.ts";
import type { ServerResponse } from "./real-server.ts";
import type { Scenario } from "./scenario.ts";

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
  readonly accepted: number;
  readonly divergences: readonly Divergence[];
}

/**
 * Entries carry whole seconds, so writes are spaced out: only then does a time tell which write it
 * is from.
 */
export function wait(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

/** When the server says the write happened. */
export function latestTime({ body }: ServerResponse): string {
  const entries = (body.metadata as JsonObject | undefined)?.managedFields;
  const times = Array.isArray(entries) ? entries.map((entry) => text((entry as JsonObject).time)) : [];
  return times.toSorted().at(-1) ?? "2000-01-01T00:00:00Z";
}

export function compareStatus(expected: StatusError, answer: ServerResponse): unknown {
  const theirs = withSortedCauses(answer.body);
  const ours = withSortedCauses(expected.toStatus());
  if (isDeepStrictEqual(ours, theirs)) return undefined;
  // Which of a patch's several faults is reported is up to the order of a Go map.
  if (answer.status === 500 && expected.code === 500 && !text(ours.message).startsWith("failed"))
    return undefined;
  // A type that Go cannot hold is refused before or after, with words that are not merging's.
  if (answer.status === 422 && text(theirs.message).startsWith(` "" is invalid: patch`)) return undefined;
  return { ours, theirs };
}

/** A refusal that merging should have foreseen: conflicts and faults of the patch itself. */
export function answeredOtherwise(answer: ServerResponse): unknown {
  const message = text(answer.body.message);
  const merging =
    answer.status === 500 ||
    (answer.status === 409 && message.startsWith("Apply failed")) ||
    (answer.status === 422 && message.startsWith("the server rejected our request")) ||
    (answer.status === 400 && message.includes("patch format"));
  return merging ? { ours: "accepted", theirs: answer.body } : undefined;
}

/** Causes of several managers come in the order of a Go map. */
function withSortedCauses(status: JsonObject): JsonObject {
  const details = status.details;
  if (!isObject(details) || !Array.isArray(details.causes)) return status;
  const causes = details.causes.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
  return { ...status, details: { ...details, causes } };
}

const SERVERS = ["uid", "creationTimestamp", "resourceVersion", "generation", "namespace", "selfLink"];

/**
 * Custom resources must be the same to the last field. Built-in kinds get defaults that merging
 * knows nothing of: of them the entries must be the same, and everything merged must be found in
 * the answer.
 */
export function compareObjects(
  scenario: Scenario,
  expected: JsonObject,
  answered: JsonObject,
  subresource: "" | "status",
): unknown {
  const entries = differences(entriesOf(expected), entriesOf(answered), "managedFields");
  const ours = comparable(expected);
  const theirs = comparable(answered);
  if (subresource === "status") {
    const paths = [...entries, ...differences(ours.status, theirs.status, "status")];
    return paths.length === 0 ? undefined : { paths };
  }
  const whole = Object.keys(ours).length > 1;
  const exact = !scenario.builtin && whole;
  const paths = [...entries, ...(exact ? differences(ours, theirs, "") : missing(ours, theirs, ""))];
  return paths.length === 0 ? undefined : { paths };
}

function entriesOf(object: JsonObject): Json {
  return (object.metadata as JsonObject).managedFields ?? [];
}

function comparable(object: JsonObject): JsonObject {
  const copy = clone(object);
  const metadata = copy.metadata as JsonObject;
  for (const name of [...SERVERS, "managedFields"]) delete metadata[name];
  return copy;
}

/**
 * Where the answer lacks something that merging put there, or has it otherwise. Zero stands for a
 * default to come.
 */
function missing(ours: Json | undefined, theirs: Json | undefined, path: string): string[] {
  if (ours === undefined || ours === null || ours === 0) return [];
  if (isObject(ours) && (isObject(theirs) || Object.keys(ours).length === 0)) {
    return Object.keys(ours).flatMap((key) =>
      missing(ours[key], isObject(theirs) ? theirs[key] : undefined, `${path}.${key}`),
    );
  }
  if (Array.isArray(ours) && Array.isArray(theirs) && ours.length === theirs.length) {
    return ours.flatMap((item, at) => missing(item, theirs[at], `${path}[${at}]`));
  }
  return differences(ours, theirs, path);
}

function differences(ours: Json | undefined, theirs: Json | undefined, path: string): string[] {
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
