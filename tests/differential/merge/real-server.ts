import { isObject, type JsonObject } from "../../../packages/control-plane/src/json.ts";
import { openReal } from "../servers.ts";

export interface ServerResponse {
  readonly status: number;
  readonly body: JsonObject;
}

export type Send = (
  method: string,
  path: string,
  body?: unknown,
  contentType?: string,
) => Promise<ServerResponse>;

/** Talks to the server of a kubeconfig, with its client certificate. */
export function realServer(kubeconfig: string): { send: Send; close(): Promise<void> } {
  const server = openReal(kubeconfig);
  return {
    send: async (method, path, body, contentType = "application/json") => {
      const answer = await server.send({
        method,
        path,
        contentType,
        ...(body === undefined ? {} : { body }),
      });
      const { status } = answer;
      return { status, body: isObject(answer.body) ? answer.body : { message: String(answer.body) } };
    },
    close: async () => server[Symbol.asyncDispose](),
  };
}
