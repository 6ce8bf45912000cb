import { openTransport } from "@windlass/client";
import type { FetchJson } from "./issuer-keys.ts";

const LARGEST_DOCUMENT = 1024 * 1024;
const TIMEOUT_MS = 10_000;

/** How issuers are reached. */
export interface IssuerHttpOptions {
  /** PEM of the authorities to trust. @default those that Node trusts */
  readonly ca?: string | undefined;
  /** Where HTTPS_PROXY and NO_PROXY are looked up. @default the process' */
  readonly env?: Readonly<Record<string, string | undefined>>;
}

/** Fetches documents of issuers: without redirects, in at most 10 seconds, and of at most 1 MiB. */
export function issuerHttp({ ca, env = process.env }: IssuerHttpOptions = {}): FetchJson {
  return async (url, signal) => {
    const limit = AbortSignal.timeout(TIMEOUT_MS);
    const trust = ca === undefined ? {} : { certificateAuthorityData: Buffer.from(ca).toString("base64") };
    const transport = openTransport(
      { cluster: { server: url.origin, ...trust }, user: {}, namespace: "", source: "issuer" },
      { attempts: 2, env },
    );
    try {
      const { status, body } = await transport.request({
        method: "GET",
        path: `${url.pathname}${url.search}`,
        headers: { accept: "application/json" },
        signal: signal ? AbortSignal.any([signal, limit]) : limit,
      });
      if (status !== 200) throw new Error(`${url.href} answered ${status}`);
      return JSON.parse(await textOf(body, url));
    } finally {
      await transport.close();
    }
  };
}

async function textOf(body: AsyncIterable<Uint8Array>, url: URL): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.byteLength;
    if (size > LARGEST_DOCUMENT) throw new Error(`${url.href} answered more than ${LARGEST_DOCUMENT} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}
