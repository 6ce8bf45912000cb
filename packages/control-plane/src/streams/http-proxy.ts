import { request as httpRequest, type IncomingMessage } from "node:http";
import { request as httpsRequest } from "node:https";
import type { Pod, Service } from "@windlass/kinds/builtin";
import type { ApiRequest, ApiResponse } from "../http/request.ts";
import { type Backend, backendsOf } from "../processes/service-proxy.ts";
import type { Registry } from "../registry/registry.ts";
import { badRequest, StatusError } from "../status.ts";
import type { Stored } from "../storage/typed.ts";

/** What the name in a proxy's path says: `https:web:8443`. */
export interface ProxyName {
  readonly scheme: "http" | "https";
  readonly name: string;
  /** A number or a name; empty for the only one, or the first. */
  readonly port: string;
}

/** Takes a name apart. @throws StatusError 400 */
export function proxyName(text: string): ProxyName {
  const parts = text.split(":");
  if (parts.length === 1) return { scheme: "http", name: text, port: "" };
  const [scheme = "", name = "", port = ""] = parts.length === 2 ? ["", ...parts] : parts;
  if (parts.length > 3 || name === "" || (scheme !== "" && scheme !== "http" && scheme !== "https")) {
    throw badRequest(`invalid service request ${JSON.stringify(text)}`);
  }
  return { scheme: scheme === "https" ? "https" : "http", name, port };
}

/** Where a request to a pod goes. @throws StatusError 400 */
export function podBackend(pod: Stored<Pod>, port: string): Backend {
  const ports = pod.spec.containers.flatMap((container) => container.ports ?? []);
  const named = port === "" ? ports[0] : ports.find(({ name }) => name === port);
  const number = /^\d+$/.test(port)
    ? Number(port)
    : (named?.containerPort ?? (port === "" ? 80 : Number.NaN));
  if (!Number.isInteger(number) || number < 1 || number > 65_535) {
    throw badRequest(`pod ${JSON.stringify(pod.metadata.name)} has no port ${JSON.stringify(port)}`);
  }
  return { host: pod.status?.podIP ?? "", port: number };
}

/**
 * Where a request to a Service goes.
 *
 * @throws StatusError 503 if it has no ready pod, or no such port
 */
export function serviceBackend(registry: Registry, service: Stored<Service>, wanted: string): Backend {
  const { ports = [] } = service.spec ?? {};
  const port =
    wanted === "" && ports.length === 1
      ? ports[0]
      : ports.find(({ name, port: number }) => name === wanted || String(number) === wanted);
  const { name } = service.metadata;
  if (!port)
    throw unavailable(`no service port ${JSON.stringify(wanted)} found for service ${JSON.stringify(name)}`);
  const backends = backendsOf(registry, service, port.name ?? "");
  const backend = backends[Math.floor(registry.random.next() * backends.length)];
  if (!backend) throw unavailable(`no endpoints available for service ${JSON.stringify(name)}`);
  return backend;
}

/** Hop-by-hop headers and credentials, which are not passed on. */
const kept = new Set([
  "authorization",
  "connection",
  "content-length",
  "host",
  "keep-alive",
  "proxy-authorization",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

/** Passes a request on, and its answer back. @param path with its query */
export async function passHttpOn(
  request: ApiRequest,
  { scheme }: ProxyName,
  backend: Backend,
  path: string,
): Promise<ApiResponse> {
  const headers: Record<string, string | string[]> = {};
  for (const [name, value] of Object.entries(request.headers)) {
    if (value === undefined || kept.has(name) || name.startsWith("impersonate-")) continue;
    headers[name] = typeof value === "string" ? value : [...value];
  }
  const body = request.body ?? Buffer.alloc(0);
  if (body.byteLength > 0) headers["content-length"] = String(body.byteLength);
  const { method, signal } = request;
  const send = scheme === "https" ? httpsRequest : httpRequest;
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const outgoing = send(
    { ...backend, method, path, headers, signal, agent: false, rejectUnauthorized: false },
    resolve,
  );
  outgoing.once("error", ({ message }) => reject(unavailable(`error trying to reach service: ${message}`)));
  outgoing.end(body);
  const incoming = await promise;
  return {
    status: incoming.statusCode ?? 502,
    headers: answerHeaders(incoming),
    body: (sink) => {
      incoming.on("data", (chunk: Buffer) => {
        if (sink.write(chunk) <= mostWaiting) return;
        incoming.pause();
        sink.drained(() => incoming.resume());
      });
      incoming.once("end", () => sink.end());
      incoming.once("error", () => sink.end());
      return () => outgoing.destroy();
    },
  };
}

/** A client that has this much waiting is sent no more before it has taken it. */
const mostWaiting = 1024 * 1024;

function answerHeaders(incoming: IncomingMessage): ApiResponse["headers"] {
  const pairs = Object.entries(incoming.headers).filter(
    ([name]) => name === "content-length" || !kept.has(name),
  );
  return Object.fromEntries(pairs.map(([name, value]) => [name, value ?? ""]));
}

function unavailable(message: string): StatusError {
  return new StatusError({ code: 503, reason: "ServiceUnavailable", message });
}
