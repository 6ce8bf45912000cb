import type { OwnResponse } from "./http1/answer.ts";
import type { RequestView } from "./request.ts";
import type { WaitingPage } from "./targets.ts";

/** How soon a page asks again. */
const RELOAD_SECONDS = 2;

/**
 * Whether a request is a browser's that wants to show a page. Scripts, API clients and uploads wait
 * instead.
 */
export function wantsPage(request: RequestView): boolean {
  return request.method === "GET" && request.header("accept")?.includes("text/html") === true;
}

/**
 * What a browser shows while its service starts. It is no success, so that nothing caches or
 * indexes it.
 */
export function waitingPage({ html }: WaitingPage, service: string): OwnResponse {
  return {
    status: 503,
    contentType: "text/html; charset=utf-8",
    retryAfterSeconds: RELOAD_SECONDS,
    body: html ?? defaultPage(service),
  };
}

/** The name of a Service is a DNS label, and needs no escaping. */
function defaultPage(service: string): string {
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta http-equiv="refresh" content="${RELOAD_SECONDS}">
<title>${service} is starting</title>
<style>body { font: 1.1rem system-ui, sans-serif; display: grid; place-items: center; min-height: 90vh }</style>
<p>${service} is starting. This page reloads itself.</p>
</html>
`;
}
