import { channel } from "node:diagnostics_channel";
import { type Clock, systemClock } from "@windlass/clock";
import { TransportError } from "../errors.ts";
import type { Log } from "../log.ts";
import type { Interceptor, TransportRequest, TransportResponse } from "../transport.ts";

/**
 * The outcome of one request, when its answer began or failed to come. Holds no headers and no
 * body.
 */
export interface RequestOutcome {
  readonly method: TransportRequest["method"];
  /** Path and query. */
  readonly path: string;
  /** The server's host and port. */
  readonly host: string;
  /**
   * The HTTP status, or `<error>` when there was no answer, as `rest_client_requests_total` labels
   * it.
   */
  readonly code: string;
  /** The code of the error, when there was no answer. */
  readonly error?: string;
  readonly durationMs: number;
  readonly requestBytes: number;
}

/** An answer that was received to its end. */
export interface ResponseSize extends Pick<RequestOutcome, "method" | "path" | "host"> {
  /** Of the body, decompressed. */
  readonly responseBytes: number;
}

/** What {@link observe} calls. */
export interface ObserveOptions {
  /** The server's host and port, for the `host` label. */
  readonly host: string;
  /** @default none, only the diagnostics channel */
  readonly onOutcome?: (outcome: RequestOutcome) => void;
  /**
   * Told when a body was read to its end; of those left early, such as watches, nothing.
   *
   * @default none, and nothing is counted
   */
  readonly onResponseSize?: (size: ResponseSize) => void;
  /** Each request at level debug. @default none */
  readonly log?: Log;
  /** @default the system's */
  readonly clock?: Clock;
}

/** The `node:diagnostics_channel` on which every request's {@link RequestOutcome} is published. */
export const REQUEST_CHANNEL = "windlass:client:request";

/**
 * Reports every request made: to a callback, to a log, and to the diagnostics channel. The seam
 * for metrics.
 */
export function observe(options: ObserveOptions): Interceptor {
  const { host, onOutcome, onResponseSize, log, clock = systemClock } = options;
  const published = channel(REQUEST_CHANNEL);
  return (next) => ({
    async request(request) {
      const started = clock.monotonic();
      const tell = (code: string, error?: string) => {
        const { method, path, body } = request;
        const outcome: RequestOutcome = {
          method,
          path,
          host,
          code,
          durationMs: clock.monotonic() - started,
          requestBytes: body === undefined ? 0 : Buffer.byteLength(body),
          ...(error === undefined ? {} : { error }),
        };
        onOutcome?.(outcome);
        log?.debug(outcome, "API request");
        if (published.hasSubscribers) published.publish(outcome);
      };
      try {
        const response = await next.request(request);
        tell(String(response.status));
        if (!onResponseSize) return response;
        const { method, path } = request;
        return counted(response, (responseBytes) => onResponseSize({ method, path, host, responseBytes }));
      } catch (error) {
        tell("<error>", error instanceof TransportError ? error.code : "ABORTED");
        throw error;
      }
    },
    close: () => next.close(),
  });
}

/** No generator: one that was never begun does not pass on that it is left. */
function counted(response: TransportResponse, onEnd: (bytes: number) => void): TransportResponse {
  return { ...response, body: { [Symbol.asyncIterator]: () => counting(response.body, onEnd) } };
}

function counting(
  body: AsyncIterable<Uint8Array>,
  onEnd: (bytes: number) => void,
): AsyncIterator<Uint8Array> {
  const inner = body[Symbol.asyncIterator]();
  let bytes = 0;
  return {
    async next() {
      const step = await inner.next();
      if (step.done) onEnd(bytes);
      else bytes += step.value.length;
      return step;
    },
    async return() {
      await inner.return?.();
      return { done: true, value: undefined };
    },
  };
}

/** A span of whatever tracing library is in use. */
export interface RequestSpan {
  /** What carries the trace to the server, e.g. `traceparent`. @default nothing */
  readonly headers?: Readonly<Record<string, string>>;
  /** The answer began, or failed to come. */
  end(outcome: { readonly status: number } | { readonly error: unknown }): void;
}

/** Opens a span around every request, repetitions included when it stands outside of `retry`. */
export function trace(start: (request: TransportRequest) => RequestSpan): Interceptor {
  return (next) => ({
    async request(request) {
      const span = start(request);
      try {
        const response = await next.request(
          span.headers ? { ...request, headers: { ...request.headers, ...span.headers } } : request,
        );
        span.end({ status: response.status });
        return response;
      } catch (error) {
        span.end({ error });
        throw error;
      }
    },
    close: () => next.close(),
  });
}
