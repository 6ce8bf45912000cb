import { isUtf8 } from "node:buffer";
import { isObject, type JsonObject, textOf } from "../json.ts";
import { metadataOf } from "../json-fields.ts";
import { type FieldRequirement, fieldMatcher, parseFieldSelector } from "../registry/field-selector.ts";
import { parseLabelSelector } from "../registry/label-selector.ts";
import type { Resource } from "../registry/resource.ts";
import { ParseError, parseJson } from "../schema/parse-json.ts";
import { badRequest, type Cause, invalid, StatusError } from "../status.ts";

/** The query of a list, watch or deletecollection, checked. */
export interface ListOptions {
  readonly matches: ((object: JsonObject) => boolean) | undefined;
  readonly limit: number | undefined;
  readonly continue: ContinueToken | undefined;
  readonly resourceVersion: number | undefined;
  readonly resourceVersionMatch: "Exact" | "NotOlderThan" | undefined;
  readonly watch: boolean;
  readonly allowBookmarks: boolean;
  /**
   * Undefined where the client did not say: old clients that name no version expect the current
   * state first.
   */
  readonly sendInitialEvents: boolean | undefined;
  readonly timeoutSeconds: number | undefined;
}

interface ContinueToken {
  readonly revision: number;
  readonly after: string;
}

/** @throws StatusError 400 or 422, in the words of the real server. */
export function parseListOptions(resource: Resource, query: URLSearchParams, watch: boolean): ListOptions {
  const labels = query.get("labelSelector") ?? "";
  const fields = query.get("fieldSelector") ?? "";
  const matchLabels = labels === "" ? undefined : parseLabelSelector(labels);
  const requirements = parseFieldSelector(fields);
  const matchFields = requirements.length === 0 ? undefined : fieldMatcher(resource, requirements);
  const matches =
    matchLabels || matchFields
      ? (object: JsonObject) =>
          (matchLabels?.(metadataOf(object).labels as JsonObject | undefined) ?? true) &&
          (matchFields?.(object) ?? true)
      : undefined;

  const limit = integer(query, "limit");
  const timeoutSeconds = integer(query, "timeoutSeconds");
  const version = query.get("resourceVersion") ?? "";
  const match = query.get("resourceVersionMatch") ?? "";
  const initial = query.get("sendInitialEvents");
  const token = query.get("continue") ?? "";
  const sendInitialEvents = initial === null || initial === "" ? undefined : isTrue(initial);
  checkVersions({ version, match, token, sendInitialEvents }, watch);
  return {
    matches,
    // A selector for one name is a lookup, which has no second page.
    limit: limit !== undefined && limit > 0 && !namesOne(requirements) ? limit : undefined,
    continue: token === "" ? undefined : decodeContinue(token),
    resourceVersion: version === "" ? undefined : parseVersion(version, watch ? 500 : 400),
    resourceVersionMatch: match === "" ? undefined : (match as "Exact" | "NotOlderThan"),
    watch,
    allowBookmarks: isTrue(query.get("allowWatchBookmarks") ?? "false"),
    sendInitialEvents,
    timeoutSeconds,
  };
}

function namesOne(requirements: readonly FieldRequirement[]): boolean {
  return requirements.some(({ path, operator }) => path === "metadata.name" && operator === "=");
}

/** Go's idea of a boolean query parameter: present and not `false` or `0`. */
export function isTrue(value: string): boolean {
  return value !== "false" && value !== "0";
}

function integer(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name);
  return text === null || text === "" ? undefined : Number(parseInteger(text));
}

/** An integer as Go reads it. @throws StatusError 400 */
export function parseInteger(text: string): bigint {
  const fail = (why: string) => badRequest(`strconv.ParseInt: parsing ${JSON.stringify(text)}: ${why}`);
  if (!/^[+-]?\d+$/.test(text)) throw fail("invalid syntax");
  const value = shortInteger(text);
  if (value === undefined || value !== BigInt.asIntN(64, value)) throw fail("value out of range");
  return value;
}

/**
 * The integer that a text of digits stands for. Undefined beyond 20 digits, because parsing a
 * million of them is slow.
 */
function shortInteger(text: string): bigint | undefined {
  const digits = text.replace(/^[+-]?0*/, "");
  return digits.length > 20 ? undefined : BigInt(`${text.startsWith("-") ? "-" : ""}${digits || "0"}`);
}

/** @param code the status for a malformed version @throws StatusError */
export function parseVersion(text: string, code: 400 | 500): number {
  const isNumber = /^\d+$/.test(text);
  if (isNumber && (shortInteger(text) ?? 2n ** 64n) < 2n ** 64n) return Number(text);
  const quoted = JSON.stringify(text);
  const fault = isNumber ? "value out of range" : "invalid syntax";
  const why = `resourceVersion: Invalid value: ${quoted}: strconv.ParseUint: parsing ${quoted}: ${fault}`;
  throw code === 400
    ? badRequest(`invalid resource version: ${why}`)
    : new StatusError({ code: 500, message: why });
}

