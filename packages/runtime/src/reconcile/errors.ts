import { ApiError, isConflict } from "@windlass/client";

const reasonPattern = /^[A-Za-z]([A-Za-z0-9_,:]{0,1022}[A-Za-z0-9_])?$/;

/** The reason of a failure that did not name one. */
const defaultReason = "ReconcileError";

/**
 * A failure with a reason of its own: one CamelCase word that the condition, the event, the metric
 * and the log all carry. Any error may be thrown from a reconciler; those without a reason get
 * `ReconcileError`, and those of the API server its own word, such as `Forbidden`.
 *
 * @example
 * throw new ReconcileError("ImageNotFound", `registry has no ${image}`);
 */
export class ReconcileError extends Error {
  override readonly name: string = "ReconcileError";
  readonly reason: string;

  /** @throws TypeError if the reason is not one that a condition may carry. */
  constructor(reason: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.reason = checkReason(reason);
  }
}

/**
 * A failure that trying again will not cure: the object is not retried until it changes. Make one
 * with {@link terminal}.
 */
export class TerminalError extends ReconcileError {
  override readonly name: string = "TerminalError";
}

/**
 * Marks a failure as final. The object is left alone until it, or something it watches, changes.
 *
 * @param reason One CamelCase word. @default the error's own reason
 * @example
 * throw terminal("spec.image has no registry", "ImageInvalid");
 */
export function terminal(error: unknown, reason?: string): TerminalError {
  const cause = error instanceof Error ? error : new Error(String(error));
  return new TerminalError(
    reason ?? reasonOf(error),
    cause.message,
    error instanceof Error ? { cause } : undefined,
  );
}

/**
 * The reconcile did not end within its time. Its signal has been aborted and its client refuses
 * further writes.
 */
export class ReconcileTimeoutError extends ReconcileError {
  override readonly name: string = "ReconcileTimeoutError";

  constructor(subject: string, controller: string, timeoutMs: number) {
    super(
      "ReconcileTimeout",
      `${subject}: the reconcile of controller ${controller} did not end within ${timeoutMs / 1000} s and was given up. Pass context.signal to what it waits for, or raise the controller's timeout.`,
    );
  }
}

/**
 * A reconciler returned what is no result. Final, for it is the program that must change: the
 * message names the field.
 */
export class ReconcileResultError extends TerminalError {
  override readonly name: string = "ReconcileResultError";

  constructor(message: string) {
    super("ReconcileResultInvalid", message);
  }
}

/** A child cannot be applied as it was returned. The message names the child and the way out. */
export class ChildError extends ReconcileError {
  override readonly name: string = "ChildError";
}

/**
 * A child is in the place that belongs to an earlier owner of the same name: Kubernetes deletes it,
 * for that owner no longer exists.
 */
export class NamesakeChildError extends ChildError {
  override readonly name: string = "NamesakeChildError";
}

/**
 * Several children cannot be applied. Reported under the reason of the first that a user can do
 * something about.
 */
export class ChildrenError extends ChildError {
  override readonly name: string = "ChildrenError";
  /** The outcome of each. */
  readonly causes: readonly unknown[];

  /** @param first the one to report under */
  constructor(causes: readonly unknown[], first: unknown) {
    super(reasonOf(first), causes.map(messageOf).join("; "), { cause: first });
    this.causes = causes;
  }
}

/** The single failures that an error stands for. */
export function causesOf(error: unknown): readonly unknown[] {
  return error instanceof ChildrenError ? error.causes : [error];
}

/** The outcome of a write: not sent, or sent and then cancelled as far as possible. */
export type FencedFate = "refused" | "given up";

/**
 * This process may not write: it is not, or may no longer be, the leader. A write that is refused
 * was not sent; a canceled write had no answer yet, and may have reached the server before. The
 * work is taken up by the current leader, or by this process once it leads again.
 */
export class FencedError extends Error {
  override readonly name = "FencedError";
  readonly code = "FENCED";
  readonly reason = "NotLeading";
  readonly fate: FencedFate;

  constructor(what: string, fate: FencedFate = "refused") {
    super(`${what} ${fate}: this process does not hold the lease at this moment, so another may be writing`);
    this.fate = fate;
  }
}

/**
 * The reconcile that this client was handed to is over: it ended, timed out, or its manager is
 * stopping. Nothing was sent.
 */
export class ReconcileOverError extends Error {
  override readonly name = "ReconcileOverError";
  readonly code = "RECONCILE_OVER";

  constructor(what: string, options?: ErrorOptions) {
    super(`${what} refused: the reconcile that asked for it is over`, options);
  }
}

/**
 * Whether a write was refused because the object is not the one, or not the version, that it was
 * made for. A conflict between field managers is not of this kind: it does not go away by itself.
 */
export function isOutdated(error: unknown): boolean {
  if (!(error instanceof ApiError)) return false;
  const { causes } = error;
  // Applying with the uid of an object that has been replaced by a namesake is refused as a change
  // of its uid.
  if (causes.some(({ field }) => field === "metadata.uid")) return true;
  return isConflict(error) && !causes.some(({ reason }) => reason === "FieldManagerConflict");
}

/** The reason that a failure is reported under, everywhere. */
export function reasonOf(error: unknown): string {
  if (error instanceof ApiError) return reasonPattern.test(error.reason) ? error.reason : "ApiError";
  if (error instanceof Error && "reason" in error && typeof error.reason === "string")
    return reasonPattern.test(error.reason) ? error.reason : defaultReason;
  return defaultReason;
}

/** @throws TypeError naming what a reason must look like. */
export function checkReason(reason: string): string {
  if (!reasonPattern.test(reason))
    throw new TypeError(
      `reason ${JSON.stringify(reason)} must be one CamelCase word (letters, digits, "_", "," or ":", starting with a letter)`,
    );
  return reason;
}

const frozen =
  /^Cannot (assign to read only property|add property|delete property|redefine property|define property)|object is not extensible/;

/**
 * The message of what a reconciler threw, with the way out where the engine's own words lack it: a
 * change to a frozen object is most often one to an object of the cache.
 */
export function explain(error: unknown): string {
  const message = messageOf(error);
  if (!(error instanceof TypeError && frozen.test(message))) return message;
  return `${message}. Objects from the cache are shared, and so are frozen: change a copy (structuredClone), or apply what should be different`;
}

/** The message of anything thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
