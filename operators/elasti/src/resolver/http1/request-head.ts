import { pathProbeHeader } from "../request.ts";
import { contentLength, listed, readFields, SpecialNames, withoutFields } from "./fields.ts";
import { MalformedMessageError } from "./malformed.ts";
import { CR, HOST, isAll, kinds, SPACE, TARGET, TOKEN } from "./syntax.ts";

/** How long a body is: a number of bytes, until the last chunk, or until the connection ends. */
export type BodyLength = number | "chunked" | "until-close";

/** What comes before the body of a request, checked. */
export interface RequestHead {
  readonly method: string;
  /** A path with its query, or `*`. */
  readonly target: string;
  /** 0 or 1, of HTTP/1. */
  readonly minorVersion: 0 | 1;
  /** Absent only in requests of HTTP/1.0. */
  readonly host: string | undefined;
  readonly body: Exclude<BodyLength, "until-close">;
  /** Whether the client wants to send another request after this one. */
  readonly isPersistent: boolean;
  /** The protocol that the client wants to go on in, after the answer. */
  readonly upgrade: string | undefined;
  readonly expectsContinue: boolean;
  /** The value of the field that asks where the connection leads. */
  readonly pathProbe: string | undefined;
  /**
   * What proxies before have added: the values of X-Forwarded-For, X-Forwarded-Proto,
   * X-Forwarded-Host and Forwarded.
   */
  readonly forwarded: ForwardedFields;
  /**
   * The lines that are passed on as they are: all but those that concern one connection only, and
   * `forwarded`.
   */
  readonly fields: string;
}

/** What proxies before this one have added to a request. */
export interface ForwardedFields {
  for: string | undefined;
  proto: string | undefined;
  host: string | undefined;
  forwarded: string | undefined;
}

const special = new SpecialNames([
  "connection",
  "content-length",
  "content_length",
  pathProbeHeader,
  "expect",
  "forwarded",
  "host",
  "http2-settings",
  "keep-alive",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "transfer-encoding",
  "transfer_encoding",
  "upgrade",
  "x-forwarded-for",
  "x-forwarded-host",
  "x-forwarded-proto",
]);

/**
 * Fields that say how a message is read. A client that has one removed on the way would be read
 * differently after it.
 */
const essential = ["host", "content-length", "authorization", "cookie"];

/**
 * Reads the head of a request.
 *
 * @param text its lines, each with CRLF, as `HeadReader` gives them.
 * @throws MalformedMessageError
 */
export function parseRequestHead(text: string): RequestHead {
  const line = parseRequestLine(text);
  const forwarded: ForwardedFields = {
    for: undefined,
    proto: undefined,
    host: undefined,
    forwarded: undefined,
  };
  let host: string | undefined;
  let length: number | undefined;
  let coding: string | undefined;
  let connection: string | undefined;
  let upgrade: string | undefined;
  let expect: string | undefined;
  let pathProbe: string | undefined;
  const fields = readFields(text, line.end, special, (name, value) => {
    switch (name) {
      case "host":
        if (host !== undefined) throw new MalformedMessageError("host", "more than one Host");
        if (value !== "" && !isAll(HOST, value, 0, value.length))
          throw new MalformedMessageError("host", "malformed Host");
        host = value;
        return "keep";
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
      // CGI and its heirs take these for the fields with a hyphen.
      case "content_length":
      case "transfer_encoding":
        throw new MalformedMessageError("field-line", "underscore in the name of a framing field");
      case "connection":
        connection = joined(connection, value);
        return "drop";
      case "upgrade":
        upgrade = joined(upgrade, value);
        return "drop";
      case "expect":
        expect = joined(expect, value);
        return "keep";
      case pathProbeHeader:
        pathProbe = value;
        return "drop";
      case "x-forwarded-for":
        forwarded.for = joined(forwarded.for, value);
        return "drop";
      case "x-forwarded-proto":
        forwarded.proto = joined(forwarded.proto, value);
        return "drop";
      case "x-forwarded-host":
        forwarded.host = joined(forwarded.host, value);
        return "drop";
      case "forwarded":
        forwarded.forwarded = joined(forwarded.forwarded, value);
        return "drop";
      default:
        return "drop";
    }
  });
  const { minorVersion } = line;
  if (host === undefined && minorVersion === 1) throw new MalformedMessageError("host", "no Host");
  if (coding !== undefined) mustBeChunked(coding, length, minorVersion);
  const options = connection === undefined ? none : listed(connection);
  const named = options.filter((option) => !wellKnownOptions.has(option));
  if (named.some((option) => essential.includes(option)))
    throw new MalformedMessageError("connection", "Connection names a field that is for the target");
  return {
    method: line.method,
    target: targetFor(line.target, line.method, host),
    minorVersion,
    host,
    body: coding === undefined ? (length ?? 0) : "chunked",
    isPersistent: minorVersion === 1 ? !options.includes("close") : options.includes("keep-alive"),
    upgrade: options.includes("upgrade") && minorVersion === 1 ? upgradeTo(upgrade) : undefined,
    expectsContinue: expect?.toLowerCase() === "100-continue",
    pathProbe,
    forwarded,
    fields: named.length === 0 ? fields : withoutFields(fields, new Set(named)),
  };
}

