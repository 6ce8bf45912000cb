import { Agent, request } from "node:https";
import { load } from "js-yaml";
import type { FuzzRequest } from "./requests.ts";

interface Kubeconfig {
  readonly clusters: readonly [{ readonly cluster: Record<string, string> }];
  readonly users: readonly [{ readonly user: Record<string, string> }];
}

/**
 * An API server behind a socket, of which only the statuses matter. Takes addresses as they are,
 * which a URL would straighten.
 */
export class RemoteServer implements Disposable {
  readonly #address: URL;
  readonly #agent: Agent;

  /** @param kubeconfig its content, with certificates inline */
  constructor(kubeconfig: string) {
    const config = load(kubeconfig) as Kubeconfig;
    const { cluster } = config.clusters[0];
    const { user } = config.users[0];
    const decode = (data: string | undefined) => Buffer.from(data ?? "", "base64");
    this.#address = new URL(cluster.server ?? "");
    this.#agent = new Agent({
      keepAlive: true,
      ca: decode(cluster["certificate-authority-data"]),
      cert: decode(user["client-certificate-data"]),
      key: decode(user["client-key-data"]),
    });
  }

  /**
   * @returns the status; 0 if the server dropped the connection, which a real one does when it
   * panics
   */
  send({ method, url, headers, body }: FuzzRequest): Promise<number> {
    const sendable = Object.entries(headers).filter(([, text]) => /^[\x20-\x7e]*$/.test(text));
    return new Promise((resolve) => {
      const outgoing = request(
        {
          agent: this.#agent,
          host: this.#address.hostname,
          port: this.#address.port,
          method,
          path: url.replaceAll(/[^\x21-\x7e]/gu, encodeURIComponent),
          headers: { ...Object.fromEntries(sendable), "content-length": body?.length ?? 0 },
        },
        (incoming) => {
          incoming.resume();
          // A watch may go on for as long as it likes: that it began is enough.
          const enough = setTimeout(() => incoming.destroy(), 1_500);
          incoming.once("close", () => {
            clearTimeout(enough);
            resolve(incoming.statusCode ?? 0);
          });
        },
      );
      outgoing.once("error", () => resolve(0));
      outgoing.end(body);
    });
  }

  /** Sends JSON, to prepare a server. */
  sendJson(method: string, url: string, content: object, contentType = "application/json"): Promise<number> {
    const headers = { "content-type": contentType };
    return this.send({ method, url, headers, body: Buffer.from(JSON.stringify(content)) });
  }

  [Symbol.dispose](): void {
    this.#agent.destroy();
  }
}
