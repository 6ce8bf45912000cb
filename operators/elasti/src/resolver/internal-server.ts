import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type ServiceKey, type ServiceTraffic, serviceKey } from "./targets.ts";

/** What the operator asks a resolver for. */
export interface TrafficSource {
  trafficOf(key: ServiceKey): ServiceTraffic | undefined;
  traffic(): readonly ServiceTraffic[];
  /** Which step of a service the resolver acts by. */
  stepOf(key: ServiceKey): number | undefined;
}

/** A server for the operator, not for clients. */
export interface InternalServer {
  readonly port: number;
  stop(): Promise<void>;
}

/**
 * Serves what a resolver did for its services, for the operator to ask:
 *
 * - `GET /traffic/NAMESPACE/SERVICE`: that of one, with the step that the resolver acts by, and
 *   with what distinguishes this process from the one before it; 404 if it does not front the
 *   service.
 * - `GET /traffic`: that of all.
 * - `GET /alive`: an answer that ends when the resolver does, by which the operator learns that it
 *   has.
 * - `GET /queue-status?namespace=…&service=…`: `{"queueStatus":1}` if requests wait, else 0, as the
 *   original has it.
 */
export async function startInternalServer(
  source: TrafficSource,
  { port, host }: { readonly port: number; readonly host: string | undefined },
): Promise<InternalServer> {
  const instance = randomUUID();
  const server = createServer((request, response) => {
    // Not as a URL: what clients send need not be one.
    const [pathname = "", query] = (request.url ?? "").split("?", 2);
    const searchParams = new URLSearchParams(query);
    if (request.method !== "GET") {
      answer(response, 405, { error: "only GET is served" });
      return;
    }
    const [, first, namespace, service, ...rest] = pathname.split("/").map(decoded);
    if (pathname === "/alive") response.writeHead(200, { "content-type": "text/plain" }).write("alive\n");
    else if (pathname === "/traffic") answer(response, 200, source.traffic());
    else if (first === "traffic" && namespace && service && rest.length === 0) {
      const key = serviceKey(namespace, service);
      const traffic = source.trafficOf(key);
      const step = source.stepOf(key);
      if (traffic && step !== undefined) answer(response, 200, { ...traffic, step, instance });
      else answer(response, 404, { error: `${key} is not fronted by this resolver` });
    } else if (pathname === "/queue-status") {
      const key = serviceKey(searchParams.get("namespace") ?? "", searchParams.get("service") ?? "");
      answer(response, 200, { queueStatus: (source.trafficOf(key)?.held ?? 0) > 0 ? 1 : 0 });
    } else answer(response, 404, { error: "not found" });
  });
  server.listen(port, host);
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    stop: async () => {
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

/** What is not encoded well names nothing. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return "";
  }
}

function answer(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { "content-type": "application/json" }).end(`${JSON.stringify(body)}\n`);
}
