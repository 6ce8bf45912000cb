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
 * Takes a path apart.
 *
 * @returns undefined for paths that address no resource: `/version`, `/apis`, `/apis/apps/v1` …
 * @throws URIError for a path that is not properly escaped.
 */
export function parsePath(pathname: string): RequestInfo | undefined {
  const parts = decodeURIComponent(pathname)
    .split("/")
    .filter((part) => part !== "");
  const [root] = parts;
  const head = root === "api" ? 2 : root === "apis" ? 3 : undefined;
  if (head === undefined || parts.length <= head) return undefined;
  const group = root === "api" ? "" : (parts[1] as string);
  const version = parts[head - 1] as string;
  let at = head;
  const watchPath = parts[at] === "watch" && parts.length > at + 1;
  if (watchPath) at++;
  let namespace: string | undefined;
  // `/namespaces/x` and its own subresources are about the namespace; anything longer is about what is in it.
  if (
    parts[at] === "namespaces" &&
    parts.length > at + 2 &&
    !namespaceSubresources.has(parts[at + 2] as string)
  ) {
    namespace = parts[at + 1] as string;
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

const namespaceSubresources = new Set(["status", "finalize"]);

export type Verb = "get" | "list" | "watch" | "create" | "update" | "patch" | "delete" | "deletecollection";

/** What a request does, in the words of roles and discovery; undefined for a method that does nothing. */
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
