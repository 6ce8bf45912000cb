import type { JsonObject } from "../json.ts";
import { fieldMatcher, parseFieldSelector } from "../registry/field-selector.ts";
import { parseLabelSelector } from "../registry/label-selector.ts";
import type { Resource } from "../registry/resource.ts";
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
  readonly sendInitialEvents: boolean;
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
  const matchFields =
    requirements.length === 0
      ? undefined
      : fieldMatcher(resource.info, requirements, resource.selectableFields);
  const matches =
    matchLabels || matchFields
      ? (object: JsonObject) =>
          (matchLabels?.((object.metadata as JsonObject).labels as JsonObject | undefined) ?? true) &&
          (matchFields?.(object) ?? true)
      : undefined;

  const limit = integer(query, "limit");
  const timeoutSeconds = integer(query, "timeoutSeconds");
  const version = query.get("resourceVersion") ?? "";
  const match = query.get("resourceVersionMatch") ?? "";
  const initial = query.get("sendInitialEvents");
  const sendInitialEvents = initial !== null && isTrue(initial);
  const token = query.get("continue") ?? "";
  checkVersions({
    version,
    match,
    token,
    watch,
    sendInitialEvents: initial === null ? undefined : sendInitialEvents,
  });
  return {
    matches,
    limit: limit !== undefined && limit > 0 ? limit : undefined,
    continue: token === "" ? undefined : decodeContinue(token),
    resourceVersion: version === "" ? undefined : parseVersion(version),
    resourceVersionMatch: match === "" ? undefined : (match as "Exact" | "NotOlderThan"),
    watch,
    allowBookmarks: isTrue(query.get("allowWatchBookmarks") ?? "false"),
    sendInitialEvents,
    timeoutSeconds,
  };
}

/** Go's idea of a boolean query parameter: present and not `false` or `0`. */
export function isTrue(value: string): boolean {
  return value !== "false" && value !== "0";
}

function integer(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name);
  if (text === null || text === "") return undefined;
  if (!/^[+-]?\d+$/.test(text))
    throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(text)}: invalid syntax`);
  return Number(text);
}

function parseVersion(text: string): number {
  if (!/^\d+$/.test(text)) {
    throw badRequest(
      `invalid resource version: resourceVersion: Invalid value: ${JSON.stringify(text)}: strconv.ParseUint: parsing ${JSON.stringify(text)}: invalid syntax`,
    );
  }
  return Number(text);
}

function checkVersions(given: {
  version: string;
  match: string;
  token: string;
  watch: boolean;
  sendInitialEvents: boolean | undefined;
}): void {
  const causes: Cause[] = [];
  const refuse = (field: string, why: string) =>
    causes.push({ reason: "FieldValueForbidden", message: `Forbidden: ${why}`, field });
  const { version, match, token, watch, sendInitialEvents } = given;
  if (watch) {
    if (sendInitialEvents !== undefined) {
      if (match === "") {
        refuse(
          "resourceVersionMatch",
          "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan",
        );
      } else if (match !== "NotOlderThan") {
        causes.push({
          reason: "FieldValueNotSupported",
          message: `Unsupported value: ${JSON.stringify(match)}: supported values: "NotOlderThan"`,
          field: "resourceVersionMatch",
        });
      }
    } else if (match !== "") {
      refuse(
        "resourceVersionMatch",
        "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided",
      );
    }
    if (token !== "") refuse("continue", "continue is forbidden for watch");
  } else {
    if (sendInitialEvents !== undefined)
      refuse("sendInitialEvents", "sendInitialEvents is forbidden for list");
    if (match !== "") {
      if (version === "")
        refuse(
          "resourceVersionMatch",
          "resourceVersionMatch is forbidden unless resourceVersion is provided",
        );
      if (token !== "")
        refuse("resourceVersionMatch", "resourceVersionMatch is forbidden when continue is provided");
      if (match !== "Exact" && match !== "NotOlderThan") {
        causes.push({
          reason: "FieldValueNotSupported",
          message: `Unsupported value: ${JSON.stringify(match)}: supported values: "Exact", "NotOlderThan", ""`,
          field: "resourceVersionMatch",
        });
      }
      if (match === "Exact" && version === "0") {
        refuse("resourceVersionMatch", 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"');
      }
    }
  }
  if (causes.length > 0) throw invalid({ group: "meta.k8s.io", kind: "ListOptions" }, "", causes);
  if (token !== "" && version !== "" && version !== "0") {
    throw badRequest("specifying resource version is not allowed when using continue");
  }
}

/** Opaque to clients; the same form as the real server's. */
export function encodeContinue(revision: number, after: string): string {
  return Buffer.from(JSON.stringify({ v: "meta.k8s.io/v1", rv: revision, start: `${after}\u0000` })).toString(
    "base64url",
  );
}

function decodeContinue(token: string): ContinueToken {
  const bad = (why: string) => badRequest(`invalid continue token: continue key is not valid: ${why}`);
  let value: { v?: unknown; rv?: unknown; start?: unknown };
  try {
    value = JSON.parse(Buffer.from(token, "base64url").toString("utf8")) as typeof value;
  } catch (error) {
    throw bad(error instanceof Error ? error.message : String(error));
  }
  if (value?.v !== "meta.k8s.io/v1")
    throw bad(
      `server does not recognize this encoded version "${typeof value?.v === "string" ? value.v : ""}"`,
    );
  if (typeof value.start !== "string" || value.start === "")
    throw bad("encoded start key empty (version meta.k8s.io/v1)");
  if (typeof value.rv !== "number") throw bad("encoded resourceVersion is not a number");
  return { revision: value.rv, after: value.start.replace(/\0$/, "") };
}

/** 410: the history that was asked for is gone. */
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

/** 504: the client knows of a future that has not happened. */
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
