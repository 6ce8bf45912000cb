import { readFileSync } from "node:fs";
import { Agent, request } from "node:https";
import type { JsonObject } from "../../../packages/control-plane/src/json.ts";

export interface Answer {
  readonly status: number;
  readonly body: JsonObject;
}

export type Send = (method: string, path: string, body?: unknown, contentType?: string) => Promise<Answer>;

interface Kubeconfig {
  clusters: { cluster: { server: string; "certificate-authority-data": string } }[];
  users: { user: { "client-certificate-data": string; "client-key-data": string } }[];
}

/** Talks to the server of a kubeconfig written as JSON, with its client certificate. */
export function realServer(kubeconfig: string): { send: Send; close(): void } {
  const config = JSON.parse(readFileSync(kubeconfig, "utf8")) as Kubeconfig;
  const cluster = config.clusters[0]?.cluster;
  const user = config.users[0]?.user;
  if (cluster === undefined || user === undefined)
    throw new Error(`${kubeconfig} names no cluster or no user`);
  const agent = new Agent({
    keepAlive: true,
    maxSockets: 24,
    ca: Buffer.from(cluster["certificate-authority-data"], "base64"),
    cert: Buffer.from(user["client-certificate-data"], "base64"),
    key: Buffer.from(user["client-key-data"], "base64"),
  });
  const send: Send = (method, path, body, contentType = "application/json") =>
    new Promise((resolve, reject) => {
      const text = body === undefined ? undefined : JSON.stringify(body);
      const headers = { "content-type": contentType, "user-agent": "differential/1" };
      const outgoing = request(new URL(path, cluster.server), { method, agent, headers }, (incoming) => {
        const chunks: Buffer[] = [];
        incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
        incoming.on("end", () => {
          const answer = Buffer.concat(chunks).toString();
          const parsed = answer.startsWith("{") ? (JSON.parse(answer) as JsonObject) : { message: answer };
          resolve({ status: incoming.statusCode ?? 0, body: parsed });
        });
        incoming.on("error", reject);
      });
      outgoing.on("error", reject);
      outgoing.end(text);
    });
  return { send, close: () => agent.destroy() };
}
