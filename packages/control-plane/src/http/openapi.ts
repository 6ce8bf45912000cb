import type { KindTable } from "../kinds/index.ts";
import { type ApiRequest, type ApiResponse, header } from "./request.ts";
import { jsonText } from "./respond.ts";

/** The documents under `/openapi`. Their code is loaded by the first one asked for. Version 2 is not served: kubectl does without. */
export function openapi(
  kinds: KindTable,
): (path: string, request: ApiRequest) => Promise<ApiResponse | undefined> {
  return async (path, request) => {
    const { openApiDocument, openApiIndex } = await import("../openapi/index.ts");
    if (path === "/openapi/v3") return jsonText(200, openApiIndex(kinds));
    const document = path.startsWith("/openapi/v3/")
      ? openApiDocument(kinds, path.slice("/openapi/v3/".length))
      : undefined;
    if (!document) return undefined;
    const headers = { etag: document.etag, vary: "Accept-Encoding, Accept" };
    if (header(request, "if-none-match") === document.etag) return { status: 304, headers, body: "" };
    return jsonText(200, document.body, headers);
  };
}
