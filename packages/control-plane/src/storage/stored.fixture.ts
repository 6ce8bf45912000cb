import { type Json, type JsonObject, textOf } from "../json.ts";
import { normalize } from "../kinds/index.ts";
import type { StoredObject } from "./store.ts";
import { type Stored, typed } from "./typed.ts";

/**
 * An object as it is read back from storage: what its Go type always writes is there, and empty
 * lists are null. With a name and a uid if it has none.
 */
export function storedObject<T extends { readonly metadata: object }>(object: JsonObject): Stored<T> {
  const [version = "", group = ""] = textOf(object.apiVersion).split("/").toReversed();
  const metadata: Json = {
    name: "a",
    namespace: "default",
    uid: "u",
    resourceVersion: "1",
    ...(object.metadata as JsonObject | undefined),
  };
  const kind = { group, version, kind: textOf(object.kind) };
  return typed(normalize(kind, { ...object, metadata }) as StoredObject);
}
