import {
  type AnyKind,
  explainStatus,
  isBadRequest,
  isForbidden,
  isGone,
  isInvalid,
  isNotFound,
  isResourceVersionTooLarge,
  isUnauthorized,
  type ListOptions,
  type ProtobufReader,
  statusOf,
  TransportError,
  type WatchOptions,
} from "@windlass/client";
import type { RequestFailure } from "./reflector.ts";

/** Lists and watches objects, as client-go's ListerWatcher does. A `Client` is one. */
export interface ListWatcher {
  /** A list as the bytes of its JSON. Leaving the iteration early ends the request. */
  listBytes(kind: AnyKind, options?: ListOptions): AsyncIterable<Uint8Array>;
  /**
   * A watch as its lines. A line may share memory with its neighbours, and is valid until the next
   * one is asked for.
   */
  watchLines(kind: AnyKind, options?: WatchOptions): AsyncIterable<Buffer>;
  /** The same as protobuf, from a source that has it. */
  readonly protobuf?: ProtobufReader | undefined;
}

const unreachable: ReadonlySet<TransportError["code"]> = new Set([
  "CONNECTION_REFUSED",
  "CONNECTION_RESET",
  "CONNECTION_FAILED",
  "HOST_NOT_FOUND",
  "HOST_UNREACHABLE",
  "TIMEOUT_CONNECT",
]);

/**
 * What an error of a request means for the reflector. Takes errors, and the Status of a watch's
 * ERROR event.
 */
export function requestFailureOf(error: unknown): RequestFailure {
  const status = statusOf(error);
  const message = status ? explainStatus(status) : error instanceof Error ? error.message : String(error);
  if (isGone(error)) return { is: "expired", message };
  if (isResourceVersionTooLarge(error)) return { is: "unreliable", message };
  if (isNotFound(error)) return { is: "missing", message };
  if (isBadRequest(error) || isInvalid(error)) return { is: "refused", message, forGood: true };
  if (isForbidden(error)) return { is: "refused", message, forGood: false };
  if (error instanceof TransportError && unreachable.has(error.code))
    return { is: "unreachable", message, isOutage: true };
  const isOutage =
    isUnauthorized(error) || (error instanceof TransportError && error.code !== "TIMEOUT_IDLE");
  const seconds = status?.details?.retryAfterSeconds;
  return {
    is: "passing",
    message,
    ...(isOutage ? { isOutage } : {}),
    ...(seconds === undefined ? {} : { retryAfterMs: seconds * 1000 }),
  };
}
