import { type Clock, systemClock } from "@windlass/clock";
import { type Logger, silentLogger } from "../logging/logger.ts";
import { Registry } from "../metrics/registry.ts";
import { messageOf } from "../reconcile/errors.ts";
import { type AdmissionHandler, admit } from "./admission.ts";
import { BadReview, type Convertible, convertAll, parseReview, reviewText } from "./review.ts";
import { type WebhookMetrics, webhookMetrics } from "./webhook-metrics.ts";

/** A request to the webhook server, however it came in. */
export interface WebhookCall {
  /** Path and query: `/validate-example-com-v1-webapp?timeout=10s`. */
  readonly path: string;
  /** @default "POST" */
  readonly method?: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Aborted when no caller waits for the answer any more. */
  readonly signal?: AbortSignal;
}

/** What is answered to a call. */
export interface WebhookAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Where the conversion webhook answers. */
export const conversionPath = "/convert";

/**
 * What a review may weigh: two objects of the 3 MiB that an API server takes, and what surrounds
 * them.
 */
const admissionLimit = 7 * 1024 * 1024;

/** A whole list may come to be converted in one review. */
const conversionLimit = 64 * 1024 * 1024;

/** What a dispatcher depends on. */
export interface DispatchDependencies {
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: WebhookMetrics;
}

/** A handler did not answer within the time that the API server gives. */
export class WebhookTimeoutError extends Error {
  override readonly name = "WebhookTimeoutError";
  readonly code = "WEBHOOK_TIMEOUT";

  constructor(afterMs: number) {
    super(
      `the handler did not answer within ${afterMs / 1000} s: pass context.signal to what it waits for, or raise timeoutSeconds`,
    );
  }
}

/**
 * Answers reviews by path. A failure of user code is answered with a 500 that says what failed, so
 * that the webhook's `failurePolicy` decides about the request; it is counted and logged, and never
 * gets any further.
 */
export class Dispatcher {
  readonly #handlers = new Map<string, AdmissionHandler>();
  readonly #convertible: Convertible[] = [];
  readonly #defaultTimeoutMs: number;
  #dependencies: DispatchDependencies | undefined;

  /** @param defaultTimeoutMs how long a handler has when the request does not say */
  constructor(defaultTimeoutMs: number) {
    this.#defaultTimeoutMs = defaultTimeoutMs;
  }

