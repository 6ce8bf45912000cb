import { abortable } from "../abortable.ts";
import { discardBody, orDiscard } from "../body.ts";
import type { Credentials } from "../credential.ts";
import type { Interceptor } from "../transport.ts";

/**
 * Puts the credentials of the moment on each request. If the server refuses them (401) and others
 * can be had, the request is made once more with those: a 401 means that nothing was done, so this
 * is safe for writes too.
 */
export function authenticate(credentials: Credentials): Interceptor {
  return (next) => ({
    async request(request) {
      const current = credentials.current();
      // Most often they are known: then nothing is waited for.
      const used = current instanceof Promise ? await abortable(current, request.signal) : current;
      const response = await next.request(withAuthorization(request, used.authorization));
      if (response.status !== 401) return response;
      credentials.invalidate(used);
      const getting = Promise.resolve(credentials.current());
      const renewed = await orDiscard(response, abortable(getting, request.signal));
      if (renewed === used) return response;
      await discardBody(response.body);
      return next.request(withAuthorization(request, renewed.authorization));
    },
    close: () => next.close(),
  });
}

function withAuthorization<
  R extends { readonly headers: Readonly<Record<string, string | readonly string[]>> },
>(request: R, authorization: string | undefined): R {
  if (authorization === undefined) return request;
  return { ...request, headers: { ...request.headers, authorization } };
}
