import type { ListMeta } from "@windlass/kinds";

/**
 * Every error this package throws has one of these codes in `error.code`. They do not change
 * between releases; messages may. The text says what happened and what the reader can do.
 */
export const errorCodes = {
  // The server answered, with a Status.
  API_BAD_REQUEST:
    "400. The request does not parse or has impossible parameters. Correct the object or option named.",
  API_UNAUTHORIZED:
    "401. The credentials are missing, wrong or expired. Log in again, or renew the token or certificate.",
  API_FORBIDDEN:
    "403. The user is known but may not do this. Grant the verb on the resource with a Role or ClusterRole.",
  API_NOT_FOUND: "404. No such object, or no such resource: is its CustomResourceDefinition installed?",
  API_METHOD_NOT_ALLOWED: "405. The resource does not have this verb.",
  API_NOT_ACCEPTABLE: "406. The server cannot answer in the form asked for, such as metadata only.",
  API_ALREADY_EXISTS: "409. An object of that name exists. Update or apply it, or choose another name.",
  API_CONFLICT:
    "409. The object changed since it was read, or another field manager owns a field. Read again and retry, or apply with force.",
  API_GONE: "410. The resource version or continue token is too old. List again.",
  API_TOO_LARGE: "413. The object is larger than the server takes. Split it.",
  API_UNSUPPORTED_MEDIA_TYPE:
    "415. The kind does not take this patch format; custom resources have no strategic merge.",
  API_INVALID: "422. The object breaks a rule of its schema or of admission. Correct the fields in `causes`.",
  API_TOO_MANY_REQUESTS:
    "429. The server is shedding load, or a disruption budget says no. Wait `retryAfterSeconds`.",
  API_INTERNAL:
    "500. The server failed. Its log says why; often a webhook or a conversion that does not answer.",
  API_UNAVAILABLE: "503. The server, or the aggregated API behind it, is not ready. Wait and retry.",
  API_TIMEOUT:
    "504. The server gave up waiting. Retry; for a resource version from the future, a little later.",
  API_OTHER: "Any other refusal. `status` has all that the server said.",

  // The server did not answer, or not in HTTP and JSON.
  CONNECTION_REFUSED: "Nothing listens at that address. Is the server up, and is the address right?",
  CONNECTION_RESET: "The peer ended the connection in the middle. Retry if the request is safe to repeat.",
  CONNECTION_FAILED: "The connection could not be made. `cause` has what the operating system said.",
  HOST_NOT_FOUND: "The server's name does not resolve. Check the name, the DNS and the network.",
  HOST_UNREACHABLE: "No route to the server. Check the network, the VPN and the firewall.",
  CERTIFICATE_EXPIRED: "The server's certificate has expired. Renew it, or correct this machine's clock.",
  CERTIFICATE_UNTRUSTED:
    "The server's certificate is not signed by the CA in use. Set certificate-authority.",
  CERTIFICATE_NAME_MISMATCH:
    "The server's certificate is for other names. Use one of them, or set tls-server-name.",
  CLIENT_CERTIFICATE_REJECTED: "The server refused the client certificate. Renew it.",
  TLS_FAILED: "TLS could not be agreed upon. Is the port one that speaks TLS?",
  TLS_MATERIAL_INVALID:
    "A CA, certificate or key does not parse, or key and certificate do not belong together.",
  PROXY_FAILED:
    "The proxy refused or failed to connect to the server. Check proxy-url or HTTPS_PROXY, and NO_PROXY.",
  TIMEOUT_CONNECT: "No connection in time. Check the address, the network and the firewall.",
  TIMEOUT_HEADERS: "Connected, but no answer in time. The server may be overloaded.",
  TIMEOUT_IDLE: "The stream was silent for longer than allowed, so the peer counts as dead. Connect again.",
  TIMEOUT_BODY: "The answer came, but too slowly to its end. Check the network, or ask for pages by `limit`.",
  RESPONSE_TOO_LARGE:
    "The answer is larger than what is read into memory. Ask for pages by `limit`, or raise `maxResponseBytes`.",
  RESPONSE_MALFORMED:
    "The answer is not what a Kubernetes API sends. Is it an API server that answers there?",

  // Before any request.
  CREDENTIALS_FAILED: "The credentials could not be had: an exec plugin or a token file failed.",
  KUBECONFIG_INVALID: "The kubeconfig has a fault in the field that the message names.",
  KUBECONFIG_NOT_FOUND: "No kubeconfig and no service account. Set KUBECONFIG, or pass one.",
  SELECTOR_INVALID: "The label selector does not parse.",
} as const;

