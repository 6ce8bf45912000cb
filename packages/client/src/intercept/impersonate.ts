import type { Impersonation } from "../kubeconfig/kubeconfig.ts";
import type { Interceptor } from "../transport.ts";

/**
 * Acts as someone else. The credentials' own user needs the `impersonate` verb on users, groups,
 * uids and userextras.
 */
export function impersonate(as: Impersonation): Interceptor {
  const headers: Record<string, string | readonly string[]> = {};
  if (as.user !== undefined) headers["impersonate-user"] = as.user;
  if (as.uid !== undefined) headers["impersonate-uid"] = as.uid;
  if (as.groups?.length) headers["impersonate-group"] = as.groups;
  for (const [key, values] of as.extra ?? [])
    headers[`impersonate-extra-${encodeHeaderName(key.toLowerCase())}`] = values;
  return (next) => ({
    request: (request) => next.request({ ...request, headers: { ...request.headers, ...headers } }),
    close: () => next.close(),
  });
}

/**
 * Keys such as `example.com/team` are no header names: what does not fit is percent-encoded, as the
 * server expects.
 */
function encodeHeaderName(key: string): string {
  return Array.from(Buffer.from(key, "utf8"), (byte) => {
    const char = String.fromCharCode(byte);
    return /[a-z0-9!#$&'*+\-.^_`|~]/.test(char)
      ? char
      : `%${byte.toString(16).padStart(2, "0").toUpperCase()}`;
  }).join("");
}
