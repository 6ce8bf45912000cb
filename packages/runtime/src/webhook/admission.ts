import type { AnyKind, InputOf, ObjectOf } from "@windlass/client";
import { apiVersionOf } from "@windlass/client";
import { isRecord } from "@windlass/kinds/json";
import type { Logger } from "../logging/logger.ts";
import type { NothingElse } from "../reconcile/exact.ts";
import { jsonPatch } from "./json-patch.ts";
import { Refusal, statusFor } from "./refusal.ts";
import { BadReview, textOf } from "./review.ts";

/** What is being done to the object. Patches and applies come as one of these too. */
export type Operation = "CREATE" | "UPDATE" | "DELETE";

/** Who asked. */
export interface RequestUser {
  readonly username: string;
  readonly uid?: string;
  readonly groups: readonly string[];
  readonly extra: Readonly<Record<string, readonly string[]>>;
}

/** What an admission handler is handed besides the object. All members may be taken out. */
export interface AdmissionContext<T> {
  readonly operation: Operation;
  /** The object as it is stored; absent when it is being created. */
  readonly old: T | undefined;
  /** Nothing will be stored: a handler must then leave the world alone. */
  readonly dryRun: boolean;
  readonly user: RequestUser;
  /** Empty when the name is yet to be generated. */
  readonly name: string;
  readonly namespace: string | undefined;
  /** E.g. `status`, `scale`; absent for the object itself. */
  readonly subresource: string | undefined;
  /**
   * Has the requester see a line beside the answer. Under 120 characters is best; `kubectl` prints
   * it as `Warning: …`.
   */
  warn(message: string): void;
  readonly log: Logger;
  /** Aborted shortly before the API server stops waiting, and when it has gone. */
  readonly signal: AbortSignal;
}

type ValidationResult = Refusal | readonly (Refusal | undefined | false)[] | undefined | false;

/**
 * Says whether a request may go on: by nothing, by a refusal, or by several; false counts as
 * nothing: `spec.min > spec.max && invalid("spec.min", "…")`. On DELETE the object is the one to be
 * deleted. May be called more than once for a request, and for requests that then
 * fail elsewhere.
 */
export type Validate<K extends AnyKind> = (
  object: ObjectOf<K>,
  context: AdmissionContext<ObjectOf<K>>,
) => ValidationResult | void | Promise<ValidationResult> | Promise<void>;

/** What a `Default` may return. */
export type Completed<K extends AnyKind> = InputOf<K> | ObjectOf<K> | Nothing;

/** What a function returns that returns nothing. */
type Nothing = ReturnType<() => void> | undefined;

/**
 * Completes an object: by a changed copy, or by nothing if it is fine as it is. Must come to the
 * same for its own result, since the API server may ask again. Refuses by throwing.
 */
export type Default<K extends AnyKind, Result = Completed<K>> = (
  object: ObjectOf<K>,
  context: AdmissionContext<ObjectOf<K>>,
) => Result | Promise<Result>;

/**
 * Makes the compiler refuse a `Default` that returns fields which the kind does not have: the API
 * server would drop them without a word.
 */
export type Completing<K extends AnyKind, Result> = unknown extends Result
  ? unknown
  : NothingElse<Extract<Result, object>, InputOf<K> | ObjectOf<K>>;

/** One webhook of a kind. */
export type AdmissionHandler =
  | { readonly type: "validate"; readonly kind: AnyKind; readonly run: Validate<AnyKind> }
  | { readonly type: "default"; readonly kind: AnyKind; readonly run: Default<AnyKind> };

/** What is answered to an AdmissionReview, in its `response`. */
export interface AdmissionResponse {
  readonly uid: string;
  readonly allowed: boolean;
  readonly status?: object;
  readonly warnings?: readonly string[];
  readonly patchType?: "JSONPatch";
  /** In base64. */
  readonly patch?: string;
}

/** What surrounds one request. */
export interface AdmissionDependencies {
  readonly log: Logger;
  readonly signal: AbortSignal;
}

/**
 * Decides one request.
 *
 * @throws BadReview when the request is not one for this webhook; whatever a handler throws that is
 *   no refusal.
 */
