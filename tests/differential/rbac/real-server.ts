import { openReal } from "../servers.ts";

/** An answer with its body parsed. */
export interface ServerResponse {
  readonly status: number;
  readonly body: Record<string, unknown>;
}

/** A running kube-apiserver, reached as an administrator who may impersonate anyone. */
export interface RealServer extends AsyncDisposable {
  send(
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string | string[]>,
  ): Promise<ServerResponse>;
}

/** Opens the one cluster of a kubeconfig that holds its certificates inline. */
export function openRealServer(kubeconfig: string): RealServer {
  const server = openReal(kubeconfig);
  return {
    send: async (method, path, body, headers = {}) => {
      const answer = await server.send({ method, path, headers, ...(body === undefined ? {} : { body }) });
      return { status: answer.status, body: answer.body as Record<string, unknown> };
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}
