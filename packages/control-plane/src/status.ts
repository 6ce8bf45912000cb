import type { JsonObject } from "./json.ts";
import { nextTurn, type Steps, TurnBudget } from "./steps.ts";

/** One field's fault, as `details.causes` lists it. */
export interface Cause {
  readonly reason?: string;
  readonly message?: string;
  readonly field?: string;
}

export interface StatusDetails {
  readonly name?: string;
  readonly group?: string;
  readonly kind?: string;
  readonly uid?: string;
  readonly causes?: readonly Cause[];
  readonly retryAfterSeconds?: number;
}

export interface StatusInit {
  readonly code: number;
  /** Absent where the real server sends none. */
  readonly reason?: string;
  readonly message: string;
  readonly details?: StatusDetails;
  /** Goes into the Status' own metadata; 410 answers carry a continue token there. */
  readonly metadata?: JsonObject;
}

/**
 * An answer that is a failure. Thrown anywhere below the HTTP layer, which sends it as a
 * `v1.Status`.
 */
export class StatusError extends Error {
  readonly code: number;
  readonly reason: string | undefined;
  readonly details: StatusDetails | undefined;
  readonly metadata: JsonObject;

  constructor(init: StatusInit) {
    super(init.message);
    this.name = "StatusError";
    this.code = init.code;
    this.reason = init.reason;
    this.details = init.details;
    this.metadata = init.metadata ?? {};
  }

  /** The object that goes over the wire. */
  toStatus(): JsonObject {
    const status: JsonObject = {
      kind: "Status",
      apiVersion: "v1",
      metadata: this.metadata,
      status: "Failure",
      message: this.message,
    };
    if (this.reason !== undefined) status.reason = this.reason;
    if (this.details !== undefined) status.details = { ...this.details } as JsonObject;
    status.code = this.code;
    return status;
  }
}

/** A JSON value that a Go type does not hold, as Go's decoder reports it. */
export interface TypeMismatch {
  /** The type of the JSON value: `number`, `string`, `bool`, `array`, `object`. */
  readonly given: string;
  /** The number as it was written, where it is out of range. */
  readonly literal?: string;
  /** The Go struct that has the field. */
  readonly struct: string;
  /** The JSON names of the fields that lead to the value; empty for the object itself. */
  readonly path: readonly string[];
  /** The Go type that was expected. */
  readonly type: string;
}

/** Why an object cannot be decoded. */
export interface DecodeFault {
  /** In the words of the decoder, which does not name the kind. */
  readonly message: string;
  readonly mismatch?: TypeMismatch | undefined;
}

/**
 * 400: a body that is not an object of the kind it should be. Patches, deletes and webhooks report
 * the fault alone.
 */
export class UndecodableError extends StatusError {
  readonly fault: DecodeFault;

  constructor(message: string, fault: DecodeFault) {
    super({ code: 400, reason: "BadRequest", message });
    this.fault = fault;
  }
}

/** The refusal of an object that cannot be decoded, by the kind and version that it says it has. */
export function cannotBeHandled(
  { kind, version }: { readonly kind: string; readonly version: string },
  fault: DecodeFault,
  expectedKind: string = kind,
): UndecodableError {
  const subject = `${kind} in version ${JSON.stringify(version)} cannot be handled as a ${expectedKind}`;
  return new UndecodableError(`${subject}: ${fault.message}`, fault);
}

/** The refusal of a body of which not even the kind can be read. */
export function unrecognized(expectedKind: string, why: string, excerpt: string): UndecodableError {
  const subject = `the object provided is unrecognized (must be of type ${expectedKind})`;
  return new UndecodableError(`${subject}: ${why} (${excerpt})`, { message: why });
}

/** A resource as errors name it: `deployments.apps "web"`. */
export interface ResourceName {
  readonly group: string;
  readonly resource: string;
}

function qualified({ group, resource }: ResourceName): string {
  return group === "" ? resource : `${resource}.${group}`;
}

