import type { Interceptor, TransportRequest } from "@windlass/client";

/** A request of a controller, with the name of the object in its path. */
export interface NamedRequest extends Pick<TransportRequest, "method"> {
  readonly name: string;
  readonly query: URLSearchParams;
}

/**
 * Has others act in the moment before a write of a controller is sent.
 *
 * @param idOf what a write is known by; undefined where others never act
 * @returns `acts`, what is done once before the write with that id, and the interceptor that does
 *   it
 */
export function beforeWrite(idOf: (request: NamedRequest) => string | undefined): {
  readonly acts: Map<string, () => Promise<unknown>>;
  readonly interceptor: Interceptor;
} {
  const acts = new Map<string, () => Promise<unknown>>();
  const interceptor: Interceptor = (next) => ({
    close: () => next.close(),
    async request(request) {
      const { pathname, searchParams: query } = new URL(request.path, "http://server");
      const name = pathname.slice(pathname.lastIndexOf("/") + 1);
      const id = idOf({ method: request.method, name, query });
      const act = id === undefined ? undefined : acts.get(id);
      if (id !== undefined && act) {
        acts.delete(id);
        await act();
      }
      return await next.request(request);
    },
  });
  return { acts, interceptor };
}