  get paths(): readonly string[] {
    return [...this.#handlers.keys(), ...(this.#convertible.length > 0 ? [conversionPath] : [])];
  }

  addHandler(path: string, handler: AdmissionHandler): void {
    if (this.#handlers.has(path))
      throw new Error(
        `there is already a ${handler.type} webhook for ${handler.kind.kind} (${path}): put both into one handler`,
      );
    this.#handlers.set(path, handler);
  }

  addConversion(kind: Convertible): void {
    this.#convertible.push(kind);
  }

  /** Gives it the manager's clock, log and metrics. */
  join(dependencies: Omit<DispatchDependencies, "metrics">, registry: Registry): void {
    this.#dependencies = { ...dependencies, metrics: webhookMetrics(registry, this.paths) };
  }

  /** How much a body for this path may weigh. */
  limitFor(path: string): number {
    return path.split("?", 1)[0] === conversionPath ? conversionLimit : admissionLimit;
  }

  /** Answers a call. Never rejects. */
  async handle(call: WebhookCall): Promise<WebhookAnswer> {
    const { path } = call;
    const url = URL.parse(path, "https://webhook");
    const isConversion = url?.pathname === conversionPath && this.#convertible.length > 0;
    const handler = this.#handlers.get(url?.pathname ?? "");
    if (!url || (!handler && !isConversion))
      return failure(404, "NotFound", `there is no webhook at ${path}; there is ${this.paths.join(", ")}`);
    const dependencies = this.#joined();
    const began = dependencies.clock.monotonic();
    dependencies.metrics.began(url.pathname);
    const answer = handler ? await this.#admit(handler, call, url) : this.#convert(call);
    dependencies.metrics.answered(
      url.pathname,
      answer.status,
      (dependencies.clock.monotonic() - began) / 1000,
    );
    return answer;
  }

  async #admit(handler: AdmissionHandler, call: WebhookCall, url: URL): Promise<WebhookAnswer> {
    const { clock, log, metrics } = this.#joined();
    const refused = refusedFor(call, this.limitFor(url.pathname));
    if (refused) return refused;
    const limitMs = this.#timeLimit(url);
    const over = new AbortController();
    const { promise: late, reject } = Promise.withResolvers<never>();
    const giveUp = (why: unknown) => {
      over.abort(why);
      reject(why);
    };
    const onGone = () => giveUp(new Error("the API server has gone"));
    const cancel = clock.schedule(limitMs, () => giveUp(new WebhookTimeoutError(limitMs)));
    call.signal?.addEventListener("abort", onGone, { once: true });
    if (call.signal?.aborted) onGone();
    try {
      const request = parseReview(call.body, "AdmissionReview");
      const { kind, type } = handler;
      const about = log.child({ webhook: url.pathname, uid: request.uid });
      const work = admit(handler, request, { log: about, signal: over.signal });
      const response = await Promise.race([work, late]).catch((error: unknown) => {
        if (error instanceof BadReview) throw error;
        const isLate = error instanceof WebhookTimeoutError;
        if (!isLate) metrics.panicked();
        about.error({ error: messageOf(error) }, `the ${type} webhook of ${kind.kind} failed`);
        return failure(
          isLate ? 504 : 500,
          isLate ? "Timeout" : "InternalError",
          `the ${type} webhook of ${kind.kind} failed: ${messageOf(error)}`,
        );
      });
      return "allowed" in response ? json(200, reviewText("AdmissionReview", response)) : response;
    } catch (error) {
      return failure(400, "BadRequest", messageOf(error));
    } finally {
      // The loser of the race is ignored.
      late.catch(() => undefined);
      cancel();
      call.signal?.removeEventListener("abort", onGone);
    }
  }

  #convert(call: WebhookCall): WebhookAnswer {
    const { log, metrics } = this.#joined();
    const refused = refusedFor(call, conversionLimit);
    if (refused) return refused;
    try {
      const request = parseReview(call.body, "ConversionReview");
      const response = convertAll(request, this.#convertible, (error) => {
        metrics.conversionPanicked();
        log.error(
          { webhook: conversionPath, uid: request.uid, error: messageOf(error) },
          "a conversion failed",
        );
      });
      return json(200, reviewText("ConversionReview", response));
    } catch (error) {
      return failure(400, "BadRequest", messageOf(error));
    }
  }

  /** A little less than the API server waits, so that it hears why rather than nothing. */
  #timeLimit(url: URL): number {
    const told = /^(\d{1,3})s$/.exec(url.searchParams.get("timeout") ?? "");
    const whole = told ? Number(told[1]) * 1000 : this.#defaultTimeoutMs;
    return whole - Math.min(500, whole * 0.1);
  }

  #joined(): DispatchDependencies {
    this.#dependencies ??= {
      clock: systemClock,
      log: silentLogger,
      metrics: webhookMetrics(new Registry(), this.paths),
    };
    return this.#dependencies;
  }
}

function refusedFor(
  { method = "POST", headers, body }: WebhookCall,
  limit: number,
): WebhookAnswer | undefined {
  if (method !== "POST") return failure(405, "MethodNotAllowed", `only POST, not ${method}`);
  const type = headers["content-type"] ?? "";
  if (type.split(";", 1)[0]?.trim().toLowerCase() !== "application/json")
    return failure(
      400,
      "BadRequest",
      `the content type must be application/json, and is ${JSON.stringify(type)}`,
    );
  return Buffer.byteLength(body) > limit ? tooLarge(limit) : undefined;
}

/** The answer to a body that is over its limit. */
export function tooLarge(limit: number): WebhookAnswer {
  return failure(413, "RequestEntityTooLarge", `the body is larger than ${limit / 1024 / 1024} MiB`);
}

/** An answer other than a review. The API server shows a Status' message to the client. */
export function failure(code: number, reason: string, message: string): WebhookAnswer {
  return json(
    code,
    JSON.stringify({
      kind: "Status",
      apiVersion: "v1",
      metadata: {},
      status: "Failure",
      message,
      reason,
      code,
    }),
  );
}

function json(status: number, body: string): WebhookAnswer {
  return { status, headers: { "content-type": "application/json" }, body };
}
