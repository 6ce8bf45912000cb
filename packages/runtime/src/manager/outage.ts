import { type Interceptor, TransportError, type TransportErrorCode } from "@windlass/client";
import type { Clock } from "@windlass/clock";
import { type LogHistory, step as remind } from "../logging/log-throttle.ts";
import type { Logger } from "../logging/logger.ts";

/** Why nothing can be had from the server. `code` is an error code of the client's. */
export interface OutageCause {
  readonly code: TransportErrorCode | "API_UNAUTHORIZED";
  readonly message: string;
}

/** How the server is seen, by all requests together. */
export type Reach =
  | { readonly at: "up" }
  /** One request failed. The next one shows whether that was all. */
  | { readonly at: "doubt" }
  | {
      readonly at: "out";
      readonly since: number;
      readonly group: string;
      readonly failures: number;
      readonly history: LogHistory;
    };

/** The outcome of a request, as far as it shows whether a server answers. */
export type ReachEvent =
  | { readonly type: "answered" }
  | { readonly type: "failed"; readonly cause: OutageCause };

/** A line to log. */
export type OutageLine =
  | {
      readonly says: "out" | "still out";
      readonly cause: OutageCause;
      readonly failures: number;
      readonly forMs: number;
    }
  | { readonly says: "back"; readonly failures: number; readonly forMs: number };

/**
 * Decides what a request's end means for the server's reach, and whether a line is logged. Pure.
 */
export function step(
  state: Reach,
  event: ReachEvent,
  now: number,
): { readonly state: Reach; readonly line?: OutageLine } {
  if (event.type === "answered") {
    if (state.at !== "out") return { state: { at: "up" } };
    const { failures, since } = state;
    return { state: { at: "up" }, line: { says: "back", failures, forMs: now - since } };
  }
  const { cause } = event;
  const group = groupOf(cause.code);
  if (state.at === "up" && group === "silence") return { state: { at: "doubt" } };
  if (state.at !== "out") {
    const failures = state.at === "doubt" ? 2 : 1;
    return {
      state: { at: "out", since: now, group, failures, history: remind(undefined, now).history },
      line: { says: "out", cause, failures, forMs: 0 },
    };
  }
  const failures = state.failures + 1;
  const forMs = now - state.since;
  if (group !== state.group)
    return {
      state: { ...state, group, failures, history: remind(undefined, now).history },
      line: { says: "out", cause, failures, forMs },
    };
  const { history, decision } = remind(state.history, now);
  const next = { ...state, failures, history };
  return decision.as === "suppressed"
    ? { state: next }
    : { state: next, line: { says: "still out", cause, failures, forMs } };
}

/**
 * What stands for one cause: a server that goes down resets, then refuses, then times out, and that
 * is one story.
 */
function groupOf(code: OutageCause["code"]): string {
  if (code === "API_UNAUTHORIZED" || code === "CLIENT_CERTIFICATE_REJECTED" || code === "CREDENTIALS_FAILED")
    return "credentials";
  if (code.startsWith("CERTIFICATE_") || code.startsWith("TLS_")) return "tls";
  return "silence";
}

/**
 * Watches all requests of a manager for a failure that they share: no server answers, or none
 * accepts the credentials. Logs it once, again after ever longer pauses while it lasts, and when it
 * is over, so that no kind and no reconcile has to.
 */
export class Outage {
  readonly #clock: Pick<Clock, "monotonic">;
  readonly #log: Logger;
  #state: Reach = { at: "up" };

  constructor(clock: Pick<Clock, "monotonic">, log: Logger) {
    this.#clock = clock;
    this.#log = log;
  }

  /** Whether the outage was logged, and its end was not. */
  get isOn(): boolean {
    return this.#state.at === "out";
  }

  /**
   * Whether it was logged, or the next request will have it logged unless it is answered.
   */
  get isLikely(): boolean {
    return this.#state.at !== "up";
  }

  /** Stands where each repetition of a request is seen by itself. */
  readonly watch: Interceptor = (next) => ({
    request: async (request) => {
      try {
        const response = await next.request(request);
        this.#on(response.status === 401 ? { type: "failed", cause: unauthorized } : { type: "answered" });
        return response;
      } catch (error) {
        if (error instanceof TransportError && error.code !== "RESPONSE_MALFORMED")
          this.#on({ type: "failed", cause: { code: error.code, message: withoutPath(error.message) } });
        throw error;
      }
    },
    close: () => next.close(),
  });

  #on(event: ReachEvent): void {
    const { state, line } = step(this.#state, event, this.#clock.monotonic());
    this.#state = state;
    if (line) this.#say(line);
  }

  #say(line: OutageLine): void {
    const { failures } = line;
    const seconds = Math.round(line.forMs / 1000);
    if (line.says === "back") {
      this.#log.info({ failures, seconds }, `the API server answers again, after ${seconds} s`);
      return;
    }
    const { code, message } = line.cause;
    const words =
      line.says === "out"
        ? "the API server is out of reach; trying again until it is back"
        : `the API server is still out of reach, after ${seconds} s and ${failures} requests`;
    this.#log.error({ code, failures, error: message }, words);
  }
}

const unauthorized: OutageCause = {
  code: "API_UNAUTHORIZED",
  message:
    "the server does not accept the credentials: they are missing, wrong or expired; log in again or renew them",
};

/** The server and its fault, without the request that happened to find it. */
function withoutPath(message: string): string {
  return message.replace(/^[A-Z]+ (https?:\/\/[^/\s]+)\S*: /, "$1: ").replace(/^[A-Z]+ \/\S*: /, "");
}
