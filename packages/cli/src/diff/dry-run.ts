import type { Interceptor, Transport, TransportRequest, TransportResponse } from "@windlass/client";

/** What a write would do. */
export interface PlannedWrite {
  /** The path of the object, or of the part of it that is written. */
  readonly path: string;
  readonly does: "create" | "update" | "delete";
  /** The object as it is; undefined where there is none. */
  readonly before: unknown;
  /** The object as it would be; undefined where there would be none. */
  readonly after: unknown;
}

/** Events report what happened, and nothing happens. */
const told = /^\/apis\/events\.k8s\.io\/|^\/api\/v1\/namespaces\/[^/]+\/events/;

/**
 * Has the server decide about every write without storing it, and reports those that it would
 * store.
 */
export function dryRun(onWrite: (write: PlannedWrite) => void): Interceptor {
  return (next): Transport => ({
    close: () => next.close(),
    request: async (request) => {
      if (request.method === "GET") return await next.request(request);
      const [path = ""] = request.path.split("?");
      const asked = withoutEffect(request);
      // So that nobody needs the right to write them.
      if (told.test(path)) return acknowledged(request);
      const before = request.method === "POST" ? undefined : await present(next, request, path);
      const response = await next.request(asked);
      const body = Buffer.concat(await Array.fromAsync(response.body));
      if (response.status < 300) onWrite(planned(request.method, path, before, body));
      return { ...response, body: once(body) };
    },
  });
}

/** As if what was sent had been stored. */
function acknowledged({ method, body = "{}" }: TransportRequest): TransportResponse {
  const status = method === "POST" ? 201 : 200;
  return { status, headers: { "content-type": "application/json" }, body: once(Buffer.from(body)) };
}

/**
 * The same request, of which nothing is stored.
 *
 * @throws TypeError for one that cannot be made so
 */
export function withoutEffect(request: TransportRequest): TransportRequest {
  const { method, path, body } = request;
  // Of a deletion that has a body, servers read the options there, and nowhere else.
  if (method === "DELETE" && body !== undefined && body.length > 0) {
    const options: unknown = JSON.parse(Buffer.from(body).toString());
    if (typeof options !== "object" || options === null)
      throw new TypeError(
        `DELETE ${path}: its body is not an object, so that it cannot be tried without effect`,
      );
    return { ...request, body: JSON.stringify({ ...options, dryRun: ["All"] }) };
  }
  return { ...request, path: `${path}${path.includes("?") ? "&" : "?"}dryRun=All` };
}

function planned(
  method: TransportRequest["method"],
  path: string,
  before: unknown,
  body: Buffer,
): PlannedWrite {
  if (method === "DELETE") return { path, does: "delete", before, after: undefined };
  const after = JSON.parse(body.toString()) as { readonly metadata?: { readonly name?: string } };
  // What is created is written to the path of its collection.
  if (method === "POST") return { path: `${path}/${after.metadata?.name}`, does: "create", before, after };
  return { path, does: before === undefined ? "create" : "update", before, after };
}

/** The object that a write is about, as it is. */
async function present(next: Transport, write: TransportRequest, path: string): Promise<unknown> {
  const { "content-type": _type, ...headers } = write.headers;
  const { body: _body, guard: _guard, ...request } = write;
  const response = await next.request({
    ...request,
    method: "GET",
    path,
    headers: { ...headers, accept: "application/json" },
  });
  const body = Buffer.concat(await Array.fromAsync(response.body));
  return response.status === 200 ? JSON.parse(body.toString()) : undefined;
}

async function* once(body: Buffer): AsyncGenerator<Uint8Array> {
  yield body;
}
