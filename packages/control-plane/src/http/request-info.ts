/** What a path under `/api` or `/apis` addresses. */
export interface RequestInfo {
  readonly group: string;
  readonly version: string;
  readonly namespace: string | undefined;
  readonly plural: string;
  readonly name: string | undefined;
  readonly subresource: string | undefined;
  /** What follows the subresource: the path that `proxy` passes on. */
  readonly rest: string | undefined;
  /** The deprecated `/api/v1/watch/…` form. */
  readonly watchPath: boolean;
}

/**
 * Parses a path. Trailing slashes are ignored; two in a row have an empty name between them.
 *
 * @returns undefined for paths that address no resource: `/version`, `/apis`, `/apis/apps/v1` …
 * @throws URIError for a path that is not properly escaped.
 */
export function parsePath(pathname: string): RequestInfo | undefined {
  const parts = withoutTrailingSlashes(unescaped(pathname)).split("/").slice(1);
  const [root] = parts;
  const head = root === "api" ? 2 : root === "apis" ? 3 : undefined;
  if (head === undefined || parts.length <= head || (root === "apis" && parts[1] === "")) return undefined;
  const group = root === "api" ? "" : (parts[1] as string);
  const version = parts[head - 1] as string;
  let at = head;
  const watchPath = parts[at] === "watch" && parts.length > at + 1;
  if (watchPath) at++;
  let namespace: string | undefined;
  // `/namespaces/x` and its own subresources are about the namespace; anything longer is about what
  // is in it.
  if (
    parts[at] === "namespaces" &&
    parts.length > at + 2 &&
    !namespaceSubresources.has(parts[at + 2] as string)
  ) {
    // An empty one stands for all.
    namespace = (parts[at + 1] as string) || undefined;
    at += 2;
  }
  const [plural, name, subresource, ...rest] = parts.slice(at);
  return {
    group,
    version,
    namespace,
    plural: plural as string,
    name,
    subresource,
    rest: rest.length > 0 ? rest.join("/") : undefined,
    watchPath,
  };
}

function withoutTrailingSlashes(path: string): string {
  let end = path.length;
  while (end > 0 && path[end - 1] === "/") end--;
  return path.slice(0, end);
}

/**
 * The path without its escapes. Malformed UTF-8 is replaced.
 *
 * @throws URIError for a malformed escape
 */
function unescaped(path: string): string {
  if (!path.includes("%")) return path;
  if (malformedEscape.test(path)) throw new URIError("URI malformed");
  try {
    return decodeURIComponent(path);
  } catch (error) {
    if (!(error instanceof URIError)) throw error;
    return unescapedBytes(Buffer.from(path)).toString("utf8");
  }
}

function unescapedBytes(path: Buffer): Buffer {
  let length = 0;
  for (let at = 0; at < path.length; at++) {
    const isEscape = path[at] === 0x25;
    path[length++] = isEscape
      ? Number.parseInt(path.toString("latin1", at + 1, at + 3), 16)
      : (path[at] as number);
    if (isEscape) at += 2;
  }
  return path.subarray(0, length);
}

/** A `%` without the two digits that make it an escape. */
export const malformedEscape = /%(?![\da-f]{2})/i;

const namespaceSubresources = new Set(["status", "finalize"]);

/** The verb of a request, as RBAC names it. */
export type Verb = "get" | "list" | "watch" | "create" | "update" | "patch" | "delete" | "deletecollection";

/** The API verb of a request; undefined for other methods. */
export function verbOf(method: string, info: RequestInfo, watching: boolean): Verb | undefined {
  switch (method) {
    case "GET":
    case "HEAD":
      return watching ? "watch" : info.name === undefined ? "list" : "get";
    case "POST":
      return "create";
    case "PUT":
      return "update";
    case "PATCH":
      return "patch";
    case "DELETE":
      return info.name === undefined ? "deletecollection" : "delete";
    default:
      return undefined;
  }
}
