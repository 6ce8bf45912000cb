import { createHash } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";

/**
 * A registry of images in memory: what of the distribution specification a client needs that pushes
 * and pulls. It speaks plain HTTP, and takes no blob that is not what its digest says.
 */
export class OciRegistry implements AsyncDisposable {
  readonly #server: Server;
  readonly #blobs = new Map<string, Buffer>();
  /** By repository and reference. */
  readonly #manifests = new Map<string, { readonly type: string; readonly body: Buffer }>();
  readonly #uploads = new Map<string, Buffer>();

  private constructor() {
    this.#server = createServer((request, response) => {
      this.#answer(request, response).catch((error: unknown) => response.writeHead(500).end(String(error)));
    });
  }

  static async start(): Promise<OciRegistry> {
    const registry = new OciRegistry();
    registry.#server.listen(0);
    await once(registry.#server, "listening");
    return registry;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** What was pushed, as repository and reference. */
  get references(): readonly string[] {
    return [...this.#manifests.keys()];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = "GET", url = "/" } = request;
    const { pathname, searchParams } = new URL(url, "http://registry");
    const body = await buffer(request);
    const [, name = "", what = "", reference = ""] =
      /^\/v2\/(.+)\/(blobs|manifests|blobs\/uploads)\/([^/]*)$/.exec(pathname) ?? [];
    if (pathname === "/v2/") response.writeHead(200).end();
    else if (what === "blobs/uploads")
      this.#upload(response, { method, name, reference, searchParams, body });
    else if (what === "manifests" && method === "PUT") {
      const type = request.headers["content-type"] ?? "";
      const digest = digestOf(body);
      for (const one of [reference, digest]) this.#manifests.set(`${name}:${one}`, { type, body });
      response.writeHead(201, { "docker-content-digest": digest }).end();
    } else if (what === "manifests") give(response, method, this.#manifests.get(`${name}:${reference}`));
    else if (what === "blobs") {
      const blob = this.#blobs.get(reference);
      give(response, method, blob && { type: "application/octet-stream", body: blob });
    } else response.writeHead(404).end();
  }

  #upload(
    response: ServerResponse,
    {
      method,
      name,
      reference,
      searchParams,
      body,
    }: Readonly<{
      method: string;
      name: string;
      reference: string;
      searchParams: URLSearchParams;
      body: Buffer;
    }>,
  ): void {
    const id = method === "POST" ? crypto.randomUUID() : reference;
    const whole = Buffer.concat([this.#uploads.get(id) ?? Buffer.alloc(0), body]);
    this.#uploads.set(id, whole);
    if (method !== "PUT") {
      response.writeHead(202, { location: `/v2/${name}/blobs/uploads/${id}` }).end();
      return;
    }
    this.#uploads.delete(id);
    const digest = searchParams.get("digest") ?? "";
    if (digest !== digestOf(whole)) {
      response.writeHead(400).end("the digest is another");
      return;
    }
    this.#blobs.set(digest, whole);
    response.writeHead(201, { "docker-content-digest": digest }).end();
  }
}

function digestOf(bytes: Buffer): string {
  return `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
}

function give(
  response: ServerResponse,
  method: string,
  found: { readonly type: string; readonly body: Buffer } | undefined,
): void {
  if (!found) {
    response.writeHead(404).end();
    return;
  }
  const { type, body } = found;
  response.writeHead(200, {
    "content-type": type,
    "content-length": body.length,
    "docker-content-digest": digestOf(body),
  });
  response.end(method === "HEAD" ? undefined : body);
}
