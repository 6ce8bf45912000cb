import { readFileSync } from "node:fs";
import { Agent, request } from "node:https";
import type { JsonObject } from "../../../packages/control-plane/src/json.ts";

export interface Answer {
  readonly status: number;
  readonly body: JsonObject;
  readonly warnings: readonly string[];
}

/** Something that answers requests as an API server does. */
export interface Server extends AsyncDisposable {
  /** Whether what was written takes a while to be seen by admission. */
  readonly caches: boolean;
  send(method: string, path: string, body?: unknown, contentType?: string): Promise<Answer>;
}

/** What both servers are told the client is: managedFields may name it. */
export const agentName = "differential/1";

/** The server of a kubeconfig written as JSON, by its client certificate. */
export function realServer(kubeconfig: string): Server {
  const config = JSON.parse(readFileSync(kubeconfig, "utf8")) as {
    clusters: { cluster: { server: string; "certificate-authority-data": string } }[];
    users: { user: { "client-certificate-data": string; "client-key-data": string } }[];
  };
  const [cluster, user] = [config.clusters[0]?.cluster, config.users[0]?.user];
  if (!cluster || !user) throw new Error(`${kubeconfig} names no cluster or no user`);
  const decode = (text: string) => Buffer.from(text, "base64");
  const agent = new Agent({
    keepAlive: true,
    ca: decode(cluster["certificate-authority-data"]),
    cert: decode(user["client-certificate-data"]),
    key: decode(user["client-key-data"]),
  });
  return {
    caches: true,
    send: (method, path, body, contentType = "application/json") =>
      new Promise((resolve, reject) => {
        const text = body === undefined ? "" : JSON.stringify(body);
        const outgoing = request(
          new URL(path, cluster.server),
          { method, agent, headers: headersFor(contentType, text) },
          (incoming) => {
            const chunks: Buffer[] = [];
            incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
            incoming.on("error", reject);
            incoming.on("end", () =>
              resolve(
                answer(incoming.statusCode ?? 0, Buffer.concat(chunks).toString(), incoming.headers.warning),
              ),
            );
          },
        );
        outgoing.on("error", reject);
        outgoing.end(text);
      }),
    [Symbol.asyncDispose]: () => {
      agent.destroy();
      return Promise.resolve();
    },
  };
}

/** Node announces no length for the body of a DELETE, and what follows would be taken for the next request. */
function headersFor(contentType: string, text: string): Record<string, string> {
  return {
    "content-type": contentType,
    "user-agent": agentName,
    "content-length": String(Buffer.byteLength(text)),
  };
}

/** What came back, with its warnings taken out of their header. */
export function answer(
  status: number,
  text: string,
  warning: string | readonly string[] | undefined,
): Answer {
  const warnings = [
    ...[warning ?? []]
      .flat()
      .join(", ")
      .matchAll(/299 - "((?:[^"\\]|\\.)*)"/g),
  ];
  return {
    status,
    body: text.startsWith("{") ? (JSON.parse(text) as JsonObject) : { text },
    warnings: warnings.map(([, quoted = ""]) => quoted.replace(/\\(.)/g, "$1")),
  };
}
