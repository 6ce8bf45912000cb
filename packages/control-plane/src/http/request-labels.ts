import type { RequestLabels } from "../metrics/request-metrics.ts";
import { type ApiRequest, header } from "./request.ts";
import type { RequestInfo } from "./request-info.ts";

const verbs: Readonly<Record<string, string>> = {
  create: "POST",
  update: "PUT",
  get: "GET",
  list: "LIST",
  watch: "WATCH",
  patch: "PATCH",
  delete: "DELETE",
  deletecollection: "DELETE",
};

/** Subresources that are connections rather than objects. */
const connections = new Set(["exec", "attach", "portforward", "proxy", "log"]);

/** The metric labels of a request for a resource. */
export function requestLabels(
  request: ApiRequest,
  { group, version, plural, subresource = "", namespace, name }: RequestInfo,
  verb: string,
  query: URLSearchParams,
): RequestLabels {
  const isApply =
    verb === "patch" && (header(request, "content-type") ?? "").startsWith("application/apply-patch");
  return {
    group,
    version,
    resource: plural,
    subresource,
    verb: isApply ? "APPLY" : connections.has(subresource) ? "CONNECT" : (verbs[verb] ?? verb.toUpperCase()),
    // A new object has no name yet, but is one.
    scope:
      name !== undefined || verb === "create"
        ? "resource"
        : namespace === undefined
          ? "cluster"
          : "namespace",
    dryRun: query.get("dryRun") ?? "",
  };
}

/** The metric labels of any other request; undefined for unknown paths. */
export function pathLabels({ method }: ApiRequest, path: string): RequestLabels | undefined {
  const [, endpoint = ""] = /^\/(healthz|livez|readyz)(?:\/|$)/.exec(path) ?? [];
  const [, plain = ""] = /^\/(api|apis|version|openapi\/v2|openapi\/v3)\/?$/.exec(path) ?? [];
  const subresource = endpoint === "" ? plain : `/${endpoint}`;
  if (subresource === "") return undefined;
  return { group: "", version: "", resource: "", scope: "", subresource, verb: method };
}
