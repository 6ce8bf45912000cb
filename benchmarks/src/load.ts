import { Agent, request } from "node:https";

/** A bare keep-alive HTTPS client: what is measured is the server, not a client library. */
export interface Loader {
  send(method: string, path: string, body?: string, contentType?: string): Promise<number>;
  close(): void;
}

export async function openLoader(kubeconfig: string, connections: number): Promise<Loader> {
  const { server, ca, cert, key } = await credentials(kubeconfig);
  const agent = new Agent({ keepAlive: true, maxSockets: connections, ca, cert, key });
  const { hostname, port } = new URL(server);
  return {
    send: (method, path, body, contentType = "application/json") =>
      new Promise((resolve, reject) => {
        const outgoing = request(
          {
            agent,
            host: hostname,
            port,
            method,
            path,
            headers: {
              accept: "application/json",
              ...(body === undefined
                ? {}
                : { "content-type": contentType, "content-length": Buffer.byteLength(body) }),
            },
          },
          (incoming) => {
            incoming.on("data", () => undefined);
            incoming.once("end", () => resolve(incoming.statusCode ?? 0));
            incoming.once("error", reject);
          },
        );
        outgoing.once("error", reject);
        outgoing.end(body);
      }),
    close: () => agent.destroy(),
  };
}

/** The server and the administrator's certificate of a kubeconfig with everything inline. */
export async function credentials(
  kubeconfig: string,
): Promise<{ server: string; ca: string; cert: string; key: string }> {
  const { readFile } = await import("node:fs/promises");
  const { load } = await import("js-yaml");
  const config = load(await readFile(kubeconfig, "utf8")) as {
    clusters: [{ cluster: Record<string, string> }];
    users: [{ user: Record<string, string> }];
  };
  const text = (base64: string | undefined) => Buffer.from(base64 ?? "", "base64").toString("utf8");
  const [{ cluster }] = config.clusters;
  const [{ user }] = config.users;
  return {
    server: cluster.server ?? "",
    ca: text(cluster["certificate-authority-data"]),
    cert: text(user["client-certificate-data"]),
    key: text(user["client-key-data"]),
  };
}

/** Runs `count` tasks, so many at a time. @returns how long it took, in seconds */
export async function inParallel(
  count: number,
  width: number,
  task: (index: number) => Promise<void>,
): Promise<number> {
  const began = performance.now();
  let next = 0;
  const worker = async () => {
    for (let index = next++; index < count; index = next++) await task(index);
  };
  await Promise.all(Array.from({ length: width }, worker));
  return (performance.now() - began) / 1_000;
}