const none: readonly string[] = [];
const wellKnownOptions: ReadonlySet<string> = new Set(["close", "keep-alive", "upgrade", "te"]);

interface RequestLine {
  readonly method: string;
  readonly target: string;
  readonly minorVersion: 0 | 1;
  /** Where the next line begins. */
  readonly end: number;
}

/** One blank between the parts, and nothing else: servers differ in what they make of more. */
function parseRequestLine(text: string): RequestLine {
  let at = 0;
  while (((kinds[text.charCodeAt(at)] as number) & TOKEN) !== 0) at++;
  if (at === 0 || text.charCodeAt(at) !== SPACE)
    throw new MalformedMessageError("start-line", "malformed request line");
  const method = text.slice(0, at);
  const targetStart = ++at;
  while (((kinds[text.charCodeAt(at)] as number) & TARGET) !== 0) at++;
  if (at === targetStart || text.charCodeAt(at) !== SPACE)
    throw new MalformedMessageError("target", "malformed request target");
  const target = text.slice(targetStart, at);
  const version = at + 1;
  const minorVersion = text.startsWith("HTTP/1.1", version)
    ? 1
    : text.startsWith("HTTP/1.0", version)
      ? 0
      : -1;
  const end = version + "HTTP/1.1".length;
  if (minorVersion < 0 || text.charCodeAt(end) !== CR) {
    const isOtherVersion = /^HTTP\/\d\.\d\r/.test(text.slice(version, end + 1));
    if (isOtherVersion) throw new MalformedMessageError("version", "HTTP version not supported", 505);
    throw new MalformedMessageError("start-line", "malformed request line");
  }
  return { method, target, minorVersion: minorVersion as 0 | 1, end: end + 2 };
}

/**
 * The target as it is passed on. A whole URL becomes its path, if its host is the one that Host
 * names; two hosts are one too many.
 */
function targetFor(target: string, method: string, host: string | undefined): string {
  if (method === "CONNECT") throw new MalformedMessageError("method", "CONNECT is not supported", 501);
  if (target.charCodeAt(0) === 0x2f) return target;
  if (target === "*" && method === "OPTIONS") return target;
  const [, authority, path] = /^https?:\/\/([^/?]+)(.*)$/i.exec(target) ?? [];
  if (authority === undefined || path === undefined)
    throw new MalformedMessageError("target", "malformed request target");
  if (authority.toLowerCase() !== host?.toLowerCase())
    throw new MalformedMessageError("target", "the target's host is not that of Host");
  return path.startsWith("/") ? path : `/${path}`;
}

function mustBeChunked(coding: string, length: number | undefined, minorVersion: 0 | 1): void {
  if (length !== undefined)
    throw new MalformedMessageError("transfer-encoding", "both Transfer-Encoding and Content-Length");
  if (minorVersion === 0)
    throw new MalformedMessageError("transfer-encoding", "Transfer-Encoding in a request of HTTP/1.0");
  if (coding.toLowerCase() !== "chunked")
    throw new MalformedMessageError("transfer-encoding", "Transfer-Encoding other than chunked", 501);
}

/** h2c is offered by asking first; clients that only try it are served as they asked to be. */
function upgradeTo(offered: string | undefined): string | undefined {
  if (offered === undefined || listed(offered).includes("h2c")) return undefined;
  return offered;
}

function joined(earlier: string | undefined, value: string): string {
  return earlier === undefined ? value : `${earlier}, ${value}`;
}
