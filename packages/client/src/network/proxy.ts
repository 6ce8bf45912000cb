import { BlockList, isIP } from "node:net";
import { TransportError } from "../errors.ts";

/** Without the brackets of an IPv6 address. */
export function hostOf(url: URL): string {
  return url.hostname.startsWith("[") ? url.hostname.slice(1, -1) : url.hostname;
}

/** The port of a URL, or that of its scheme. */
export function portOf(url: URL): number {
  if (url.port !== "") return Number(url.port);
  return url.protocol === "https:" ? 443 : 80;
}

/** The header that a proxy with a user name in its URL wants. */
export function proxyAuthorization(proxy: URL): Record<string, string> {
  if (proxy.username === "") return {};
  const pair = `${decodeURIComponent(proxy.username)}:${decodeURIComponent(proxy.password)}`;
  return { "proxy-authorization": `Basic ${Buffer.from(pair).toString("base64")}` };
}

/** The variables that name proxies, as curl and Go programs read them. */
export type ProxyEnvironment = Readonly<Record<string, string | undefined>>;

/**
 * The proxy that the environment sets for a server, by the rules that kubectl follows: HTTPS_PROXY
 * or HTTP_PROXY by the server's scheme, either case; none for localhost and loopback addresses, nor
 * for what NO_PROXY names (host, `.domain`, address or CIDR, each with an optional port, or `*`).
 *
 * @throws TransportError with code PROXY_FAILED if the URL does not parse or its scheme is not http
 *   or https.
 */
export function proxyFromEnvironment(server: URL, env: ProxyEnvironment): URL | undefined {
  const name = server.protocol === "https:" ? "HTTPS_PROXY" : "HTTP_PROXY";
  const value = env[name] || env[name.toLowerCase()];
  if (!value || isLocal(hostOf(server)) || isExempt(server, env.NO_PROXY || env.no_proxy || ""))
    return undefined;
  return parseProxy(value, name);
}

/** @param source what to name in the message, e.g. `HTTPS_PROXY`. */
export function parseProxy(value: string, source: string): URL {
  const text = value.includes("://") ? value : `http://${value}`;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url && (url.protocol === "http:" || url.protocol === "https:") && url.hostname !== "") return url;
  // The value may hold a password, so only its scheme is named.
  const fault = url ? `proxies of scheme ${url.protocol.slice(0, -1)} are not supported` : "it is not a URL";
  throw new TransportError(
    "PROXY_FAILED",
    `${source}: ${fault}; give one such as http://proxy.example.com:3128`,
    {
      mayHaveBeenSent: false,
    },
  );
}

function isLocal(host: string): boolean {
  return host === "localhost" || host === "::1" || (isIP(host) === 4 && host.startsWith("127."));
}

function isExempt(server: URL, noProxy: string): boolean {
  const host = hostOf(server).toLowerCase();
  const port = String(portOf(server));
  return noProxy
    .split(",")
    .map((entry) => entry.trim().toLowerCase())
    .some((entry) => entry !== "" && exempts(entry, host, port));
}

function exempts(entry: string, host: string, port: string): boolean {
  if (entry === "*") return true;
  if (entry.includes("/")) return isInRange(entry, host);
  if (isIP(entry) !== 0) return entry === host;
  const [, name = entry, onlyPort] = /^(.+?)(?::(\d+))?$/.exec(entry) ?? [];
  if (onlyPort !== undefined && onlyPort !== port) return false;
  const bare = name.replace(/^\[(.*)\]$/, "$1");
  if (isIP(bare) !== 0) return bare === host;
  const domain = bare.replace(/^\*/, "");
  if (domain.startsWith(".")) return host.endsWith(domain);
  return host === domain || host.endsWith(`.${domain}`);
}

function isInRange(range: string, host: string): boolean {
  const [network = "", bits = ""] = range.split("/");
  const family = isIP(network);
  if (family === 0 || isIP(host) !== family || !/^\d{1,3}$/.test(bits)) return false;
  if (Number(bits) > (family === 4 ? 32 : 128)) return false;
  const list = new BlockList();
  const name = family === 4 ? "ipv4" : "ipv6";
  list.addSubnet(network, Number(bits), name);
  return list.check(host, name);
}