/** One of the keys of {@link errorCodes}. */
export type ErrorCode = keyof typeof errorCodes;

/** The codes of errors that carry the server's Status. */
export type ApiErrorCode = Extract<ErrorCode, `API_${string}`>;

/** The codes of errors for which there is no Status, because no server answered. */
export type TransportErrorCode = Exclude<
  ErrorCode,
  ApiErrorCode | `KUBECONFIG_${string}` | "SELECTOR_INVALID"
>;

/** What an API server says about a request that it refused (`kind: Status`). */
export interface Status {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata?: ListMeta;
  readonly status?: string;
  readonly message?: string;
  /** One word for programs, e.g. `NotFound`, `Conflict`, `Expired`. */
  readonly reason?: string;
  readonly details?: StatusDetails;
  /** The HTTP status code. */
  readonly code?: number;
}

/** Which object a Status is about, and the single faults behind it. */
export interface StatusDetails {
  readonly name?: string;
  readonly group?: string;
  /** The plural resource for storage errors, the Kind for validation errors. */
  readonly kind?: string;
  readonly uid?: string;
  readonly causes?: readonly StatusCause[];
  readonly retryAfterSeconds?: number;
}

/** One fault of several: a field that is invalid, a manager that owns a field. */
export interface StatusCause {
  readonly reason?: string;
  readonly message?: string;
  /** Path of the field at fault, e.g. `spec.containers[0].image`. */
  readonly field?: string;
}

/**
 * The server answered, and said no. Ask what it was with {@link isNotFound} and its siblings rather
 * than by comparing numbers: servers and proxies differ in which of code and reason they fill in.
 */
export class ApiError extends Error {
  override readonly name = "ApiError";
  readonly code: ApiErrorCode;
  readonly status: Status;

  /** @param request what was asked, e.g. `GET /api/v1/pods`; it leads the message. */
  constructor(status: Status, request?: string) {
    const said = explainStatus(status);
    super(request === undefined ? said : `${request}: ${said}`);
    this.status = status;
    this.code = codeOf(status);
  }

  /** The HTTP status code; 0 if the server did not say. */
  get statusCode(): number {
    return this.status.code ?? 0;
  }

  /** The Status' reason; empty if the server did not say. */
  get reason(): string {
    return this.status.reason ?? "";
  }

  /** The single faults behind a validation error or conflict. */
  get causes(): readonly StatusCause[] {
    return this.status.details?.causes ?? [];
  }

  /** How long the server asks to wait before the next try. */
  get retryAfterSeconds(): number | undefined {
    return this.status.details?.retryAfterSeconds;
  }
}

/**
 * What a Status says, in words to act upon: the server's own, with the way out where they lack one.
 */
export function explainStatus(status: Status): string {
  const code = codeOf(status);
  if (code === "API_UNAUTHORIZED")
    return "the server does not accept the credentials: they are missing, wrong or expired; log in again or renew them";
  if (code === "API_NOT_FOUND" && !status.details?.name)
    return "the server serves no such resource; are group, version and plural right, and its CustomResourceDefinition installed?";
  const said = status.message || status.reason || `status ${status.code ?? "unknown"}`;
  const denied = denialIn(status);
  return denied ? `${said}; ${wayOut(denied)}` : said;
}

/** A right that a user lacks. */
export interface DeniedAccess {
  readonly user: string;
  readonly verb: string;
  /** The plural, with its subresource if one was asked for: `deployments/status`. */
  readonly resource: string;
  /** Empty for the core group. */
  readonly group: string;
  /** Undefined if the right is missing in the whole cluster. */
  readonly namespace?: string;
}

