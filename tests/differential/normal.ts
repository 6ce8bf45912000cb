import { isObject, type Json, type JsonObject } from "../../packages/control-plane/src/json.ts";

const times = new Set([
  "creationTimestamp",
  "deletionTimestamp",
  "time",
  "lastTransitionTime",
  "lastUpdateTime",
  "expirationTimestamp",
]);
const suffix = "[bcdfghjklmnpqrstvwxz2456789]{5}";

/** Texts with something in them that only one server can say. */
const fleeting: readonly (readonly [RegExp, string])[] = [
  // A template, or the difference of two specs, printed in Go's own notation.
  [
    /Invalid value: \{(?:"labels"|"metadata"|"[sS]pec").*\}: field is immutable/g,
    "Invalid value: <template>: field is immutable",
  ],
  [
    /^((?:.* is invalid: spec: )?Forbidden: (?:pod updates may not change|spec is immutable after).*)\n[\s\S]*$/,
    "$1<difference>",
  ],
  // The object that a patch made, whole, with the identities and times in it.
  [/patch: Invalid value: "(?:[^"\\]|\\.)*": /g, "patch: Invalid value: <object>: "],
  [/^Invalid value: "\{(?:[^"\\]|\\.)*": /, "Invalid value: <object>: "],
  [/'Kind' is missing in '\{"apiVersion".*\}'/, "'Kind' is missing in <object>"],
  [/(ResourceVersion in (?:record|the precondition)) \(\d+\)/g, "$1 (<version>)"],
  [/(Too large resource version: \d+, current: )\d+/, "$1<revision>"],
  // One stores JSON, the other protobuf.
  [/(trying to send message larger than max \()\d+/, "$1<bytes>"],
  [new RegExp(`\\b(gen-(?:[a-z]-)?|Bad_|g{50,58})${suffix}\\b`, "g"), "$1<suffix>"],
];

/**
 * Answers of one server with all that must differ between two servers made the same: identities are
 * numbered in the order they appear, versions of objects by their rank, times and allocated
 * addresses are blanked. What a request chose itself stays.
 *
 * @param answers in the order they came
 * @param given the text of all requests: what is in it was not up to the server
 */
export function normalised(answers: readonly unknown[], given: string): unknown[] {
  const versions = [...new Set(answers.flatMap(versionsIn))].sort((a, b) => Number(a) - Number(b));
  const settling = new Settling(new Map(versions.map((version, index) => [version, index + 1])), given);
  return answers.map((answer) => settling.settle(answer, ""));
}

class Settling {
  readonly #ranks: ReadonlyMap<string, number>;
  readonly #given: string;
  readonly #identities = new Map<string, string>();

  constructor(ranks: ReadonlyMap<string, number>, given: string) {
    this.#ranks = ranks;
    this.#given = given;
  }

  settle(value: unknown, key: string): unknown {
    if (Array.isArray(value)) {
      const items =
        key === "managedFields"
          ? byManager(value as JsonObject[])
          : value.filter((item) => !isPlainBookmark(item));
      const settled = items.map((item) => this.settle(item, key));
      return key === "causes" ? asSet(settled) : settled;
    }
    if (isObject(value)) {
      const whole = isOfTheStore(value) ? withoutVersion(value) : withoutOrder(value);
      return Object.fromEntries(Object.entries(whole).map(([name, item]) => [name, this.settle(item, name)]));
    }
    if (key === "nodePort" || key === "healthCheckNodePort") {
      return this.#given.includes(String(value as number)) ? value : "<port>";
    }
    if (key === "cells" && typeof value === "string") {
      if (/^\d+[smhd]$/.test(value)) return "<age>";
      if (/^20\d\d-\d\d-\d\dT[\d:]+Z$/.test(value)) return "<time>";
      if (/:3\d{4}\//.test(value)) return value.replace(/:3\d{4}\//g, ":<port>/");
      if (/^\d+(\.\d+){3}$/.test(value) && !this.#given.includes(value)) return "<address>";
    }
    return typeof value === "string" ? this.#text(value, key) : value;
  }

  #text(value: string, key: string): string {
    if (key === "resourceVersion") {
      const rank = this.#ranks.get(value);
      return rank === undefined ? value : `<version ${rank}>`;
    }
    if (times.has(key)) return "<time>";
    if (key === "continue" && value !== "") return "<token>";
    const isAddress = key === "clusterIP" || key === "clusterIPs";
    if (isAddress && value !== "None" && value !== "" && !this.#given.includes(value)) return "<address>";
    const told = fleeting.reduce((text, [pattern, blank]) => text.replace(pattern, blank), value);
    return told.replace(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, (found) =>
      this.#identity(found),
    );
  }

  #identity(found: string): string {
    if (this.#given.includes(found)) return found;
    const known = this.#identities.get(found) ?? `<uid ${this.#identities.size + 1}>`;
    this.#identities.set(found, known);
    return known;
  }
}

/**
 * Lists, tables and bookmarks carry the store's version rather than an object's: others move it
 * too.
 */
function isOfTheStore(value: JsonObject): boolean {
  const annotations = isObject(value.metadata) ? value.metadata.annotations : undefined;
  return (
    "items" in value ||
    "columnDefinitions" in value ||
    (isObject(annotations) && "k8s.io/initial-events-end" in annotations)
  );
}

/**
 * Bookmarks come when the server finds time for them, except for the one that ends the initial
 * events.
 */
function isPlainBookmark(value: unknown): boolean {
  return (
    isObject(value) &&
    value.type === "BOOKMARK" &&
    isObject(value.object) &&
    !JSON.stringify(value.object).includes("k8s.io/initial-events-end")
  );
}

function withoutVersion(value: JsonObject): JsonObject {
  if (!isObject(value.metadata) || value.metadata.resourceVersion === undefined) return value;
  return { ...value, metadata: { ...value.metadata, resourceVersion: "<revision>" } };
}

/** The versions of objects. */
function versionsIn(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(versionsIn);
  if (!isObject(value) || isPlainBookmark(value)) return [];
  const own = isObject(value.metadata) && !isOfTheStore(value) ? value.metadata.resourceVersion : undefined;
  const within = Object.values(value).flatMap((item: Json) => versionsIn(item));
  return typeof own === "string" && own !== "" ? [own, ...within] : within;
}

/**
 * Entries are listed by the second of their last write: two writes in one second come in either
 * order.
 */
function byManager(entries: readonly JsonObject[]): JsonObject[] {
  const managerKey = ({ manager, operation, apiVersion, subresource }: JsonObject) =>
    JSON.stringify([manager, operation, apiVersion, subresource]);
  return [...entries].sort((a, b) => (managerKey(a) < managerKey(b) ? -1 : 1));
}

/** Faults of a map's entries come in any order. What a message lists, its causes list too. */
function withoutOrder(value: JsonObject): JsonObject {
  const causes = isObject(value.details) ? value.details.causes : undefined;
  if (!Array.isArray(causes) || asSet(causes).length < 2 || typeof value.message !== "string") return value;
  return { ...value, message: value.message.replace(/ is invalid: .*$/s, " is invalid: <causes>") };
}

/** The real server checks the same metadata up to four times, and lists each fault as often. */
function asSet(causes: readonly unknown[]): unknown[] {
  const texts = [...new Set(causes.map((cause) => JSON.stringify(cause)))].sort();
  return texts.map((text) => JSON.parse(text) as unknown);
}
