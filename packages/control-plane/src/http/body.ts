import { isObject, type JsonObject } from "../json.ts";
import type { GroupVersionKind } from "../kinds/index.ts";
import type { Sent } from "../registry/decode.ts";
import { ParseError, parseJsonInSteps } from "../schema/parse-json.ts";
import { StatusError, unrecognized } from "../status.ts";
import { finish, nextTurn } from "../steps.ts";
import { type ApiRequest, header } from "./request.ts";

/** A decoded request body. */
export interface DecodedBody extends Sent {
  readonly object: JsonObject;
}

/** The real server refuses larger ones. */
export const bodyLimit = 3 * 1024 * 1024;

/**
 * Reads the body of a create, update or delete. `expected` is the kind it should be: what errors
 * name.
 *
 * @throws StatusError 400, 413, 415
 */
export async function decodeBody(
  request: ApiRequest,
  expected: GroupVersionKind,
  findDuplicates = false,
): Promise<DecodedBody> {
  const body = request.body ?? new Uint8Array();
  checkSize(body);
  const refuse = (why: string) => unrecognized(expected.kind, why, excerpt(body));
  switch (mediaType(header(request, "content-type"))) {
    case "":
    case "application/json": {
      const { value, numbers, duplicates } = await readText(
        () => finish(parseJsonInSteps(textOfBytes(body), { outOfRange: "noted", findDuplicates })),
        (why) => refuse(`couldn't get version/kind; json parse error: ${why}`),
      );
      if (isLong(body)) await nextTurn();
      return { object: identified(value, refuse), duplicates, numbers, format: "json", isLong: isLong(body) };
    }
    case "application/yaml": {
      const { parseYamlInSteps } = await import("../schema/parse-yaml.ts");
      const read = () => finish(parseYamlInSteps(textOfBytes(body)));
      const { value, duplicates } = await readText(read, refuse);
      if (isLong(body)) await nextTurn();
      return { object: identified(value, refuse), duplicates, format: "yaml", isLong: isLong(body) };
    }
    case "application/vnd.kubernetes.protobuf": {
      const { decodeProtobuf } = await import("../protobuf/index.ts");
      const object = decodeProtobuf(body, expected);
      if (isLong(body)) await nextTurn();
      return { object, duplicates: [], format: "protobuf", isLong: isLong(body) };
    }
    default:
      throw unsupportedMediaType([
        "application/json",
        "application/yaml",
        "application/vnd.kubernetes.protobuf",
      ]);
  }
}

/** Whether the body is so long that the event loop gets a turn between two passes over it. */
function isLong(body: Uint8Array): boolean {
  return body.byteLength > 100_000;
}

/** The start of a body, as messages quote it: readable if it looks like JSON. */
function excerpt(body: Uint8Array): string {
  if (body.byteLength === 0) return "<empty>";
  const start = Buffer.from(body.subarray(0, 30));
  const shown = body[0] === 0x7b ? start.toString("utf8") : start.toString("hex");
  return body.byteLength > 30 ? `${shown} ...` : shown;
}

const identity =
  'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }';

/** An object whose kind and version can be read. An empty body is an empty object. */
function identified(value: unknown, refuse: (why: string) => StatusError): JsonObject {
  const fail = (why: string) =>
    refuse(`couldn't get version/kind; json parse error: json: cannot unmarshal ${why}`);
  if (value === null || value === undefined) return {};
  if (!isObject(value)) throw fail(`${goKindOf(value)} into Go value of type ${identity}`);
  for (const part of ["apiVersion", "kind"]) {
    const given = value[part];
    if (given !== undefined && given !== null && typeof given !== "string") {
      throw fail(`${goKindOf(given)} into Go struct field .${part} of type string`);
    }
  }
  return value;
}

function goKindOf(value: unknown): string {
  if (Array.isArray(value)) return "array";
  if (typeof value === "bigint") return "number";
  return typeof value === "boolean" ? "bool" : typeof value;
}

/** The text of a body. */
export function textOfBytes(body: Uint8Array): string {
  return Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString("utf8");
}

export function checkSize(body: Uint8Array): void {
  if (body.byteLength > bodyLimit) {
    throw new StatusError({
      code: 413,
      reason: "RequestEntityTooLarge",
      message: `Request entity too large: limit is ${bodyLimit}`,
    });
  }
}

/**
 * The media type without its parameters, in lower case; empty where no header was sent. A header
 * that has only parameters is returned as it is.
 */
export function mediaType(contentType = ""): string {
  const [type = ""] = contentType.split(";");
  return type.trim() === "" ? contentType.trim() : type.trim().toLowerCase();
}

export function unsupportedMediaType(accepted: readonly string[]): StatusError {
  return new StatusError({
    code: 415,
    reason: "UnsupportedMediaType",
    message: `the body of the request was in an unknown format - accepted media types include: ${accepted.join(", ")}`,
  });
}

async function readText<T>(read: () => T | Promise<T>, refuse: (why: string) => StatusError): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof ParseError) throw refuse(error.message);
    throw error;
  }
}