export async function admit(
  handler: AdmissionHandler,
  request: Readonly<Record<string, unknown>>,
  dependencies: AdmissionDependencies,
): Promise<AdmissionResponse> {
  const uid = textOf(request.uid);
  const operation = operationOf(request.operation);
  const object = frozen(objectOf(request, operation === "DELETE" ? "oldObject" : "object", handler.kind));
  const old =
    operation === "CREATE" || !isRecord(request.oldObject)
      ? undefined
      : operation === "DELETE"
        ? object
        : frozen(objectOf(request, "oldObject", handler.kind));
  const name = textOf(request.name) || textOf((object.metadata as { name?: unknown } | undefined)?.name);
  const namespace = textOf(request.namespace) || undefined;
  const warnings: string[] = [];
  const context: AdmissionContext<ObjectOf<AnyKind>> = {
    operation,
    old: old as ObjectOf<AnyKind> | undefined,
    dryRun: request.dryRun === true,
    user: userOf(request.userInfo),
    name,
    namespace,
    subresource: textOf(request.subResource) || undefined,
    warn: (message) => void warnings.push(message),
    log: dependencies.log,
    signal: dependencies.signal,
  };
  const told = () => (warnings.length === 0 ? {} : { warnings });
  let result: unknown;
  try {
    result = await handler.run(object as unknown as ObjectOf<AnyKind>, context);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    result = error;
  }
  const refusals = refusalsIn(result);
  if (refusals.length > 0) {
    const { group, kind } = handler.kind;
    return { uid, allowed: false, status: statusFor(refusals, { group, kind, name }), ...told() };
  }
  if (handler.type === "validate") {
    if (result !== undefined && result !== false && !Array.isArray(result))
      throw new TypeError(
        `a validate handler must return nothing, a refusal or a list of refusals, and returned ${shown(result)}`,
      );
    return { uid, allowed: true, ...told() };
  }
  return { uid, allowed: true, ...told(), ...patchFor(object, result) };
}

function refusalsIn(result: unknown): readonly Refusal[] {
  if (result instanceof Refusal) return [result];
  if (!Array.isArray(result)) return [];
  const given = result.filter((one) => one !== undefined && one !== false);
  const refusals = given.filter((one) => one instanceof Refusal);
  if (refusals.length < given.length)
    throw new TypeError(
      "a list that a handler returns must hold refusals alone, as invalid() and deny() make them",
    );
  return refusals;
}

function patchFor(before: object, result: unknown): Pick<AdmissionResponse, "patch" | "patchType"> {
  if (result === undefined) return {};
  if (!isRecord(result))
    throw new TypeError(`a default handler must return an object or nothing, and returned ${shown(result)}`);
  // By way of text: what the server receives is JSON, where undefined is absent and a Date is a
  // string.
  const after: unknown = JSON.parse(JSON.stringify(result));
  const patch = jsonPatch(before, after);
  if (patch.length === 0) return {};
  return { patchType: "JSONPatch", patch: Buffer.from(JSON.stringify(patch)).toString("base64") };
}

const operations: ReadonlySet<unknown> = new Set<Operation>(["CREATE", "UPDATE", "DELETE"]);

function operationOf(value: unknown): Operation {
  if (!operations.has(value))
    throw new BadReview(`request.operation ${shown(value)} must be CREATE, UPDATE or DELETE`);
  return value as Operation;
}

function objectOf(
  request: Readonly<Record<string, unknown>>,
  field: "object" | "oldObject",
  kind: AnyKind,
): Readonly<Record<string, unknown>> {
  const object = request[field];
  if (!isRecord(object)) throw new BadReview(`request.${field} must be an object, and is ${shown(object)}`);
  const wanted = apiVersionOf(kind);
  if (textOf(request.subResource) === "" && (object.apiVersion !== wanted || object.kind !== kind.kind))
    throw new BadReview(
      `request.${field} is a ${textOf(object.apiVersion)} ${textOf(object.kind)}, and this webhook is for ${wanted} ${kind.kind}; with matchPolicy: Equivalent and that version alone in its rules the API server converts`,
    );
  return object;
}

function userOf(info: unknown): RequestUser {
  const { username, uid, groups, extra } = isRecord(info) ? info : {};
  return {
    username: textOf(username),
    ...(typeof uid === "string" ? { uid } : {}),
    groups: Array.isArray(groups) ? groups.map(String) : [],
    extra: (isRecord(extra) ? extra : {}) as RequestUser["extra"],
  };
}

/** So that changing the object in place, which would be lost, is an error where it is done. */
function frozen<T>(value: T): T {
  if (typeof value !== "object" || value === null) return value;
  for (const inner of Object.values(value)) frozen(inner);
  return Object.freeze(value);
}

function shown(value: unknown): string {
  return (JSON.stringify(value) ?? String(value)).slice(0, 100);
}
