import { isObject, type JsonObject } from "../../../packages/control-plane/src/json.ts";
import { type Server as AnyServer, openEmbedded, openReal } from "../servers.ts";

export interface ServerResponse {
  readonly status: number;
  readonly body: JsonObject;
  readonly warnings: readonly string[];
}

/** Something that answers requests as an API server does. */
export interface Server extends AsyncDisposable {
  /** Whether what was written takes a while to be seen by admission. */
  readonly caches: boolean;
  /** @param as who is impersonated @default no user */
  send(
    method: string,
    path: string,
    body?: unknown,
    contentType?: string,
    as?: string,
  ): Promise<ServerResponse>;
}

/** The server of a kubeconfig, by its client certificate. */
export function realServer(kubeconfig: string): Server {
  return adapted(openReal(kubeconfig));
}

/** A control plane in this process, without controllers: what a bare API server is. */
export async function embeddedServer(): Promise<Server> {
  return adapted(await openEmbedded());
}

function adapted(server: AnyServer): Server {
  return {
    caches: server.name === "real",
    send: async (method, path, body, contentType = "application/json", as = "") => {
      const answer = await server.send({
        method,
        path,
        contentType,
        ...(body === undefined ? {} : { body }),
        ...(as === "" ? {} : { headers: { "impersonate-user": as } }),
      });
      const { status, warnings } = answer;
      return { status, warnings, body: isObject(answer.body) ? answer.body : { text: String(answer.body) } };
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}
