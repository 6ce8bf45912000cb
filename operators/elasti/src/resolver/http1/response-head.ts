import { contentLength, listed, readFields, SpecialNames, withoutFields } from "./fields.ts";
import { MalformedMessageError } from "./malformed.ts";
import type { BodyLength } from "./request-head.ts";

/** What comes before the body of a response, checked. */
export interface ResponseHead {
  readonly status: number;
  readonly reason: string;
  readonly body: BodyLength;
  /** Whether the connection can have another request after this one. */
  readonly isPersistent: boolean;
  /** How long the server keeps the connection when it is idle; undefined if it does not say. */
  readonly keepAliveMs: number | undefined;
  /** What the connection goes on in, with status 101. */
  readonly upgrade: string | undefined;
  /** The lines that are passed on as they are: all but those that concern one connection only. */
  readonly fields: string;
}

const special = new SpecialNames([
  "connection",
  "content-length",
  "keep-alive",
  "proxy-connection",
  "te",
  "transfer-encoding",
  "upgrade",
]);

const wellKnownOptions: ReadonlySet<string> = new Set(["close", "keep-alive", "upgrade"]);

/**
 * Reads the head of a response.
 *
 * @param text its lines, each with CRLF, as `HeadReader` gives them.
 * @param method of the request that it answers.
 * @throws MalformedMessageError
 */
export function parseResponseHead(text: string, method: string): ResponseHead {
  const lineEnd = text.indexOf("\r\n");
  const [, minor, code, reason = ""] =
    /^HTTP\/1\.([01]) ([1-9]\d\d)(?: ([\t\x20-\x7e\x80-\xff]*))?$/.exec(text.slice(0, lineEnd)) ?? [];
  if (code === undefined) throw new MalformedMessageError("start-line", "malformed status line");
  const status = Number(code);
  let length: number | undefined;
  let coding: string | undefined;
  let connection: string | undefined;
  let upgrade: string | undefined;
  let keepAliveMs: number | undefined;
  const fields = readFields(text, lineEnd + 2, special, (name, value) => {
    switch (name) {
      case "content-length":
        if (length !== undefined)
          throw new MalformedMessageError("content-length", "more than one Content-Length");
        length = contentLength(value);
        return "keep";
      case "transfer-encoding":
        if (coding !== undefined)
          throw new MalformedMessageError("transfer-encoding", "more than one Transfer-Encoding");
        coding = value;
        return "drop";
      case "connection":
        connection = connection === undefined ? value : `${connection}, ${value}`;
        return "drop";
      case "upgrade":
        upgrade = value;
        return "drop";
      case "keep-alive":
        keepAliveMs = timeoutIn(value);
        return "drop";
      default:
        return "drop";
    }
  });
  if (coding !== undefined) {
    if (length !== undefined)
      throw new MalformedMessageError("transfer-encoding", "both Transfer-Encoding and Content-Length");
    if (coding.toLowerCase() !== "chunked" || minor === "0")
      throw new MalformedMessageError("transfer-encoding", "Transfer-Encoding other than chunked");
  }
  const options = connection === undefined ? [] : listed(connection);
  const named = options.filter((option) => !wellKnownOptions.has(option));
  const body = hasNoBody(status, method) ? 0 : coding === undefined ? (length ?? "until-close") : "chunked";
  const staysOpen = minor === "1" ? !options.includes("close") : options.includes("keep-alive");
  return {
    status,
    reason,
    body,
    isPersistent: staysOpen && body !== "until-close",
    keepAliveMs,
    upgrade: status === 101 ? upgrade : undefined,
    fields: named.length === 0 ? fields : withoutFields(fields, new Set(named)),
  };
}

/** Whatever the fields say. */
function hasNoBody(status: number, method: string): boolean {
  return method === "HEAD" || status < 200 || status === 204 || status === 304;
}

/** The timeout in a value such as `timeout=5, max=100`. */
function timeoutIn(value: string): number | undefined {
  const [, seconds] = /(?:^|[\s,;])timeout\s*=\s*"?(\d{1,9})/i.exec(value) ?? [];
  return seconds === undefined ? undefined : Number(seconds) * 1_000;
}
