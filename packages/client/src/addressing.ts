import { type AnyKind, apiVersionOf, type ObjectKey } from "@windlass/kinds";
import { isRecord } from "@windlass/kinds/json";

/** The name and namespace that an object says it has. */
export function partialKeyOf(object: unknown): Partial<ObjectKey> {
  const metadata = isRecord(object) ? object.metadata : undefined;
  if (!isRecord(metadata)) return {};
  const { name, namespace } = metadata;
  return {
    ...(typeof name === "string" ? { name } : {}),
    ...(typeof namespace === "string" ? { namespace } : {}),
  };
}

/** @throws TypeError without a name. */
export function named(kind: AnyKind, key: Partial<ObjectKey>): ObjectKey {
  if (!key.name) throw new TypeError(`${kind.kind}: metadata.name is missing`);
  return { ...key, name: key.name };
}

/** The namespace to address. @throws TypeError if the kind needs one and there is none. */
export function placed(kind: AnyKind, key: Partial<ObjectKey>): string | undefined {
  if (kind.scope === "Namespaced" && !key.namespace)
    throw new TypeError(
      `${kind.kind}${key.name ? ` ${JSON.stringify(key.name)}` : ""}: metadata.namespace is missing, and the kind is namespaced`,
    );
  return key.namespace;
}

/** An object that says what it is, as server-side apply and create want it. */
export function withKind(kind: AnyKind, object: unknown): unknown {
  if (!isRecord(object) || (object.apiVersion !== undefined && object.kind !== undefined)) return object;
  return { ...object, apiVersion: object.apiVersion ?? apiVersionOf(kind), kind: object.kind ?? kind.kind };
}