const DENIED =
  /is forbidden: User "(?<user>[^"]*)" cannot (?<verb>[a-z]+) resource "(?<resource>[^"]+)" in API group "(?<group>[^"]*)" (?:in the namespace "(?<namespace>[^"]+)"|at the cluster scope)/;

/**
 * The right that was missing, where the server's authorizer refused for lack of one. Undefined for
 * everything else, such as the 403 of an admission plugin or a quota.
 */
export function deniedAccess(error: unknown): DeniedAccess | undefined {
  const status = statusOf(error);
  return status && denialIn(status);
}

function denialIn(status: Status): DeniedAccess | undefined {
  if (typeof status.message !== "string" || codeOf(status) !== "API_FORBIDDEN") return undefined;
  const found = DENIED.exec(status.message)?.groups;
  if (!found) return undefined;
  const { user = "", verb = "", resource = "", group = "", namespace } = found;
  return { user, verb, resource, group, ...(namespace === undefined ? {} : { namespace }) };
}

/** The rule to add, in the form in which it is written into a role, and to whom to give it. */
function wayOut({ user, verb, resource, group, namespace }: DeniedAccess): string {
  const [, accountNamespace, account] = /^system:serviceaccount:([^:]+):([^:]+)$/.exec(user) ?? [];
  const subject = account ? `ServiceAccount ${accountNamespace}/${account}` : `User ${user}`;
  const rule = `{apiGroups: ["${group}"], resources: ["${resource}"], verbs: ["${verb}"]}`;
  return namespace === undefined
    ? `grant it: a ClusterRole with the rule ${rule}, bound to ${subject} by a ClusterRoleBinding`
    : `grant it: a Role in namespace ${namespace} with the rule ${rule}, bound to ${subject} by a RoleBinding`;
}

/**
 * No server answered, or what answered was no API server. `cause` has the error of the layer below,
 * where there is one.
 */
export class TransportError extends Error {
  override readonly name = "TransportError";
  readonly code: TransportErrorCode;
  /**
   * False when the request certainly did not reach the server, so that even a write may be
   * repeated.
   */
  readonly mayHaveBeenSent: boolean;
  /** The configuration that the message names as the place of the fault, if it names one. */
  readonly configuredBy: string | undefined;

  constructor(
    code: TransportErrorCode,
    message: string,
    options: {
      readonly cause?: unknown;
      readonly mayHaveBeenSent?: boolean;
      readonly configuredBy?: string;
    } = {},
  ) {
    super(message, "cause" in options ? { cause: options.cause } : undefined);
    this.code = code;
    this.mayHaveBeenSent = options.mayHaveBeenSent ?? true;
    this.configuredBy = options.configuredBy;
  }
}

/**
 * A kubeconfig that cannot be used. The message is one line: the file, the path of the field, the
 * fault, the way out.
 */
export class KubeconfigError extends Error {
  override readonly name = "KubeconfigError";
  readonly code: "KUBECONFIG_INVALID" | "KUBECONFIG_NOT_FOUND";

  constructor(code: "KUBECONFIG_INVALID" | "KUBECONFIG_NOT_FOUND", message: string) {
    super(message);
    this.code = code;
  }
}

const reasonCodes = new Map<string, ApiErrorCode>([
  ["BadRequest", "API_BAD_REQUEST"],
  ["Unauthorized", "API_UNAUTHORIZED"],
  ["Forbidden", "API_FORBIDDEN"],
  ["NotFound", "API_NOT_FOUND"],
  ["MethodNotAllowed", "API_METHOD_NOT_ALLOWED"],
  ["NotAcceptable", "API_NOT_ACCEPTABLE"],
  ["AlreadyExists", "API_ALREADY_EXISTS"],
  ["Conflict", "API_CONFLICT"],
  ["Gone", "API_GONE"],
  ["Expired", "API_GONE"],
  ["RequestEntityTooLarge", "API_TOO_LARGE"],
  ["UnsupportedMediaType", "API_UNSUPPORTED_MEDIA_TYPE"],
  ["Invalid", "API_INVALID"],
  ["TooManyRequests", "API_TOO_MANY_REQUESTS"],
  ["InternalError", "API_INTERNAL"],
  ["ServiceUnavailable", "API_UNAVAILABLE"],
  ["Timeout", "API_TIMEOUT"],
  ["ServerTimeout", "API_TIMEOUT"],
]);

const statusCodes = new Map<number, ApiErrorCode>([
  [400, "API_BAD_REQUEST"],
  [401, "API_UNAUTHORIZED"],
  [403, "API_FORBIDDEN"],
  [404, "API_NOT_FOUND"],
  [405, "API_METHOD_NOT_ALLOWED"],
  [406, "API_NOT_ACCEPTABLE"],
  [409, "API_CONFLICT"],
  [410, "API_GONE"],
  [413, "API_TOO_LARGE"],
  [415, "API_UNSUPPORTED_MEDIA_TYPE"],
  [422, "API_INVALID"],
  [429, "API_TOO_MANY_REQUESTS"],
  [500, "API_INTERNAL"],
  [502, "API_UNAVAILABLE"],
  [503, "API_UNAVAILABLE"],
  [504, "API_TIMEOUT"],
]);

/** The reason decides where it is one that Kubernetes defines; else the number does. */
function codeOf(status: Status): ApiErrorCode {
  return reasonCodes.get(status.reason ?? "") ?? statusCodes.get(status.code ?? 0) ?? "API_OTHER";
}

/**
 * The Status within an `ApiError`, or the value itself where it is one, as in the ERROR event of a
 * watch. All guards below look through this, so they work on both.
 */
export function statusOf(value: unknown): Status | undefined {
  if (value instanceof ApiError) return value.status;
  if (typeof value !== "object" || value === null || !("kind" in value) || value.kind !== "Status")
    return undefined;
  return value as Status;
}

function is(value: unknown, ...codes: readonly ApiErrorCode[]): boolean {
  const status = statusOf(value);
  return status !== undefined && codes.includes(codeOf(status));
}

/** No such object, or no such resource. */
export const isNotFound = (error: unknown): boolean => is(error, "API_NOT_FOUND");

/**
 * What a request gives, or undefined if there is no such object or resource. Other errors are
 * thrown as they are.
 *
 * @example
 * const settings = await ignoreNotFound(client.get(ConfigMap, key));
 */
export async function ignoreNotFound<T>(request: Promise<T>): Promise<T | undefined> {
  try {
    return await request;
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

/**
 * No such resource: the kind, its version or the subresource is not served, as when its CRD is not
 * installed.
 */
export function isNotServed(error: unknown): boolean {
  return isNotFound(error) && !statusOf(error)?.details?.name;
}

/** A create met an object of the same name. */
export const isAlreadyExists = (error: unknown): boolean => is(error, "API_ALREADY_EXISTS");

/**
 * The object changed since it was read, a precondition failed, or another manager owns a field that
 * was applied.
 */
export const isConflict = (error: unknown): boolean => is(error, "API_CONFLICT");

/**
 * The resource version or continue token is too old: 410 as an answer or in a watch, `Gone` or
 * `Expired`.
 */
export const isGone = (error: unknown): boolean => is(error, "API_GONE");

/** The user is known but may not. */
export const isForbidden = (error: unknown): boolean => is(error, "API_FORBIDDEN");

/** The credentials are missing, wrong or expired. */
export const isUnauthorized = (error: unknown): boolean => is(error, "API_UNAUTHORIZED");

/** The object breaks a rule of its schema or of admission; `causes` has the fields. */
export const isInvalid = (error: unknown): boolean => is(error, "API_INVALID");

/** The request itself is malformed. */
export const isBadRequest = (error: unknown): boolean => is(error, "API_BAD_REQUEST");

/** The server sheds load, or a disruption budget forbids an eviction. */
export const isTooManyRequests = (error: unknown): boolean => is(error, "API_TOO_MANY_REQUESTS");

/** The server failed inside. */
export const isInternalError = (error: unknown): boolean => is(error, "API_INTERNAL");

/** The server, or an aggregated API behind it, is not ready. */
export const isServiceUnavailable = (error: unknown): boolean => is(error, "API_UNAVAILABLE");

/** The kind does not take the patch format that was sent. */
export const isUnsupportedMediaType = (error: unknown): boolean => is(error, "API_UNSUPPORTED_MEDIA_TYPE");

/** The server ran out of time; the write may or may not have happened. */
export const isTimeout = (error: unknown): boolean =>
  is(error, "API_TIMEOUT") && statusOf(error)?.reason !== "ServerTimeout";

/** The server cannot answer within its own time limit now and asks to try again. */
export const isServerTimeout = (error: unknown): boolean => statusOf(error)?.reason === "ServerTimeout";

/** A read asked for a resource version that the server has not reached yet. */
export function isResourceVersionTooLarge(error: unknown): boolean {
  return hasCause(error, "ResourceVersionTooLarge");
}

/** A create was refused because its namespace is being deleted. */
export function isNamespaceTerminating(error: unknown): boolean {
  return hasCause(error, "NamespaceTerminating");
}

function hasCause(error: unknown, reason: string): boolean {
  const causes = statusOf(error)?.details?.causes;
  return Array.isArray(causes) && causes.some((cause) => cause?.reason === reason);
}
