import { readFileSync } from "node:fs";
import { Agent, request } from "node:https";
import { load } from "js-yaml";
import { ControlPlane, type ControlPlaneOptions } from "../../packages/control-plane/src/control-plane.ts";
import { decodeProtobuf } from "../../packages/control-plane/src/protobuf/index.ts";

/** One request. */
export interface Sending {
  readonly method: string;
  readonly path: string;
  /** Sent as JSON; a string or bytes are sent as they are. */
  readonly body?: unknown;
  /** @default application/json */
  readonly contentType?: string;
  readonly headers?: Readonly<Record<string, string | string[]>>;
}

/** What came back, with its body read: an object, the events of a watch, or plain text. */
export interface ServerResponse {
  readonly status: number;
  readonly contentType: string;
  readonly warnings: readonly string[];
  readonly body: unknown;
}

/** Something that answers requests as an API server does. */
export interface Server extends AsyncDisposable {
  readonly name: "real" | "embedded";
  send(sending: Sending): Promise<ServerResponse>;
}

/** The user agent that both servers get: managedFields may name it. */
export const agentName = "differential/1";

interface Kubeconfig {
  readonly clusters: readonly {
    readonly cluster: { readonly server: string; readonly "certificate-authority-data": string };
  }[];
  readonly users: readonly {
    readonly user: { readonly "client-certificate-data": string; readonly "client-key-data": string };
  }[];
}

/** The server of a kubeconfig that holds its certificates inline. */
export function openReal(kubeconfig: string): Server {
  const config = load(readFileSync(kubeconfig, "utf8")) as Kubeconfig;
  const [cluster, user] = [config.clusters[0]?.cluster, config.users[0]?.user];
  if (!cluster || !user) throw new Error(`${kubeconfig} names no cluster or no user`);
  const decode = (data: string) => Buffer.from(data, "base64");
  const agent = new Agent({
    keepAlive: true,
    ca: decode(cluster["certificate-authority-data"]),
    cert: decode(user["client-certificate-data"]),
    key: decode(user["client-key-data"]),
  });
  return {
    name: "real",
    send: (sending) =>
      new Promise((resolve, reject) => {
        const body = bytesOf(sending.body);
        const outgoing = request(
          new URL(sending.path, cluster.server),
          {
            method: sending.method,
            agent,
            headers: { ...headersOf(sending), "content-length": body.length },
          },
          (incoming) => {
            const chunks: Buffer[] = [];
            incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
            incoming.on("error", reject);
            incoming.on("end", () => {
              const { statusCode = 0, headers } = incoming;
              resolve(read(statusCode, headers["content-type"], headers.warning, Buffer.concat(chunks)));
            });
          },
        );
        // A real server that panics drops the connection: that is its answer.
        outgoing.on("error", (error) =>
          resolve({ status: 0, contentType: "", warnings: [], body: error.message }),
        );
        outgoing.end(body);
      }),
    [Symbol.asyncDispose]: () => {
      agent.destroy();
      return Promise.resolve();
    },
  };
}

/**
 * A control plane in this process. @param options @default what a bare API server does by itself,
 * and no more
 */
export async function openEmbedded(
  options: ControlPlaneOptions = { controllers: ["kubernetes-service"], nodes: "none" },
): Promise<Server & { readonly plane: ControlPlane }> {
  const plane = await ControlPlane.start(options);
  const door = plane.connect();
  return {
    name: "embedded",
    plane,
    send: async (sending) => {
      const response = await door.request({
        method: sending.method,
        path: sending.path,
        headers: headersOf(sending),
        ...(sending.body === undefined ? {} : { body: bytesOf(sending.body) }),
      });
      const chunks: Uint8Array[] = [];
      for await (const chunk of response.body) chunks.push(chunk);
      const { headers, status } = response;
      const type = headers["content-type"];
      return read(
        status,
        typeof type === "string" ? type : undefined,
        headers.warning,
        Buffer.concat(chunks),
      );
    },
    [Symbol.asyncDispose]: () => plane.close(),
  };
}

function bytesOf(body: unknown): Buffer {
  if (body === undefined) return Buffer.alloc(0);
  if (body instanceof Uint8Array) return Buffer.from(body);
  return Buffer.from(typeof body === "string" ? body : JSON.stringify(body));
}

function headersOf({
  contentType = "application/json",
  headers,
}: Sending): Record<string, string | string[]> {
  return { "content-type": contentType, "user-agent": agentName, ...headers };
}

function read(
  status: number,
  type: string | undefined,
  warning: string | readonly string[] | undefined,
  body: Buffer,
): ServerResponse {
  const contentType = type ?? "";
  const warnings = [
    ...[warning ?? []]
      .flat()
      .join(", ")
      .matchAll(/299 - "((?:[^"\\]|\\.)*)"/g),
  ];
  return {
    status,
    contentType,
    warnings: warnings.map(([, quoted = ""]) => quoted.replace(/\\(.)/g, "$1")),
    body: readBody(contentType, body),
  };
}

function readBody(contentType: string, body: Buffer): unknown {
  if (contentType === "application/vnd.kubernetes.protobuf") {
    return decodeProtobuf(body, { group: "", version: "v1", kind: "Unknown" });
  }
  const text = body.toString("utf8");
  if (contentType === "application/yaml") return load(text);
  if (!contentType.startsWith("application/json")) return text;
  const lines = text.trimEnd().split("\n");
  if (lines.every((line) => line.startsWith('{"type":'))) return lines.map(readJson);
  return text === "" ? "" : readJson(text);
}

/** Numbers that would not be distinguished otherwise are given as they are written. */
function readJson(text: string): unknown {
  return JSON.parse(text, (_key, value: unknown, context?: { readonly source?: string }) =>
    typeof value === "number" && context?.source !== String(value) ? context?.source : value,
  ) as unknown;
}
