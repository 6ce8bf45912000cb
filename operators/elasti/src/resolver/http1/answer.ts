import { answerFor, type Failure } from "../failure.ts";
import type { MalformedMessageError } from "./malformed.ts";

/** A response of the resolver's own. */
export interface OwnResponse {
  readonly status: number;
  readonly body: string;
  /** @default "text/plain; charset=utf-8" */
  readonly contentType?: string;
  /** Further fields. @default none */
  readonly fields?: Readonly<Record<string, string>>;
  /** @default none */
  readonly retryAfterSeconds?: number | undefined;
}

const reasons: Readonly<Record<number, string>> = {
  200: "OK",
  204: "No Content",
  400: "Bad Request",
  401: "Unauthorized",
  403: "Forbidden",
  404: "Not Found",
  408: "Request Timeout",
  414: "URI Too Long",
  431: "Request Header Fields Too Large",
  500: "Internal Server Error",
  501: "Not Implemented",
  502: "Bad Gateway",
  503: "Service Unavailable",
  504: "Gateway Timeout",
  505: "HTTP Version Not Supported",
};

/** The text of a response of the resolver's own. */
export function ownResponse(
  { status, body, contentType = "text/plain; charset=utf-8", fields = {}, retryAfterSeconds }: OwnResponse,
  {
    method,
    connection,
  }: { readonly method: string; readonly connection: "close" | "keep-alive" | undefined },
): string {
  const content = Buffer.from(body).toString("latin1");
  const hasBody = status !== 204;
  let text = `HTTP/1.1 ${status} ${reasons[status] ?? ""}\r\nCache-Control: no-store\r\n`;
  if (hasBody) text += `Content-Type: ${contentType}\r\nContent-Length: ${content.length}\r\n`;
  for (const [name, value] of Object.entries(fields)) text += `${name}: ${value}\r\n`;
  if (retryAfterSeconds !== undefined) text += `Retry-After: ${retryAfterSeconds}\r\n`;
  if (connection !== undefined) text += `Connection: ${connection}\r\n`;
  return hasBody && method !== "HEAD" ? `${text}\r\n${content}` : `${text}\r\n`;
}

/** How a failure is reported over HTTP/1. */
export function failureResponse(failure: Failure): OwnResponse {
  const { status, message, retryAfterSeconds } = answerFor(failure);
  return { status, body: `${message}\n`, retryAfterSeconds };
}

/** How a malformed request is answered. */
export function malformedResponse({ status, message }: MalformedMessageError): OwnResponse {
  return { status, body: `${message}\n` };
}
