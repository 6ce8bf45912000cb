import { readFileSync } from "node:fs";
import { Agent, request } from "node:https";
import { ControlPlane } from "@windlass/control-plane";
import { load } from "js-yaml";

/** An answer with its body parsed. */
export interface Answer {
  readonly status: number;
  readonly warnings: readonly string[];
  readonly body: Record<string, unknown>;
}

export interface Sending {
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
  readonly contentType?: string;
}

/** A server under comparison. */
export interface Server {
  readonly name: "real" | "embedded";
  send(sending: Sending): Promise<Answer>;
  /** Waits until a change of its admission configuration holds: the real server takes a second or two. */
  settle(): Promise<void>;
  close(): Promise<void>;
}

interface Kubeconfig {
  readonly clusters: readonly {
    readonly cluster: { readonly server: string; readonly "certificate-authority-data": string };
  }[];
  readonly users: readonly {
    readonly user: { readonly "client-certificate-data": string; readonly "client-key-data": string };
  }[];
}

/** The server of a kubeconfig that holds its certificates inline. */
export function openReal(path: string): Server {
  const config = load(readFileSync(path, "utf8")) as Kubeconfig;
  const [cluster, user] = [config.clusters[0]?.cluster, config.users[0]?.user];
  if (!cluster || !user) throw new Error(`${path} names no cluster or no user`);
  const decode = (data: string) => Buffer.from(data, "base64");
  const agent = new Agent({
    keepAlive: true,
    ca: decode(cluster["certificate-authority-data"]),
    cert: decode(user["client-certificate-data"]),
    key: decode(user["client-key-data"]),
  });
  return {
    name: "real",
    settle: () => new Promise((resolve) => setTimeout(resolve, 4_000)),
    close: async () => agent.destroy(),
    send: ({ method, path: target, body, contentType = "application/json" }) =>
      new Promise((resolve, reject) => {
        const text = body === undefined ? "" : JSON.stringify(body);
        const outgoing = request(
          new URL(target, cluster.server),
          {
            method,
            agent,
            headers: {
              "content-type": contentType,
              "content-length": Buffer.byteLength(text),
              "user-agent": "compare/1",
            },
          },
          (incoming) => {
            const chunks: Buffer[] = [];
            incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
            incoming.on("end", () => {
              const warning = incoming.headersDistinct.warning ?? [];
              resolve({ status: incoming.statusCode ?? 0, warnings: warning, body: parse(chunks) });
            });
          },
        );
        outgoing.on("error", reject);
        outgoing.end(text);
      }),
  };
}

export async function openEmbedded(): Promise<Server & { readonly plane: ControlPlane }> {
  const plane = await ControlPlane.start({ controllers: ["kubernetes-service"] });
  const door = plane.connect();
  return {
    name: "embedded",
    plane,
    settle: () => Promise.resolve(),
    close: () => plane.close(),
    send: async ({ method, path, body, contentType = "application/json" }) => {
      const response = await door.request({
        method,
        path,
        headers: { "content-type": contentType, "user-agent": "compare/1" },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const chunks: Uint8Array[] = [];
      for await (const chunk of response.body) chunks.push(chunk);
      const warning = response.headers.warning ?? [];
      return {
        status: response.status,
        warnings: typeof warning === "string" ? [warning] : warning,
        body: parse(chunks),
      };
    },
  };
}

function parse(chunks: readonly Uint8Array[]): Record<string, unknown> {
  const text = Buffer.concat(chunks).toString("utf8");
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    return { text };
  }
}
