import { apiVersionOf } from "@windlass/kinds";
import { type GoType, goType, goTypeOfKind } from "@windlass/kinds/go-types";
import type { JsonObject } from "../json.ts";
import { type GroupVersionKind, normalize } from "../kinds/index.ts";
import { cannotBeHandled, unrecognized } from "../status.ts";
import { readMessage } from "./message.ts";
import { readFields, WireError } from "./wire.ts";

/** The media type of request bodies {@link decodeProtobuf} reads. */
export const protobufMediaType = "application/vnd.kubernetes.protobuf";

const magic = [0x6b, 0x38, 0x73, 0x00];
const utf8 = new TextDecoder();

interface Envelope {
  apiVersion: string;
  kind: string;
  body: Uint8Array;
}

/**
 * Reads a body that a client sent as protobuf into the JSON the same object has, kind and version
 * included.
 *
 * @param expected the kind the request is for: what the body is when it does not say, and what
 *   errors name.
 * @throws {StatusError} 400, whatever the bytes.
 */
export function decodeProtobuf(data: Uint8Array, expected: GroupVersionKind): JsonObject {
  const envelope = openEnvelope(data, expected.kind);
  const [group, version] = splitVersion(envelope.apiVersion);
  const identified = envelope.kind !== "" && envelope.apiVersion !== "";
  const kind = identified ? { group, version, kind: envelope.kind } : expected;
  const type = messageType(kind);
  const refuse = (why: string) => {
    const version = apiVersionOf(kind);
    return cannotBeHandled({ kind: kind.kind, version }, { message: why }, expected.kind);
  };
  if (type?.at !== "struct") {
    throw refuse(
      `no kind ${JSON.stringify(kind.kind)} is registered for version ${JSON.stringify(kind.version)}`,
    );
  }
  try {
    const object = readMessage(type, envelope.body);
    const apiVersion = apiVersionOf(kind);
    return normalize(bodyKind(kind), { kind: kind.kind, apiVersion, ...object }, "decoded");
  } catch (error) {
    if (error instanceof WireError) throw refuse(error.message);
    throw error;
  }
}

/** Options and statuses are registered with every group, but have one type. */
function bodyKind(kind: GroupVersionKind): GroupVersionKind {
  return goTypeOfKind(kind.group, kind.version, kind.kind)
    ? kind
    : { ...kind, group: "meta.k8s.io", version: "v1" };
}

function messageType(kind: GroupVersionKind): GoType | undefined {
  const own = goTypeOfKind(kind.group, kind.version, kind.kind);
  return own ?? (/^\w+$/.test(kind.kind) ? goType(`meta.v1.${kind.kind}`) : undefined);
}

function splitVersion(apiVersion: string): [group: string, version: string] {
  const slash = apiVersion.indexOf("/");
  return slash < 0 ? ["", apiVersion] : [apiVersion.slice(0, slash), apiVersion.slice(slash + 1)];
}

function openEnvelope(data: Uint8Array, expectedKind: string): Envelope {
  const refuse = (why: string) => unrecognized(expectedKind, why, excerpt(data));
  if (data.length === 0) throw refuse("empty data");
  if (!magic.every((byte, index) => data[index] === byte)) {
    throw refuse(
      `provided data does not appear to be a protobuf message, expected prefix [${magic.join(" ")}]`,
    );
  }
  if (data.length === magic.length) throw refuse("empty body");
  const envelope: Envelope = { apiVersion: "", kind: "", body: new Uint8Array(0) };
  try {
    for (const field of readFields(data.subarray(magic.length))) {
      if (field.number === 2) envelope.body = field.bytes;
      if (field.number !== 1) continue;
      for (const part of readFields(field.bytes)) {
        if (part.number === 1) envelope.apiVersion = utf8.decode(part.bytes);
        if (part.number === 2) envelope.kind = utf8.decode(part.bytes);
      }
    }
  } catch (error) {
    if (error instanceof WireError) throw refuse(error.message);
    throw error;
  }
  return envelope;
}

function excerpt(data: Uint8Array): string {
  const most = 30;
  if (data.length === 0) return "<empty>";
  const shown = Buffer.from(data.subarray(0, most)).toString("hex");
  return data.length > most ? `${shown} ...` : shown;
}
