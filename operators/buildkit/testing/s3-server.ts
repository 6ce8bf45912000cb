import { createHash, createHmac } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";

/** Who may use a bucket. */
export interface S3Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

/**
 * An S3 in memory, with its buckets in the path: objects that are read, written in one or in parts,
 * and copied. Requests whose signature (version 4) does not fit are refused.
 */
export class S3Server implements AsyncDisposable {
  /** By bucket and key. */
  readonly objects = new Map<string, Buffer>();
  /** Requests that were refused, with their paths. */
  readonly refused: string[] = [];
  readonly #server: Server;
  readonly #credentials: S3Credentials;
  readonly #uploads = new Map<string, Map<number, Buffer>>();

  private constructor(credentials: S3Credentials) {
    this.#credentials = credentials;
    this.#server = createServer((request, response) => {
      this.#answer(request, response).catch((error: unknown) => response.writeHead(500).end(String(error)));
    });
  }

  static async start(credentials: S3Credentials): Promise<S3Server> {
    const server = new S3Server(credentials);
    server.#server.listen(0);
    await once(server.#server, "listening");
    return server;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? "/", "http://s3");
    const sent = await buffer(request);
    if (!isSigned(request, this.#credentials)) {
      this.refused.push(`${request.method} ${pathname}`);
      response.writeHead(403).end("<Error><Code>SignatureDoesNotMatch</Code></Error>");
      return;
    }
    const name = decodeURIComponent(pathname.slice(1));
    const uploadId = searchParams.get("uploadId");
    if (request.method === "POST") this.#assemble(response, name, uploadId);
    else if (request.method === "PUT") this.#put(request, response, name, payload(request, sent));
    else {
      const found = this.objects.get(name);
      if (!found) response.writeHead(404).end("<Error><Code>NoSuchKey</Code></Error>");
      else {
        const { start, end } = rangeIn(request.headers.range, found.length);
        const part = found.subarray(start, end);
        const headers = { "content-length": part.length, "last-modified": new Date().toUTCString() };
        response.writeHead(request.headers.range ? 206 : 200, headers);
        response.end(request.method === "HEAD" ? undefined : part);
      }
    }
  }

  #put(request: IncomingMessage, response: ServerResponse, name: string, body: Buffer): void {
    const { searchParams } = new URL(request.url ?? "/", "http://s3");
    const parts = this.#uploads.get(searchParams.get("uploadId") ?? "");
    const source = request.headers["x-amz-copy-source"]?.toString();
    if (parts) parts.set(Number(searchParams.get("partNumber")), body);
    else if (source === undefined) this.objects.set(name, body);
    else {
      const copied = this.objects.get(decodeURIComponent(source).replace(/^\//, ""));
      if (copied) this.objects.set(name, copied);
      response.writeHead(copied ? 200 : 404);
      response.end("<CopyObjectResult><ETag>1</ETag></CopyObjectResult>");
      return;
    }
    response.writeHead(200, { etag: `"${createHash("md5").update(body).digest("hex")}"` }).end();
  }

  /** Begins an object of several parts, or ends one. */
  #assemble(response: ServerResponse, name: string, uploadId: string | null): void {
    const id = uploadId ?? crypto.randomUUID();
    const parts = this.#uploads.get(id);
    if (!parts) {
      this.#uploads.set(id, new Map());
      const text = `<InitiateMultipartUploadResult><UploadId>${id}</UploadId></InitiateMultipartUploadResult>`;
      response.writeHead(200).end(text);
      return;
    }
    const whole = [...parts].toSorted(([a], [b]) => a - b).map(([, part]) => part);
    this.objects.set(name, Buffer.concat(whole));
    this.#uploads.delete(id);
    response
      .writeHead(200)
      .end("<CompleteMultipartUploadResult><ETag>1</ETag></CompleteMultipartUploadResult>");
  }
}

function rangeIn(
  range: string | undefined,
  length: number,
): { readonly start: number; readonly end: number } {
  const [, first = "0", last = ""] = /^bytes=(\d+)-(\d*)$/.exec(range ?? "") ?? [];
  return { start: Number(first), end: last === "" ? length : Math.min(length, Number(last) + 1) };
}

/** What a request carries: chunks, each after its length, become one. */
function payload({ headers }: IncomingMessage, sent: Buffer): Buffer {
  if (!headers["x-amz-content-sha256"]?.toString().startsWith("STREAMING-")) return sent;
  const chunks: Buffer[] = [];
  for (let at = 0; ; ) {
    const lineEnd = sent.indexOf("\r\n", at);
    const size = Number.parseInt(sent.toString("latin1", at, lineEnd), 16);
    if (!(size > 0)) return Buffer.concat(chunks);
    const begin = lineEnd + 2;
    chunks.push(sent.subarray(begin, begin + size));
    at = begin + size + 2;
  }
}

function isSigned(request: IncomingMessage, { accessKeyId, secretAccessKey }: S3Credentials): boolean {
  const { headers, method = "", url = "/" } = request;
  const [, keyId, scope = "", names = "", signature] =
    /Credential=([^/]+)\/([^,]+), ?SignedHeaders=([^,]+), ?Signature=([0-9a-f]+)/.exec(
      headers.authorization ?? "",
    ) ?? [];
  if (keyId !== accessKeyId) return false;
  const [path = "", query = ""] = url.split("?");
  const canonical = [
    method,
    path,
    query
      .split("&")
      .filter((part) => part !== "")
      .map((part) => (part.includes("=") ? part : `${part}=`))
      .toSorted()
      .join("&"),
    ...names.split(";").map((name) => `${name}:${headers[name]?.toString().trim() ?? ""}`),
    "",
    names,
    headers["x-amz-content-sha256"],
  ].join("\n");
  const toSign = [
    "AWS4-HMAC-SHA256",
    headers["x-amz-date"],
    scope,
    createHash("sha256").update(canonical).digest("hex"),
  ].join("\n");
  const mac = (key: string | Buffer, text: string) => createHmac("sha256", key).update(text).digest();
  const key = scope.split("/").reduce<string | Buffer>(mac, `AWS4${secretAccessKey}`);
  return mac(key, toSign).toString("hex") === signature;
}
