import { isLarge, type Json, type JsonObject, stringify, textOf } from "../json.ts";
import { indentedInSteps, stringifyInSteps } from "../json-text.ts";
import type { StatusError } from "../status.ts";
import { finish, type Steps } from "../steps.ts";
import type { Encoding } from "./negotiate.ts";
import type { ApiResponse } from "./request.ts";

type Headers = Readonly<Record<string, string | readonly string[]>>;

const common = { "cache-control": "no-cache, private" };

/** An answer of JSON text that is already made. */
export function jsonText(status: number, body: string, headers: Headers = {}): ApiResponse {
  return { status, headers: { ...common, "content-type": "application/json", ...headers }, body };
}

export function json(status: number, body: Json, headers: Headers = {}): ApiResponse {
  return jsonText(status, stringify(body), headers);
}

export function text(status: number, body: string, contentType = "text/plain; charset=utf-8"): ApiResponse {
  return { status, headers: { ...common, "content-type": contentType }, body };
}

/** The text of an object, made with turns of the event loop in between if it is large. */
function textOfLarge(object: JsonObject): string | Promise<string> {
  return isLarge(object) ? finish(stringifyInSteps(object)) : stringify(object);
}

/** An answer of protobuf bytes that are already made. */
export function protobuf(status: number, body: Uint8Array, headers: Headers = {}): ApiResponse {
  return {
    status,
    headers: { ...common, "content-type": "application/vnd.kubernetes.protobuf", ...headers },
    body,
  };
}

/**
 * An object with its own `kind` and `apiVersion`, in the requested encoding. JSON where it has no
 * protobuf form.
 */
export async function encoded(
  status: number,
  object: JsonObject,
  encoding: Encoding,
  headers: Headers = {},
): Promise<ApiResponse> {
  switch (encoding) {
    case "json":
      return jsonText(status, await textOfLarge(object), headers);
    case "yaml": {
      const { yamlText } = await import("../schema/parse-yaml.ts");
      const body = yamlText(object);
      return { status, headers: { ...common, "content-type": "application/yaml", ...headers }, body };
    }
    case "protobuf": {
      const bytes = await protobufOf(object);
      return bytes ? protobuf(status, bytes, headers) : json(status, object, headers);
    }
  }
}

/**
 * An object with its own `kind` and `apiVersion`, in its protobuf envelope; undefined where it has
 * none.
 */
export async function protobufOf(object: JsonObject): Promise<Uint8Array | undefined> {
  const { encodeMessage, envelope } = await import("../protobuf/index.ts");
  const apiVersion = textOf(object.apiVersion);
  const slash = apiVersion.indexOf("/");
  const kind = textOf(object.kind);
  const group = slash < 0 ? "" : apiVersion.slice(0, slash);
  const body = encodeMessage({ group, version: apiVersion.slice(slash + 1), kind }, object);
  return body && envelope(apiVersion, kind, body);
}

/** A failure as JSON, which every client reads whatever it asked for. */
export function failure(error: StatusError): ApiResponse {
  return json(error.code, error.toStatus(), failureHeaders(error));
}

/** A failure as the client asked for it. */
export async function encodedFailure(error: StatusError, encoding: Encoding): Promise<ApiResponse> {
  return await encoded(error.code, error.toStatus(), encoding, failureHeaders(error));
}

function failureHeaders(error: StatusError): Headers {
  const retry = error.details?.retryAfterSeconds;
  return retry === undefined ? {} : { "retry-after": textOf(retry) };
}

/** What DELETE answers for kinds that do not return the object. */
export function deletedStatus(details: JsonObject): JsonObject {
  return { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", details };
}

/** The text answer for a path that is not served. */
export function pathNotFound(): ApiResponse {
  return {
    status: 404,
    headers: { ...common, "content-type": "text/plain; charset=utf-8", "x-content-type-options": "nosniff" },
    body: "404 page not found\n",
  };
}

/** The same answer for people to read: browsers and curl get JSON with line breaks. */
export function pretty(response: ApiResponse): ApiResponse | Promise<ApiResponse> {
  const { body, headers } = response;
  const type = headers["content-type"];
  if (typeof body !== "string" || typeof type !== "string" || !type.startsWith("application/json")) {
    return response;
  }
  return body.startsWith("{") ? finish(prettyInSteps(response, body)) : response;
}

function* prettyInSteps(response: ApiResponse, body: string): Steps<ApiResponse> {
  return { ...response, body: yield* indentedInSteps(body) };
}
