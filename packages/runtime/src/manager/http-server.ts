import type { IncomingMessage, ServerResponse } from "node:http";
import type { Logger } from "../logging/logger.ts";
import { PortError } from "./errors.ts";
import { type ListenAddress, listening } from "./listening.ts";

/** What to answer to one GET. */
export interface HttpResponse {
  readonly status: number;
  readonly contentType?: string;
  readonly body: string;
}

/** Answers by path. A path also stands for all below it: `/readyz` answers `/readyz/cache`. */
export type Routes = ReadonlyMap<string, (url: URL) => HttpResponse | Promise<HttpResponse>>;

/** A server that listens. */
export interface HttpServer {
  /** The port it listens on. */
  readonly port: number;
  close(): Promise<void>;
}

/**
 * Serves small plain answers: probes and metrics. Loads `node:http` only when asked to.
 *
 * @throws PortError naming the port and the option to change, when the port is taken.
 */
export async function serve(
  what: string,
  address: ListenAddress,
  routes: Routes,
  log: Logger,
): Promise<HttpServer> {
  const { createServer } = await import("node:http");
  const server = createServer((request, response) => void answer(routes, request, response));
  const port = await listening(server, address, {
    explain: (error) => refusal(what, address.port, error),
    onError: ({ message }) =>
      log.error({ error: message }, `the ${what} server could not accept a connection; it goes on`),
  });
  return {
    port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

const listenFaults = new Map([
  ["EADDRINUSE", "is in use"],
  ["EACCES", "may not be listened on by this user"],
  ["EADDRNOTAVAIL", "is on an address that this machine does not have"],
]);

function refusal(what: string, port: number, error: NodeJS.ErrnoException): PortError {
  const fault =
    listenFaults.get(error.code ?? "") ?? `cannot be listened on (${error.code ?? error.message})`;
  const way = `set another with ${what}: { port }, or none with ${what}: false`;
  return new PortError(`port ${port} for ${what} ${fault}; ${way}`, { cause: error });
}

async function answer(routes: Routes, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const given = await find(routes, request);
  response.writeHead(given.status, {
    "content-type": given.contentType ?? "text/plain; charset=utf-8",
    "x-content-type-options": "nosniff",
  });
  response.end(request.method === "HEAD" ? undefined : given.body);
}

async function find(routes: Routes, request: IncomingMessage): Promise<HttpResponse> {
  if (request.method !== "GET" && request.method !== "HEAD") return { status: 405, body: "only GET\n" };
  const url = URL.parse(request.url ?? "/", "http://localhost");
  const root = url && `/${url.pathname.split("/")[1] ?? ""}`;
  const route = root ? routes.get(root) : undefined;
  if (!url || !route) return { status: 404, body: `not found; there is ${[...routes.keys()].join(", ")}\n` };
  try {
    return await route(url);
  } catch (error) {
    return { status: 500, body: `${error instanceof Error ? error.message : String(error)}\n` };
  }
}
