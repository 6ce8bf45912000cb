import { readFileSync } from "node:fs";
import { Agent, request } from "node:https";

/** An answer of the API server. */
export interface Answer {
  readonly status: number;
  readonly body: Record<string, unknown>;
  readonly warnings: string[];
}

/** Talks to the cluster that KUBECONFIG names, by client certificate: enough to put the same question to both servers. */
export class Cluster {
  private readonly agent: Agent;
  private readonly server: URL;

  constructor(path: string | undefined = process.env.KUBECONFIG) {
    if (path === undefined) throw new Error("KUBECONFIG is not set: it names the cluster to compare with");
    const config = JSON.parse(readFileSync(path, "utf8")) as {
      clusters: { cluster: { server: string; "certificate-authority-data": string } }[];
      users: { user: { "client-certificate-data": string; "client-key-data": string } }[];
    };
    const cluster = config.clusters[0]?.cluster;
    const user = config.users[0]?.user;
    if (cluster === undefined || user === undefined) throw new Error(`${path} has no cluster or no user`);
    const decode = (text: string): Buffer => Buffer.from(text, "base64");
    this.server = new URL(cluster.server);
    this.agent = new Agent({
      keepAlive: true,
      ca: decode(cluster["certificate-authority-data"]),
      cert: decode(user["client-certificate-data"]),
      key: decode(user["client-key-data"]),
    });
  }

  send(method: string, path: string, body?: unknown, contentType = "application/json"): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const sent = request(
        new URL(path, this.server),
        { method, agent: this.agent, headers: { "content-type": contentType, accept: "application/json" } },
        (response) => {
          const chunks: Buffer[] = [];
          response.on("data", (chunk: Buffer) => chunks.push(chunk));
          response.on("error", reject);
          response.on("end", () => {
            const text = Buffer.concat(chunks).toString("utf8");
            let parsed: Record<string, unknown>;
            try {
              parsed = JSON.parse(text) as Record<string, unknown>;
            } catch {
              parsed = { text };
            }
            const warnings = [response.headers.warning ?? ""].flat().join(", ");
            resolve({
              status: response.statusCode ?? 0,
              body: parsed,
              warnings: [...warnings.matchAll(/299 - "((?:[^"\\]|\\.)*)"/g)].map((match) =>
                (match[1] as string).replace(/\\(.)/g, "$1"),
              ),
            });
          });
        },
      );
      sent.on("error", reject);
      sent.end(typeof body === "string" ? body : body === undefined ? undefined : JSON.stringify(body));
    });
  }

  /** Creates a CRD and waits until its resources are served. */
  async serve(crd: { metadata: { name: string } }, collection: string): Promise<Answer> {
    const created = await this.send("POST", `${CRDS}?fieldValidation=Ignore`, crd);
    if (created.status >= 300) return created;
    for (let attempt = 0; attempt < 200; attempt++) {
      const answer = await this.send("GET", collection);
      if (answer.status === 200) return created;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    throw new Error(`${crd.metadata.name} is still not served`);
  }

  async remove(name: string): Promise<void> {
    await this.send("DELETE", `${CRDS}/${name}`);
  }

  close(): void {
    this.agent.destroy();
  }
}

export const CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
