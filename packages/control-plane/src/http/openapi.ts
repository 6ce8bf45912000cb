import type { KindTable } from "../kinds/index.ts";
import type { ApiRequest, ApiResponse } from "./request.ts";

/** The documents under `/openapi`. Their code is loaded by the first one asked for. */
export function openapi(
  _kinds: KindTable,
): (path: string, request: ApiRequest) => Promise<ApiResponse | undefined> {
  return async () => undefined;
}