export function notFound(of: ResourceName, name: string): StatusError {
  return new StatusError({
    code: 404,
    reason: "NotFound",
    message: `${qualified(of)} "${name}" not found`,
    details: details(of, name),
  });
}

export function alreadyExists(of: ResourceName, name: string): StatusError {
  return new StatusError({
    code: 409,
    reason: "AlreadyExists",
    message: `${qualified(of)} "${name}" already exists`,
    details: details(of, name),
  });
}

export function conflict(of: ResourceName, name: string, why: string): StatusError {
  return new StatusError({
    code: 409,
    reason: "Conflict",
    message: `Operation cannot be fulfilled on ${qualified(of)} "${name}": ${why}`,
    details: details(of, name),
  });
}

/** 422. `kind` is the Kind, not the plural: the real server names invalid objects that way. */
export function invalid(
  of: { readonly group: string; readonly kind: string },
  name: string,
  causes: readonly Cause[],
): StatusError {
  const messages = new Set<string>();
  for (const cause of causes) messages.add(messageOf(cause));
  return invalidFor(of, name, causes, messages);
}

/** As {@link invalid}, of many causes, with turns of the event loop in between. */
export function* invalidInSteps(
  of: { readonly group: string; readonly kind: string },
  name: string,
  causes: readonly Cause[],
): Steps<StatusError> {
  const messages = new Set<string>();
  const budget = new TurnBudget(20_000);
  for (const cause of causes) {
    messages.add(messageOf(cause));
    if (budget.spend(1)) yield nextTurn;
  }
  return invalidFor(of, name, causes, messages);
}

function messageOf({ field, message }: Cause): string {
  return `${field}: ${message}`;
}

function invalidFor(
  of: { readonly group: string; readonly kind: string },
  name: string,
  causes: readonly Cause[],
  messages: ReadonlySet<string>,
): StatusError {
  const list = [...messages].join(", ");
  const shown = messages.size === 1 ? list : `[${list}]`;
  return new StatusError({
    code: 422,
    reason: "Invalid",
    message: `${of.group === "" ? of.kind : `${of.kind}.${of.group}`} "${name}" is invalid: ${shown}`,
    details: {
      ...(name === "" ? {} : { name }),
      ...(of.group === "" ? {} : { group: of.group }),
      ...(of.kind === "" ? {} : { kind: of.kind }),
      causes,
    },
  });
}

export function badRequest(message: string): StatusError {
  return new StatusError({ code: 400, reason: "BadRequest", message });
}

export function namespaceMismatch(): StatusError {
  return badRequest("the namespace of the provided object does not match the namespace sent on the request");
}

export function forbidden(
  of: ResourceName,
  name: string,
  why: string,
  causes?: readonly Cause[],
): StatusError {
  return new StatusError({
    code: 403,
    reason: "Forbidden",
    message: `${qualified(of)} ${name === "" ? "" : `"${name}" `}is forbidden: ${why}`,
    details: { ...details(of, name), ...(causes ? { causes } : {}) },
  });
}

export function internalError(message: string): StatusError {
  return new StatusError({
    code: 500,
    reason: "InternalError",
    message: `Internal error occurred: ${message}`,
    details: { causes: [{ message }] },
  });
}

/**
 * 504, for work that takes the real server longer than its request timeout, and would block the
 * event loop here.
 */
export function timedOut(): StatusError {
  return new StatusError({
    code: 504,
    reason: "Timeout",
    message: "Timeout: request did not complete within requested timeout - context deadline exceeded",
    details: {},
  });
}

/**
 * 501 for what this server does not support. The reason distinguishes it from the real server's
 * errors.
 */
export function unsupported(what: string): StatusError {
  return new StatusError({
    code: 501,
    reason: "WindlassUnsupported",
    message: `the embedded control plane does not support ${what}`,
  });
}

function details({ group, resource }: ResourceName, name: string): StatusDetails {
  return { ...(name === "" ? {} : { name }), ...(group === "" ? {} : { group }), kind: resource };
}
