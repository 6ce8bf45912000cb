import { apiVersionOf } from "@windlass/kinds";
import { type JsonObject, stringify, textOf } from "../json.ts";
import { metadataOf } from "../json-fields.ts";
import type { GroupVersionKind, KindInfo } from "../kinds/index.ts";
import type { Resource } from "../registry/resource.ts";
import { nextTurn, TurnBudget } from "../steps.ts";
import type { Entry } from "../storage/store.ts";

/** `"kind":"Pod","apiVersion":"v1",`: what goes before the shared JSON of an entry. */
function typeMeta(resource: Resource): string {
  const { info } = resource;
  const apiVersion = apiVersionOf(info);
  return info.origin === "custom"
    ? `"apiVersion":${JSON.stringify(apiVersion)},"kind":${JSON.stringify(info.kind)},`
    : `"kind":${JSON.stringify(info.kind)},"apiVersion":${JSON.stringify(apiVersion)},`;
}

/** An entry as the answer to a get, or as the object of a watch event. */
export function entryText(resource: Resource, entry: Entry): string {
  return `{${typeMeta(resource)}${entry.json.slice(1)}`;
}

/** An entry as an item of a list: built-in kinds leave out what the list itself says. */
export function itemText(resource: Resource, entry: Entry): string {
  return resource.info.origin === "custom" ? entryText(resource, entry) : entry.json;
}

/** An object that is in no entry (converted, or not stored), with its fields in the same order. */
export function objectText(resource: Resource, object: JsonObject): string {
  const { kind: _kind, apiVersion: _apiVersion, ...rest } = object;
  return `{${typeMeta(resource)}${stringify(rest).slice(1)}`;
}

/** The `PartialObjectMetadata` of an object. */
export function partialMetadata(object: JsonObject): JsonObject {
  return {
    kind: "PartialObjectMetadata",
    apiVersion: "meta.k8s.io/v1",
    metadata: metadataOf(object),
  };
}

const metadataKind: GroupVersionKind = { group: "meta.k8s.io", version: "v1", kind: "PartialObjectMetadata" };

/**
 * Objects in protobuf. Stored objects never change, so each is written once, however often it is
 * read.
 */
export interface ProtobufForm {
  /** As the answer to a get, or as the object of a watch event. */
  object(resource: Resource, object: JsonObject): Uint8Array;
  list(resource: Resource, metadata: JsonObject, objects: readonly JsonObject[]): Promise<Uint8Array>;
  metadata(object: JsonObject): Uint8Array;
  metadataList(metadata: JsonObject, objects: readonly JsonObject[]): Promise<Uint8Array>;
  /** An object with `kind` and `apiVersion` of its own. */
  plain(object: JsonObject): Uint8Array;
  frame(type: string, object: Uint8Array): Uint8Array;
}

let form: Promise<ProtobufForm> | undefined;

/** Its code is loaded by the first client that asks for it. */
export function protobufForm(): Promise<ProtobufForm> {
  form ??= makeProtobufForm();
  return form;
}

async function makeProtobufForm(): Promise<ProtobufForm> {
  const { encodeList, encodeMessage, encodeProtobuf, envelope, watchFrame } = await import(
    "../protobuf/index.ts"
  );
  const written = new WeakMap<JsonObject, { info: KindInfo; bytes: Uint8Array }>();
  const messageOf = ({ info }: Resource, object: JsonObject): Uint8Array => {
    const known = written.get(object);
    if (known?.info === info) return known.bytes;
    const bytes = must(encodeMessage(info, object), info.kind);
    written.set(object, { info, bytes });
    return bytes;
  };
  const metadataOf = (object: JsonObject) =>
    must(encodeMessage(metadataKind, partialMetadata(object)), metadataKind.kind);
  return {
    object: (resource, object) => {
      const { info } = resource;
      return envelope(apiVersionOf(info), info.kind, messageOf(resource, object));
    },
    list: async (resource, metadata, objects) => {
      const { group, version, listKind } = resource.info;
      const items = await inTurns(objects, (object) => messageOf(resource, object));
      return must(encodeList({ group, version, kind: listKind }, metadata, items), listKind);
    },
    metadata: (object) => envelope("meta.k8s.io/v1", metadataKind.kind, metadataOf(object)),
    metadataList: async (metadata, objects) => {
      const kind = `${metadataKind.kind}List`;
      const items = await inTurns(objects, metadataOf);
      return must(encodeList({ ...metadataKind, kind }, metadata, items), kind);
    },
    plain: (object) => must(encodeProtobuf(kindOf(object), object), textOf(object.kind)),
    frame: watchFrame,
  };
}

/** How many objects are written between two turns of the event loop. */
const perTurn = 500;

async function inTurns<T, Made>(items: readonly T[], make: (item: T) => Made): Promise<Made[]> {
  const made: Made[] = [];
  const budget = new TurnBudget(perTurn);
  for (const item of items) {
    made.push(make(item));
    if (budget.spend(1)) await nextTurn();
  }
  return made;
}

function kindOf({ apiVersion, kind }: JsonObject): GroupVersionKind {
  const [version = "", group = ""] = textOf(apiVersion).split("/").reverse();
  return { group, version, kind: textOf(kind) };
}

function must<T>(value: T | undefined, kind: string): T {
  if (value === undefined) throw new Error(`${kind} has no protobuf form`);
  return value;
}
