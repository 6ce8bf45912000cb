import type { KindTable } from "../kinds/index.ts";
import type { OpenApiDocument, OpenApiDocuments } from "../openapi/index.ts";
import { parseAccept } from "./negotiate.ts";
import { type ApiRequest, type ApiResponse, addressOf, header } from "./request.ts";
import { jsonText } from "./respond.ts";

const yearSeconds = 365 * 24 * 3_600;

/** The documents under `/openapi`. Their code is loaded by the first one asked for. */
export function openapi(
  kinds: KindTable,
): (path: string, request: ApiRequest) => Promise<ApiResponse | undefined> {
  let loading: Promise<OpenApiDocuments> | undefined;
  const load = async () => new (await import("../openapi/index.ts")).OpenApiDocuments(kinds);
  return async (path, request) => {
    loading ??= load();
    const documents = await loading;
    if (path === "/openapi/v3") return jsonText(200, documents.index());
    if (path === "/openapi/v2") return answer(await documents.swagger(), "v2", request, {});
    const document = path.startsWith("/openapi/v3/")
      ? await documents.document(path.slice("/openapi/v3/".length))
      : undefined;
    if (!document && path.startsWith("/openapi/v3/")) {
      return { status: 404, headers: { "cache-control": "no-cache, private" }, body: "" };
    }
    if (!document) return undefined;
    const hash = addressOf(request).searchParams.get("hash");
    if (hash === null || hash === "") return answer(document, "v3", request, {});
    if (document.etag === `"${hash}"`) {
      // The address names the content, so that clients need not ask again.
      return answer(document, "v3", request, {
        "cache-control": `public, immutable, max-age=${yearSeconds}`,
      });
    }
    return {
      status: 301,
      headers: { "cache-control": "no-cache, private", etag: document.etag, location: document.url },
      body: "",
    };
  };
}

async function answer(
  document: OpenApiDocument,
  version: "v2" | "v3",
  request: ApiRequest,
  extra: Record<string, string>,
): Promise<ApiResponse> {
  const headers = {
    "cache-control": "no-cache, private",
    etag: document.etag,
    vary: version === "v2" ? "Accept-Encoding, Accept" : "Accept",
    ...extra,
  };
  const encoding = chosen(header(request, "accept"), version);
  if (encoding === undefined)
    return { status: 406, headers: { "cache-control": "no-cache, private" }, body: "" };
  if (header(request, "if-none-match") === document.etag) return { status: 304, headers, body: "" };
  if (encoding === "json") return jsonText(200, document.body, headers);
  const type = `application/com.github.proto-openapi.spec.${version}.v1.0+protobuf`;
  return { status: 200, headers: { ...headers, "content-type": type }, body: await document.protobuf() };
}

function chosen(accept: string | undefined, version: "v2" | "v3"): "json" | "protobuf" | undefined {
  const spec = `application/com.github.proto-openapi.spec.${version}`;
  for (const { type } of parseAccept(accept)) {
    if (type === `${spec}@v1.0+protobuf` || type === `${spec}.v1.0+protobuf`) return "protobuf";
    if (type === "application/json" || type === "application/*" || type === "*/*") return "json";
  }
  return undefined;
}
