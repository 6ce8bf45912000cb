import { createHash } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { type ClientHttp2Session, connect } from "node:http2";
import { decode, encode } from "./protobuf.ts";

/** A call that did not end with OK. */
export class CallError extends Error {
  override readonly name = "CallError";
  /** gRPC's number for it: 5 is NOT_FOUND, 14 UNAVAILABLE. */
  readonly code: number;

  constructor(code: number, message: string) {
    super(`code ${code}: ${message}`);
    this.code = code;
  }
}

const callMs = 10_000;

/** How a frontend that is guarded is reached. */
export interface Credentials {
  /** Has the connection use TLS, with a server that they have signed, in PEM. */
  readonly authorities: string;
  /** What the server's certificate is to be for. @default the host of the address */
  readonly serverName?: string;
  readonly token?: string;
  readonly pair?: { readonly certificate: string; readonly key: string };
}

interface Digest {
  readonly hash: string;
  readonly size: number;
}

function digestOf(data: Buffer): Digest {
  return { hash: createHash("sha256").update(data).digest("hex"), size: data.length };
}

function encodeDigest({ hash, size }: Digest): Buffer {
  return encode({ 1: hash, 2: size });
}

const api = "build.bazel.remote.execution.v2";

/**
 * A client of the Remote Execution API that does what a build does with a cache, through one
 * frontend.
 */
export class RemoteCache implements Disposable {
  readonly #session: ClientHttp2Session;
  readonly #headers: { readonly authorization?: string };
  #fault: Error | undefined;

  /** @param address e.g. `198.18.0.7:8980` */
  constructor(address: string, credentials?: Credentials) {
    const { authorities, serverName, token, pair } = credentials ?? {};
    this.#headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
    this.#session =
      authorities === undefined
        ? connect(`http://${address}`)
        : connect(`https://${address}`, {
            ca: authorities,
            ...(serverName !== undefined && { servername: serverName }),
            ...(pair && { cert: pair.certificate, key: pair.key }),
          });
    this.#session.on("error", (error) => {
      this.#fault = error;
    });
  }

  /** Writes an action's input, its output and its result, as a build of a new action does. */
  async write(action: string): Promise<void> {
    const blobs = [Buffer.from(`input of ${action}`), Buffer.from(`output of ${action}`)];
    const requests = blobs.map((data) => encode({ 1: encodeDigest(digestOf(data)), 2: data }));
    const answer = decode(
      await this.#call("ContentAddressableStorage/BatchUpdateBlobs", encode({ 2: requests })),
    );
    for (const response of answer.get(1) ?? []) check(decode(response as Buffer).get(2)?.[0]);
    const [, output = Buffer.alloc(0)] = blobs;
    const result = encode({ 2: encode({ 1: "out", 2: encodeDigest(digestOf(output)) }), 4: 0 });
    await this.#call(
      "ActionCache/UpdateActionResult",
      encode({ 2: encodeDigest(digestOf(Buffer.from(action))), 3: result }),
    );
  }

  /**
   * Whether an action's result is there, and its output.
   *
   * @throws CallError if the cache reports it, and then does not have it.
   */
  async read(action: string): Promise<"hit" | "miss"> {
    if (!(await this.hasResult(action))) return "miss";
    await this.readBlob(`output of ${action}`);
    return "hit";
  }

  /** Whether an action's result is there, wherever its output is. */
  hasResult(action: string): Promise<boolean> {
    const digest = encodeDigest(digestOf(Buffer.from(action)));
    return found(this.#call("ActionCache/GetActionResult", encode({ 2: digest })));
  }

  /** Whether a blob is there that an action needs, as a build asks before it sends it again. */
  async looksFor(text: string): Promise<boolean> {
    const digest = encodeDigest(digestOf(Buffer.from(text)));
    const answer = decode(
      await this.#call("ContentAddressableStorage/FindMissingBlobs", encode({ 2: [digest] })),
    );
    return (answer.get(2) ?? []).length === 0;
  }

  hasBlob(text: string): Promise<boolean> {
    return found(this.readBlob(text));
  }

  /** @throws CallError if it is not there, or is not what was written. */
  async readBlob(text: string): Promise<void> {
    const digest = encodeDigest(digestOf(Buffer.from(text)));
    const answer = decode(
      await this.#call("ContentAddressableStorage/BatchReadBlobs", encode({ 2: [digest] })),
    );
    const response = decode((answer.get(1)?.[0] as Buffer | undefined) ?? Buffer.alloc(0));
    check(response.get(3)?.[0]);
    const data = String(response.get(2)?.[0] ?? "");
    if (data !== text)
      throw new CallError(15, `${JSON.stringify(text)} was written, ${JSON.stringify(data)} read`);
  }

  [Symbol.dispose](): void {
    this.#session.destroy();
  }

  async #call(method: string, message: Buffer): Promise<Buffer> {
    if (this.#fault || this.#session.destroyed)
      throw new CallError(14, this.#fault?.message ?? "the connection is closed");
    const head = Buffer.alloc(5);
    head.writeUInt32BE(message.length, 1);
    const stream = this.#session.request({
      ":method": "POST",
      ":path": `/${api}.${method}`,
      "content-type": "application/grpc",
      te: "trailers",
      ...this.#headers,
    });
    return await new Promise((resolve, reject) => {
      const parts: Buffer[] = [];
      let trailers: Readonly<IncomingHttpHeaders> = {};
      const fail = (error: Error) => reject(new CallError(14, error.message));
      stream.setTimeout(callMs, () => stream.destroy(new Error("no answer")));
      stream.on("error", fail);
      stream.on("response", (headers) => {
        trailers = headers;
      });
      stream.on("trailers", (headers) => {
        trailers = headers;
      });
      stream.on("data", (part: Buffer) => parts.push(part));
      stream.on("close", () => {
        const code = trailers["grpc-status"];
        if (code === undefined) fail(this.#fault ?? new Error("the connection was closed"));
        else if (Number(code) !== 0)
          reject(new CallError(Number(code), decodeURIComponent(textOf(trailers["grpc-message"]))));
        else resolve(Buffer.concat(parts).subarray(5));
      });
      stream.end(Buffer.concat([head, message]));
    });
  }
}

async function found(call: Promise<unknown>): Promise<boolean> {
  try {
    await call;
    return true;
  } catch (error) {
    if (error instanceof CallError && error.code === 5) return false;
    throw error;
  }
}

function textOf(header: string | readonly string[] | undefined): string {
  return typeof header === "string" ? header : (header ?? []).join(" ");
}

/** @throws CallError for a google.rpc.Status other than OK. */
function check(status: number | Buffer | undefined): void {
  if (!(status instanceof Buffer)) return;
  const fields = decode(status);
  const code = Number(fields.get(1)?.[0] ?? 0);
  if (code !== 0) throw new CallError(code, String(fields.get(2)?.[0] ?? ""));
}
