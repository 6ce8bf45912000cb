import { isObject, type JsonObject } from "../json.ts";
import type { GroupVersionKind } from "../kinds/index.ts";
import { ParseError, parseJson } from "../schema/parse-json.ts";
import { badRequest, StatusError } from "../status.ts";
import { type ApiRequest, header } from "./request.ts";

/** What a body turned out to hold. */
export interface DecodedBody {
  readonly object: JsonObject;
  /** Paths of keys that appear more than once, for field validation. */
  readonly duplicates: readonly string[];
  /** From protobuf: the type already says what fields there are. */
  readonly typed: boolean;
}

/** The real server refuses larger ones. */
export const bodyLimit = 3 * 1024 * 1024;

/** Reads the body of a create, update or delete. `expected` is the kind it should be, for bodies that do not say. @throws StatusError 400, 413, 415 */
export async function decodeBody(
  request: ApiRequest,
  expected: GroupVersionKind,
  findDuplicates = false,
): Promise<DecodedBody | undefined> {
  const { body } = request;
  if (!body || body.byteLength === 0) return undefined;
  checkSize(body);
  const type = mediaType(header(request, "content-type"));
  switch (type) {
    case "":
    case "application/json": {
      const { value, duplicates } = parse(body, findDuplicates);
      return { object: asObject(value), duplicates, typed: false };
    }
    case "application/yaml": {
      const { parseYaml } = await import("../schema/parse-yaml.ts");
      const { value, duplicates } = orBadRequest(() => parseYaml(Buffer.from(body).toString("utf8")));
      return { object: asObject(value), duplicates, typed: false };
    }
    case "application/vnd.kubernetes.protobuf": {
      const { decodeProtobuf } = await import("../protobuf/index.ts");
      return { object: decodeProtobuf(body, expected), duplicates: [], typed: true };
    }
    default:
      throw unsupportedMediaType([
        "application/json",
        "application/yaml",
        "application/vnd.kubernetes.protobuf",
      ]);
  }
}

/** Reads a patch, whichever format it is in. */
export function parsePatch(request: ApiRequest): unknown {
  const { body } = request;
  if (!body) return undefined;
  checkSize(body);
  return parse(body, false).value;
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

/** The type without its parameters, in lower case. */
export function mediaType(contentType: string | undefined): string {
  return (contentType ?? "").split(";")[0]?.trim().toLowerCase() ?? "";
}

export function unsupportedMediaType(accepted: readonly string[]): StatusError {
  return new StatusError({
    code: 415,
    reason: "UnsupportedMediaType",
    message: `the body of the request was in an unknown format - accepted media types include: ${accepted.join(", ")}`,
  });
}

function parse(body: Uint8Array, duplicates: boolean): ReturnType<typeof parseJson> {
  return orBadRequest(() =>
    parseJson(Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString("utf8"), {
      findDuplicates: duplicates,
    }),
  );
}

function orBadRequest<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof ParseError) throw badRequest(error.message);
    throw error;
  }
}

function asObject(value: unknown): JsonObject {
  if (!isObject(value)) {
    throw badRequest(
      'couldn\'t get version/kind; json parse error: json: cannot unmarshal into Go value of type struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }',
    );
  }
  return value;
}
