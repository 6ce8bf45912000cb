import { readFileSync } from "node:fs";
import { Agent, request } from "node:https";
import { load } from "js-yaml";

/** An answer with its body parsed. */
export interface Answer {
  readonly status: number;
  readonly body: Record<string, unknown>;
}

/** A running kube-apiserver, reached as an administrator who may impersonate anyone. */
export interface RealServer extends Disposable {
  send(
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string | string[]>,
  ): Promise<Answer>;
}

interface Kubeconfig {
  readonly clusters: readonly {
    readonly cluster: { readonly server: string; readonly "certificate-authority-data": string };
  }[];
  readonly users: readonly {
    readonly user: { readonly "client-certificate-data": string; readonly "client-key-data": string };
  }[];
}

/** Opens the one cluster of a kubeconfig that holds its certificates inline. */
export function openRealServer(path: string): RealServer {
  const config = load(readFileSync(path, "utf8")) as Kubeconfig;
  const [cluster, user] = [config.clusters[0]?.cluster, config.users[0]?.user];
  if (!cluster || !user) throw new Error(`${path} names no cluster or no user`);
  const decode = (data: string) => Buffer.from(data, "base64");
  const agent = new Agent({
    keepAlive: true,
    maxSockets: 4,
    ca: decode(cluster["certificate-authority-data"]),
    cert: decode(user["client-certificate-data"]),
    key: decode(user["client-key-data"]),
  });
  return {
    send: (method, target, body, headers = {}) =>
      new Promise((resolve, reject) => {
        const json = body === undefined ? undefined : JSON.stringify(body);
        const outgoing = request(
          new URL(target, cluster.server),
          { method, agent, headers: { ...(json ? { "content-type": "application/json" } : {}), ...headers } },
          (incoming) => {
            const chunks: Buffer[] = [];
            incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
            incoming.on("end", () => {
              const text = Buffer.concat(chunks).toString("utf8");
              resolve({
                status: incoming.statusCode ?? 0,
                body: JSON.parse(text) as Record<string, unknown>,
              });
            });
          },
        );
        outgoing.on("error", reject);
        outgoing.end(json);
      }),
    [Symbol.dispose]: () => agent.destroy(),
  };
}
