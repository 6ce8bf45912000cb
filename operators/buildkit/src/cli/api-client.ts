import { CommandError } from "@windlass/cli";
import { openTransport, type Transport, TransportError } from "@windlass/client";
import { type Clock, sleep, systemClock } from "@windlass/clock";
import { buildkitExitCodes } from "./exit-codes.ts";
import type { TokenSource } from "./token-source.ts";

/** What the API answers. */
export interface ApiAnswer {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

/** How the API is reached. */
export interface ApiClientOptions {
  /** `https://host:port`. */
  readonly endpoint: string;
  /** PEM of the authorities to trust. @default those that Node trusts */
  readonly ca?: string | undefined;
  readonly tokens: TokenSource;
  /** How long to go on trying while the API cannot be reached. */
  readonly retryForMs: number;
  readonly signal: AbortSignal;
  /** Where HTTPS_PROXY and NO_PROXY are looked up. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** @default the machine's clock */
  readonly clock?: Clock;
}

type Method = "GET" | "POST" | "DELETE";

/** Longer than the API ever waits. */
const ANSWER_MS = 6 * 60_000;

/**
 * Speaks to the allocation API. Tries again while it cannot be reached, as all that it does may be
 * done twice.
 */
export class ApiClient implements AsyncDisposable {
  readonly #options: ApiClientOptions;
  readonly #clock: Clock;
  readonly #transport: Transport;

  /** @param transport One to share. @default one of its own */
  constructor(options: ApiClientOptions, transport?: Transport) {
    const url = URL.parse(options.endpoint);
    if (url?.protocol !== "https:")
      throw new CommandError(
        `the endpoint ${options.endpoint} must start with https://: a token is sent there`,
      );
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    const { ca, env } = options;
    const trust = ca === undefined ? {} : { certificateAuthorityData: Buffer.from(ca).toString("base64") };
    this.#transport =
      transport ??
      openTransport(
        { cluster: { server: url.origin, ...trust }, user: {}, namespace: "", source: url.host },
        { attempts: 1, headersTimeout: ANSWER_MS, env },
      );
  }

  /**
   * Asks, and asks again while that may help.
   *
   * @throws CommandError with what the API says, or why it could not be asked.
   */
  async call(method: Method, path: string, body?: object): Promise<ApiAnswer> {
    const giveUpAt = this.#clock.monotonic() + this.#options.retryForMs;
    for (let attempt = 0; ; attempt++) {
      const { answer, fault, retryAfterMs } = await this.#once(method, path, body);
      if (answer && answer.status < 300) return answer;
      const pauseMs = retryAfterMs ?? Math.min(5_000, 200 * 2 ** attempt);
      const mayHelp = !answer || answer.status === 503 || answer.status === 429;
      if (!mayHelp || this.#clock.monotonic() + pauseMs > giveUpAt) throw this.#failure(answer, fault);
      await sleep(this.#clock, pauseMs, this.#options.signal);
    }
  }

  /**
   * The same, for what has to be done though the user wants it to end: giving a worker back. It
   * takes ten seconds at most.
   */
  detached(): ApiClient {
    return new ApiClient(
      { ...this.#options, retryForMs: 5_000, signal: AbortSignal.timeout(10_000) },
      this.#transport,
    );
  }

  /** Asks once: whether anybody is there. */
  async health(): Promise<void> {
    const { answer, fault } = await this.#once("GET", "/api/v1/health");
    if (answer?.status !== 200) throw this.#failure(answer, fault);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#transport.close();
  }

  async #once(method: Method, path: string, body?: object) {
    const { tokens, signal } = this.#options;
    const token = await tokens.token(signal);
    try {
      const response = await this.#transport.request({
        method,
        path,
        headers: {
          authorization: `Bearer ${token}`,
          accept: "application/json",
          ...(body ? { "content-type": "application/json" } : {}),
        },
        ...(body ? { body: JSON.stringify(body) } : {}),
        signal,
      });
      const chunks: Uint8Array[] = [];
      for await (const chunk of response.body) chunks.push(chunk);
      const text = Buffer.concat(chunks).toString("utf8");
      const seconds = Number(response.headers["retry-after"]);
      return {
        answer: { status: response.status, body: parsed(text) },
        retryAfterMs: Number.isFinite(seconds) && response.status >= 400 ? seconds * 1_000 : undefined,
      };
    } catch (error) {
      if (!(error instanceof TransportError)) throw error;
      return { fault: error.message };
    }
  }

  #failure(answer: ApiAnswer | undefined, fault: string | undefined): CommandError {
    const { endpoint } = this.#options;
    if (!answer)
      return new CommandError(`${endpoint} cannot be reached: ${fault}`, {
        exitCode: buildkitExitCodes.unavailable,
      });
    const { code = answer.status, message = "" } = answer.body;
    const exitCode =
      answer.status === 401 || answer.status === 403
        ? buildkitExitCodes.refused
        : answer.status === 429 || answer.status === 503
          ? buildkitExitCodes.unavailable
          : 1;
    return new RefusedCallError(String(code), String(message), exitCode);
  }
}

/** What the allocation API answered in place of what was asked for. */
export class RefusedCallError extends CommandError {
  /** The API's own code, such as `NotAllocated`, or else the HTTP status. */
  readonly code: string;

  constructor(code: string, message: string, exitCode: number) {
    super(`${message} (${code})`, { exitCode });
    this.code = code;
  }
}

function parsed(text: string): Readonly<Record<string, unknown>> {
  try {
    const json: unknown = JSON.parse(text);
    return typeof json === "object" && json !== null ? (json as Readonly<Record<string, unknown>>) : {};
  } catch {
    return {};
  }
}
