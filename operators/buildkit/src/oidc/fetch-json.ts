import { request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";

const TIMEOUT_MS = 10_000;
const LARGEST_BYTES = 1_048_576;

/**
 * Gets a JSON document of at most a megabyte.
 *
 * @param ca PEM: who signs the server's certificate. @default the authorities that Node trusts
 * @throws Error that says what went wrong.
 */
export function fetchJson(url: string, signal: AbortSignal, ca?: string): Promise<unknown> {
  const request = url.startsWith("https:") ? requestHttps : requestHttp;
  const within = AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]);
  return new Promise((resolve, reject) => {
    const call = request(
      url,
      { signal: within, headers: { accept: "application/json" }, ...(ca !== undefined && { ca }) },
      (response) => {
        if (response.statusCode !== 200) {
          response.resume();
          reject(new Error(`it answered with status ${response.statusCode}`));
          return;
        }
        const chunks: Buffer[] = [];
        let size = 0;
        response.on("data", (chunk: Buffer) => {
          chunks.push(chunk);
          size += chunk.length;
          if (size > LARGEST_BYTES) call.destroy(new Error("its answer is too long"));
        });
        response.on("error", reject);
        response.on("end", () => {
          try {
            resolve(JSON.parse(Buffer.concat(chunks).toString("utf8")));
          } catch (cause) {
            reject(new Error("its answer is not JSON", { cause }));
          }
        });
      },
    );
    call.on("error", reject);
    call.end();
  });
}
