import {
  type Clock,
  type Duration,
  milliseconds,
  type Random,
  sleep,
  systemClock,
  systemRandom,
} from "@windlass/clock";
import { discardBody, retryAfterSeconds } from "../body.ts";
import { TransportError } from "../errors.ts";
import type { Interceptor, TransportRequest, TransportResponse } from "../transport.ts";

/** How long and how often {@link retry} tries. */
export interface RetryOptions {
  /** How often a request is made at most, the first time included. @default 5 */
  readonly attempts?: number;
  /** A longer `Retry-After` is given back to the caller instead of waited for. @default "30s" */
  readonly longestWait?: Duration;
  /** Called before the wait of each retry. @default none */
  readonly onRetry?: (retry: Retry) => void;
  /** @default the system's */
  readonly clock?: Clock;
  /** @default the system's */
  readonly random?: Random;
}

/** A request that is about to be repeated. */
export interface Retry {
  readonly request: TransportRequest;
  /** The status of the answer, or the code of the error, that led to it. */
  readonly because: number | string;
  readonly waitMs: number;
  /** 1 for the first repetition. */
  readonly count: number;
}

const FIRST_WAIT_MS = 100;

/** The lowest status that a request may be repeated after. */
const TOO_MANY_REQUESTS = 429;

/**
 * Repeats requests where that is safe. Reads: on 429, 500, 502 and 503, and when the connection
 * broke. Writes: only on 429 and 5xx with a `Retry-After`, by which the server says that it did
 * nothing, and when the connection could not be made at all. Evictions are not repeated on 429, for
 * there it is the disruption budget's answer; nor is anything on 504, for then the server has
 * waited already.
 *
 * Waits what the server asks for, else 100 ms doubling; both up to half as long again, so that many
 * clients spread out.
 */
export function retry(options: RetryOptions = {}): Interceptor {
  const { attempts = 5, longestWait = "30s", clock = systemClock, random = systemRandom } = options;
  const longestWaitMs = milliseconds(longestWait, "retry: longestWait");

  return (next) => ({
    async request(request) {
      if (request.retry === "never") return next.request(request);
      for (let count = 1; ; count++) {
        let outcome: Outcome;
        try {
          const response = await next.request(request);
          if (response.status < TOO_MANY_REQUESTS) return response;
          outcome = { response };
        } catch (error) {
          outcome = { error };
        }
        const asked = askedWaitMs(outcome);
        const isLast = count >= attempts || (asked ?? 0) > longestWaitMs || request.signal?.aborted === true;
        if (isLast || !isSafe(request, outcome)) {
          if (outcome.response) return outcome.response;
          throw outcome.error;
        }
        const waitMs = Math.round((asked ?? FIRST_WAIT_MS * 2 ** (count - 1)) * (1 + random.next() / 2));
        if (outcome.response) await discardBody(outcome.response.body);
        const because = outcome.response?.status ?? codeOf(outcome.error);
        options.onRetry?.({ request, because, waitMs, count });
        await sleep(clock, waitMs, request.signal);
      }
    },
    close: () => next.close(),
  });
}

type Outcome =
  | { readonly response: TransportResponse; readonly error?: undefined }
  | { readonly response?: undefined; readonly error: unknown };

function askedWaitMs(outcome: Outcome): number | undefined {
  const seconds = outcome.response && retryAfterSeconds(outcome.response.headers);
  return seconds === undefined ? undefined : seconds * 1000;
}

function isSafe(request: TransportRequest, { response, error }: Outcome): boolean {
  const isRead = request.method === "GET";
  if (!response) {
    if (!(error instanceof TransportError)) return false;
    if (!isPassing(error)) return false;
    return isRead || !error.mayHaveBeenSent;
  }
  const { status } = response;
  if ((status !== TOO_MANY_REQUESTS && status < 500) || status === 504) return false;
  if (status === TOO_MANY_REQUESTS && /\/eviction(\?|$)/.test(request.path)) return false;
  if (retryAfterSeconds(response.headers) !== undefined) return true;
  return isRead && [429, 500, 502, 503].includes(status);
}

/** A certificate that is wrong now is wrong in a second. A timeout has waited long enough. */
function isPassing(error: TransportError): boolean {
  return [
    "CONNECTION_REFUSED",
    "CONNECTION_RESET",
    "CONNECTION_FAILED",
    "HOST_NOT_FOUND",
    "HOST_UNREACHABLE",
  ].includes(error.code);
}

function codeOf(error: unknown): string {
  return error instanceof TransportError ? error.code : "unknown";
}
