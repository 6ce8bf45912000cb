import { CommandError } from "@windlass/cli";
import { openTransport } from "@windlass/client";

/**
 * GETs a JSON document, by the proxies of the environment.
 *
 * @throws CommandError; TransportError.
 */
export async function fetchJson(
  url: URL,
  headers: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<unknown> {
  const transport = openTransport(
    { cluster: { server: url.origin }, user: {}, namespace: "", source: url.host },
    { attempts: 4 },
  );
  try {
    const path = `${url.pathname}${url.search}`;
    const { status, body } = await transport.request({
      method: "GET",
      path,
      headers: { accept: "application/json", ...headers },
      signal,
    });
    const chunks: Uint8Array[] = [];
    for await (const chunk of body) chunks.push(chunk);
    if (status !== 200) throw new CommandError(`${url.host} answered ${status}`);
    return JSON.parse(Buffer.concat(chunks).toString("utf8"));
  } finally {
    await transport.close();
  }
}
