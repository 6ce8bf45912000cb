import { isObject } from "../../../packages/control-plane/src/json.ts";
import { openReal, type Server } from "../servers.ts";

/** An answer of the API server. */
export interface ServerResponse {
  readonly status: number;
  readonly body: Record<string, unknown>;
  readonly warnings: readonly string[];
}

/**
 * Talks to the cluster that KUBECONFIG names, by client certificate: enough to put the same
 * question to both servers.
 */
export class Cluster {
  readonly #server: Server;

  constructor(path: string | undefined = process.env.KUBECONFIG) {
    if (path === undefined) throw new Error("KUBECONFIG is not set: it names the cluster to compare with");
    this.#server = openReal(path);
  }

  async send(
    method: string,
    path: string,
    body?: unknown,
    contentType = "application/json",
  ): Promise<ServerResponse> {
    const answer = await this.#server.send({
      method,
      path,
      contentType,
      ...(body === undefined ? {} : { body }),
    });
    const { status, warnings } = answer;
    return { status, warnings, body: isObject(answer.body) ? answer.body : { text: answer.body } };
  }

  /** Creates a CRD and waits until its resources are served. */
  async serve(crd: { metadata: { name: string } }, collection: string): Promise<ServerResponse> {
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

  async close(): Promise<void> {
    await this.#server[Symbol.asyncDispose]();
  }
}

export const CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
