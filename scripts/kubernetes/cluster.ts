import { readFileSync } from "node:fs";
import { Agent, request } from "node:https";
import { dirname, resolve } from "node:path";
import { load } from "js-yaml";

interface KubeconfigFile {
  readonly "current-context"?: string;
  readonly contexts?: readonly {
    readonly name: string;
    readonly context: { readonly cluster: string; readonly user: string };
  }[];
  readonly clusters?: readonly {
    readonly name: string;
    readonly cluster: {
      readonly server: string;
      readonly "certificate-authority"?: string;
      readonly "certificate-authority-data"?: string;
    };
  }[];
  readonly users?: readonly {
    readonly name: string;
    readonly user: {
      readonly "client-certificate"?: string;
      readonly "client-certificate-data"?: string;
      readonly "client-key"?: string;
      readonly "client-key-data"?: string;
      readonly token?: string;
    };
  }[];
}

/** Reads from the API server whose facts are being recorded. */
export interface Cluster extends Disposable {
  /**
   * The parsed JSON at a path, optionally in another representation. Throws on any status but 200.
   */
  get(path: string, accept?: string): Promise<unknown>;
}

/**
 * Opens the current context of a kubeconfig file. Certificates and static tokens are understood;
 * exec plugins are not, as a recording is made from a throw-away server that has none.
 */
export function openCluster(kubeconfigPath: string): Cluster {
  const file = load(readFileSync(kubeconfigPath, "utf8")) as KubeconfigFile;
  const context = file.contexts?.find((each) => each.name === file["current-context"])?.context;
  const cluster = file.clusters?.find((each) => each.name === context?.cluster)?.cluster;
  const user = file.users?.find((each) => each.name === context?.user)?.user;
  if (!cluster || !user) throw new Error(`${kubeconfigPath}: its current context names no cluster or user`);

  const material = (data: string | undefined, path: string | undefined) => {
    if (data) return Buffer.from(data, "base64");
    return path ? readFileSync(resolve(dirname(kubeconfigPath), path)) : undefined;
  };
  const ca = material(cluster["certificate-authority-data"], cluster["certificate-authority"]);
  const cert = material(user["client-certificate-data"], user["client-certificate"]);
  const key = material(user["client-key-data"], user["client-key"]);
  const agent = new Agent({
    keepAlive: true,
    ...(ca ? { ca } : {}),
    ...(cert ? { cert } : {}),
    ...(key ? { key } : {}),
  });

  return {
    [Symbol.dispose]: () => agent.destroy(),
    get(path, accept = "application/json") {
      const url = new URL(path, cluster.server);
      const headers = { accept, ...(user.token ? { authorization: `Bearer ${user.token}` } : {}) };
      return new Promise((settle, fail) => {
        const sent = request(url, { agent, headers }, (response) => {
          const chunks: Buffer[] = [];
          response.on("data", (chunk: Buffer) => chunks.push(chunk));
          response.on("error", fail);
          response.on("end", () => {
            const body = Buffer.concat(chunks).toString("utf8");
            if (response.statusCode === 200) settle(JSON.parse(body));
            else fail(new Error(`GET ${url.href}: ${response.statusCode} ${body}`));
          });
        });
        sent.on("error", fail);
        sent.end();
      });
    },
  };
}
