import { type ApiRequest, type ApiResponse, addressOf, header } from "../http/request.ts";
import { failure } from "../http/respond.ts";
import { type JsonObject, parse, stringify, textOf } from "../json.ts";
import { notFound } from "../status.ts";
import type { FaultedRequest } from "./fault.ts";

/**
 * Answers a get or a list as it would have been answered at a revision of the past.
 *
 * @param handle answers requests truthfully
 */
export async function answerFromPast(
  request: ApiRequest,
  { verb, info }: FaultedRequest,
  revision: number,
  handle: (request: ApiRequest) => Promise<ApiResponse>,
): Promise<ApiResponse> {
  const { pathname, searchParams } = addressOf(request);
  searchParams.set("resourceVersion", String(revision));
  if (verb === "list") {
    if (searchParams.has("continue")) searchParams.delete("resourceVersion");
    else searchParams.set("resourceVersionMatch", "Exact");
    return await handle({ ...request, url: `${pathname}?${searchParams.toString()}` });
  }
  const { name = "", subresource } = info;
  const depth = subresource === undefined ? 1 : 2;
  const collection = pathname
    .split("/")
    .filter((part) => part !== "")
    .slice(0, -depth)
    .join("/");
  searchParams.set("resourceVersionMatch", "Exact");
  searchParams.set("fieldSelector", `metadata.name=${name}`);
  const response = await handle({ ...readable(request), url: `/${collection}?${searchParams.toString()}` });
  if (response.status !== 200 || typeof response.body !== "string") return response;
  const list = parse(response.body) as JsonObject & { items?: JsonObject[] };
  if (list.kind === "Table") return response;
  const [item] = list.items ?? [];
  if (!item) return failure(notFound({ group: info.group, resource: info.plural }, name));
  const kind = textOf(list.kind).replace(/List$/, "");
  return {
    ...response,
    body: stringify({
      kind,
      ...(list.apiVersion === undefined ? {} : { apiVersion: list.apiVersion }),
      ...item,
    }),
  };
}

/**
 * The request without a wish for protobuf, which every client does without: the answer is still to
 * be taken apart.
 */
function readable(request: ApiRequest): ApiRequest {
  const accept = (header(request, "accept") ?? "")
    .split(",")
    .filter((clause) => !clause.includes("protobuf"))
    .join(",");
  return { ...request, headers: { ...request.headers, accept: accept || "application/json" } };
}
