import { formatCheck } from "../../schema/formats.ts";
import { fn, method, type Overload, SCAN } from "../functions.ts";
import { BOOL, listOf, mapOf, opaque, STRING } from "../types.ts";
import { CelError, CelMap, Opaque } from "../values.ts";

const TYPE = opaque("kubernetes.URL");
const isUri = formatCheck("uri") as (text: string) => boolean;

/** A URL taken apart, not normalised. */
class Url extends Opaque {
  readonly typeName = "kubernetes.URL";
  readonly text: string;
  readonly scheme: string;
  readonly host: string;
  readonly path: string;
  readonly query: string;

  constructor(text: string) {
    super();
    this.text = text;
    const match = /^(?:([A-Za-z][A-Za-z0-9+.-]*):)?(?:\/\/([^/?]*))?([^?]*)(?:\?(.*))?$/s.exec(text);
    this.scheme = (match?.[1] ?? "").toLowerCase();
    const authority = match?.[2] ?? "";
    this.host = authority.slice(authority.lastIndexOf("@") + 1);
    this.path = match?.[3] ?? "";
    this.query = match?.[4] ?? "";
  }

  get hostname(): string {
    return this.host.replace(/:\d*$/, "").replace(/^\[(.*)\]$/, "$1");
  }

  get port(): string {
    return /:(\d*)$/.exec(this.host.replace(/^\[.*\]/, ""))?.[1] ?? "";
  }

  equals(other: Opaque): boolean {
    return other instanceof Url && other.text === this.text;
  }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    return text;
  }
}

function queryOf(url: Url): CelMap {
  const map = new CelMap();
  for (const part of url.query.split("&")) {
    if (part === "") continue;
    const at = part.indexOf("=");
    const key = decoded(at < 0 ? part : part.slice(0, at));
    const values = (map.get(key) ?? []) as string[];
    map.set(key, [...values, at < 0 ? "" : decoded(part.slice(at + 1))]);
  }
  return map;
}

export const URLS: readonly Overload[] = [
  fn("isURL", [STRING], BOOL, (text: string) => isUri(text), SCAN),
  fn(
    "url",
    [STRING],
    TYPE,
    (text: string) => {
      if (!isUri(text)) {
        throw new CelError(
          `URL parse error during conversion from string: parse "${text}": invalid URI for request`,
        );
      }
      return new Url(text);
    },
    SCAN,
  ),
  method("getScheme", [TYPE], STRING, (url: Url) => url.scheme),
  method("getHost", [TYPE], STRING, (url: Url) => url.host),
  method("getHostname", [TYPE], STRING, (url: Url) => url.hostname),
  method("getPort", [TYPE], STRING, (url: Url) => url.port),
  method("getEscapedPath", [TYPE], STRING, (url: Url) => url.path),
  method("getQuery", [TYPE], mapOf(STRING, listOf(STRING)), queryOf),
];
