import type { AnyKind, ObjectKey } from "@windlass/kinds";

/** The values of a query; those that are undefined are left out. */
export type Query = Readonly<Record<string, string | number | boolean | undefined>>;

/** `/api/v1` for the core group, `/apis/GROUP/VERSION` for the others. */
function groupVersionPath(kind: Pick<AnyKind, "group" | "version">): string {
  return kind.group === ""
    ? `/api/${segment(kind.version, "version")}`
    : `/apis/${segment(kind.group, "group")}/${segment(kind.version, "version")}`;
}

/** The path of a kind's objects: all of them, or those of one namespace. */
export function collectionPath(kind: AnyKind, namespace?: string): string {
  const root = groupVersionPath(kind);
  const plural = segment(kind.plural, `${kind.kind}'s plural`);
  if (namespace === undefined || namespace === "" || kind.scope === "Cluster") return `${root}/${plural}`;
  return `${root}/namespaces/${segment(namespace, "namespace")}/${plural}`;
}

/**
 * The path of one object, or of a subresource of it.
 *
 * @throws TypeError if the name, or a namespace that the kind needs, is missing or cannot be part
 *   of a path.
 */
export function objectPath(kind: AnyKind, key: ObjectKey, subresource?: string): string {
  if (kind.scope === "Namespaced" && !key.namespace)
    throw new TypeError(`${kind.kind} ${JSON.stringify(key.name)} needs a namespace: the kind is namespaced`);
  const path = `${collectionPath(kind, key.namespace)}/${segment(key.name, `${kind.kind}'s name`)}`;
  if (subresource === undefined) return path;
  return `${path}/${subresource
    .split("/")
    .map((part) => segment(part, "subresource"))
    .join("/")}`;
}

/** `?a=b&c=d`, or nothing. */
export function queryString(query: Query): string {
  let text = "";
  for (const name of Object.keys(query)) {
    const value = query[name];
    if (value !== undefined) text += `${text === "" ? "?" : "&"}${name}=${encodeURIComponent(String(value))}`;
  }
  return text;
}

/**
 * What the API server itself refuses in a path is refused here, before it can address something
 * else.
 */
function segment(value: unknown, what: string): string {
  if (typeof value !== "string" || value === "") throw new TypeError(`${what} is missing`);
  if (value === "." || value === ".." || value.includes("/") || value.includes("%"))
    throw new TypeError(`${what} ${JSON.stringify(value)} may not be "." or "..", nor contain "/" or "%"`);
  return encodeURIComponent(value);
}