interface GivenVersions {
  readonly version: string;
  readonly match: string;
  readonly token: string;
  readonly sendInitialEvents: boolean | undefined;
}

function checkVersions(given: GivenVersions, watch: boolean): void {
  const causes = watch ? watchFaults(given) : listFaults(given);
  if (causes.length > 0) throw invalid({ group: "meta.k8s.io", kind: "ListOptions" }, "", causes);
  if (!watch && given.token !== "" && given.version !== "" && given.version !== "0") {
    throw badRequest("specifying resource version is not allowed when using continue");
  }
}

const matchField = "resourceVersionMatch";

function forbidden(field: string, why: string): Cause {
  return { reason: "FieldValueForbidden", message: `Forbidden: ${why}`, field };
}

function unsupportedMatch(match: string, supported: string): Cause {
  const message = `Unsupported value: ${JSON.stringify(match)}: supported values: ${supported}`;
  return { reason: "FieldValueNotSupported", message, field: matchField };
}

function watchFaults({ match, token, sendInitialEvents }: GivenVersions): Cause[] {
  const causes: Cause[] = [];
  if (sendInitialEvents !== undefined && match !== "NotOlderThan") {
    causes.push(
      forbidden(matchField, "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"),
    );
  }
  if (match !== "" && sendInitialEvents === undefined) {
    causes.push(
      forbidden(
        matchField,
        "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided",
      ),
    );
  }
  if (match !== "" && match !== "NotOlderThan") causes.push(unsupportedMatch(match, '"NotOlderThan"'));
  if (token !== "") {
    causes.push(forbidden(matchField, "resourceVersionMatch is forbidden when continue is provided"));
  }
  return causes;
}

function listFaults({ version, match, token, sendInitialEvents }: GivenVersions): Cause[] {
  const causes: Cause[] = [];
  if (match !== "") {
    if (version === "") {
      causes.push(
        forbidden(matchField, "resourceVersionMatch is forbidden unless resourceVersion is provided"),
      );
    }
    if (token !== "") {
      causes.push(forbidden(matchField, "resourceVersionMatch is forbidden when continue is provided"));
    }
    if (match !== "Exact" && match !== "NotOlderThan") {
      causes.push(unsupportedMatch(match, '"Exact", "NotOlderThan", ""'));
    }
    if (match === "Exact" && version === "0") {
      causes.push(forbidden(matchField, 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"'));
    }
  }
  if (sendInitialEvents !== undefined) {
    causes.push(forbidden("sendInitialEvents", "sendInitialEvents is forbidden for list"));
  }
  return causes;
}

/** Opaque to clients; the same form as the real server's. */
export function encodeContinue(revision: number, after: string): string {
  return Buffer.from(JSON.stringify({ v: "meta.k8s.io/v1", rv: revision, start: `${after}\u0000` })).toString(
    "base64url",
  );
}

function decodeContinue(token: string): ContinueToken {
  const bad = (why: string) => badRequest(`invalid continue token: continue key is not valid: ${why}`);
  const odd = token.search(/[^A-Za-z0-9_-]/);
  if (odd >= 0 || token.length % 4 === 1) {
    throw bad(`illegal base64 data at input byte ${odd >= 0 ? odd : token.length - 1}`);
  }
  let value: unknown;
  const bytes = Buffer.from(token, "base64url");
  try {
    // Malformed UTF-8 is quoted byte by byte.
    value = parseJson(isUtf8(bytes) ? bytes.toString("utf8") : bytes.toString("latin1"), {}).value;
  } catch (error) {
    if (error instanceof ParseError) throw bad(error.message);
    throw error;
  }
  const { v, rv, start } = isObject(value) ? value : {};
  if (v !== "meta.k8s.io/v1") throw bad(`server does not recognize this encoded version ${textOf(v)}`);
  if (typeof start !== "string" || start === "")
    throw bad("encoded start key empty (version meta.k8s.io/v1)");
  if (typeof rv !== "number") throw bad("encoded resourceVersion is not a number");
  return { revision: rv, after: start.replace(/\0$/, "") };
}

/** 410: the history that was asked for was compacted. */
export function expired(
  message = "The resourceVersion for the provided list is too old.",
  token?: string,
): StatusError {
  return new StatusError({
    code: 410,
    reason: "Expired",
    message,
    ...(token === undefined ? {} : { metadata: { continue: token } }),
  });
}

/** 504: the client asks for a revision that does not exist yet. */
export function tooLarge(wanted: number, current: number): StatusError {
  return new StatusError({
    code: 504,
    reason: "Timeout",
    message: `Timeout: Too large resource version: ${wanted}, current: ${current}`,
    details: {
      causes: [{ reason: "ResourceVersionTooLarge", message: "Too large resource version" }],
      retryAfterSeconds: 1,
    },
  });
}
