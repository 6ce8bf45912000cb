import type { Resource } from "../registry/resource.ts";
import { StatusError } from "../status.ts";

/** The path is served, but not by this method. */
export function methodNotAllowed(): StatusError {
  return new StatusError({
    code: 405,
    reason: "MethodNotAllowed",
    message: "the server does not allow this method on the requested resource",
    details: {},
  });
}

/** The same of a custom kind, which another part of the real server answers for. */
export function notSupported(verb: string, { info }: Resource): StatusError {
  return new StatusError({
    code: 405,
    reason: "MethodNotAllowed",
    message: `${verb} is not supported on resources of kind "${info.plural}.${info.group}"`,
    details: { group: info.group, kind: info.plural },
  });
}

/** There is no such resource, whatever its name. */
export function resourceNotFound(): StatusError {
  return new StatusError({
    code: 404,
    reason: "NotFound",
    message: "the server could not find the requested resource",
    details: {},
  });
}
