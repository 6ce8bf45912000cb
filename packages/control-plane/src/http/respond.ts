import { type Json, type JsonObject, textOf } from "../json.ts";
import type { StatusError } from "../status.ts";
import type { ApiResponse } from "./request.ts";

const common = { "cache-control": "no-cache, private" };

/** An answer of JSON text that is already made. */
export function jsonText(
  status: number,
  body: string,
  headers: Record<string, string | readonly string[]> = {},
): ApiResponse {
  return { status, headers: { ...common, "content-type": "application/json", ...headers }, body };
}

export function json(
  status: number,
  body: Json,
  headers: Record<string, string | readonly string[]> = {},
): ApiResponse {
  return jsonText(status, JSON.stringify(body), headers);
}

export function text(status: number, body: string): ApiResponse {
  return { status, headers: { ...common, "content-type": "text/plain; charset=utf-8" }, body };
}

export function failure(error: StatusError): ApiResponse {
  const retry = error.details?.retryAfterSeconds;
  const headers = retry === undefined ? {} : { "retry-after": textOf(retry) };
  return json(error.code, error.toStatus(), headers);
}

/** What DELETE answers for kinds that do not return the object. */
export function deletedStatus(details: JsonObject): JsonObject {
  return { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", details };
}

/** The plain answer to a path that nobody serves. */
export function pathNotFound(): ApiResponse {
  return text(404, "404 page not found\n");
}
