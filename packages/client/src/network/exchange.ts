import { constants, createGunzip, type Gunzip } from "node:zlib";
import { type Clock, milliseconds } from "@windlass/clock";
import { TransportError, type TransportErrorCode } from "../errors.ts";
import type { TransportRequest, TransportResponse } from "../transport.ts";
import type { Abortable, AbortGroups } from "./abort-groups.ts";
import { type BodySource, ResponseBody } from "./body.ts";
import type { Channel, ChannelOwner } from "./channel.ts";
import { failureFrom } from "./failure.ts";
import type { Pool } from "./pool.ts";
import { MalformedResponseError, type ResponseHead } from "./response-parser.ts";

/** The limits of a request and its response. */
export interface ExchangeSettings {
  readonly clock: Clock;
  readonly timeouts: { readonly connect: number; readonly headers: number; readonly idle: number };
  /** The server's URL, for messages. */
  readonly described: string;
  readonly aborts: AbortGroups;
}

/** The phase of an exchange. While it is `connecting`, no byte of the request was sent. */
type Phase = "connecting" | "waiting" | "reading" | "over";

/**
 * One request and its answer, from the connection to the last byte read. Every wait in it has a
 * limit.
 */
export class Exchange implements ChannelOwner, BodySource, Abortable {
  readonly response: Promise<TransportResponse>;
  readonly #answered = Promise.withResolvers<TransportResponse>();
  readonly #request: TransportRequest;
  readonly #head: string;
  readonly #settings: ExchangeSettings;
  readonly #channel: Channel;
  #idleMs: number;
  readonly #bodyMs: number;
  readonly #onTimer = () => this.#timerFired();
  #phase: Phase = "connecting";
  #body: ResponseBody | undefined;
  #isPacked = false;
  #gunzip: Gunzip | undefined;
  #cancelTimer: (() => void) | undefined;
  /** When the whole body must be there. */
  #bodyEnds = Number.POSITIVE_INFINITY;
  /** Since when the reader waits and nothing has come. */
  #silentSince: number | undefined;

  /** @param head all lines before the body, with the empty one. */
  constructor(request: TransportRequest, head: string, pool: Pool, settings: ExchangeSettings) {
    this.#request = request;
    this.#head = head;
    this.#settings = settings;
    const { idleTimeout, bodyTimeout } = request;
    this.#idleMs =
      idleTimeout === undefined ? settings.timeouts.idle : milliseconds(idleTimeout, "idleTimeout");
    this.#bodyMs =
      bodyTimeout === undefined ? Number.POSITIVE_INFINITY : milliseconds(bodyTimeout, "bodyTimeout");
    this.response = this.#answered.promise;
    this.#channel = pool.take(this);
    if (request.signal) settings.aborts.add(request.signal, this);
    if (this.#channel.isReady) this.ready();
    else this.#arm(settings.timeouts.connect);
  }

  ready(): void {
    this.#phase = "waiting";
    this.#arm(this.#settings.timeouts.headers);
    const { body, guard } = this.#request;
    this.#channel.send(this, { head: this.#head, body, guard });
  }

  head({ status, headers, length }: ResponseHead): void {
    this.#phase = "reading";
    this.#disarm();
    // A refusal is no stream, whatever was asked for.
    if (status >= 300) this.#idleMs = Math.min(this.#idleMs, this.#settings.timeouts.idle);
    if (this.#bodyMs < Number.POSITIVE_INFINITY)
      this.#bodyEnds = this.#settings.clock.monotonic() + this.#bodyMs;
    this.#isPacked = isGzip(headers["content-encoding"]);
    const borrowed = this.#request.borrowsChunks ?? false;
    const body = new ResponseBody({ length: this.#isPacked ? undefined : length, borrowed }, this);
    this.#body = body;
    this.#answered.resolve({ status, headers, body });
  }

  body(bytes: Buffer, start: number, end: number): boolean {
    if (this.#silentSince !== undefined) this.#silentSince = this.#settings.clock.monotonic();
    if (!this.#isPacked) return this.#body?.push(bytes, start, end) ?? true;
    this.#gunzip ??= this.#openGunzip();
    return this.#gunzip.write(Buffer.from(bytes.subarray(start, end)));
  }

  end(): void {
    if (this.#gunzip) this.#gunzip.end();
    else this.#complete();
  }

  refused(error: unknown): void {
    this.#stop(error);
  }

  failed(error: unknown): void {
    this.#stop(this.#explain(error));
  }

  aborted(reason: unknown): void {
    this.#stop(reason);
  }

  bodyAwaited(): void {
    if (this.#phase === "over" || Math.min(this.#idleMs, this.#bodyEnds) === Number.POSITIVE_INFINITY) return;
    const now = this.#settings.clock.monotonic();
    this.#silentSince = now;
    if (!this.#cancelTimer) this.#arm(Math.max(0, Math.min(this.#idleMs, this.#bodyEnds - now)));
  }

  bodyArrived(): void {
    // The timer is left as it is: to move it for each chunk would cost more than to look when it
    // fires.
    this.#silentSince = undefined;
  }

  bodyHasRoom(): void {
    if (this.#gunzip) this.#gunzip.resume();
    else this.#channel.resume(this);
  }

  bodyLeft(): void {
    this.#leave();
  }

  /**
   * Gives what it has after every write, and goes on after the end of a gzip member: servers write
   * one per flush.
   */
  #openGunzip(): Gunzip {
    const gunzip = createGunzip({ flush: constants.Z_SYNC_FLUSH, chunkSize: 64 * 1024 });
    gunzip.on("data", (chunk: Buffer) => {
      if (this.#body?.push(chunk, 0, chunk.length) === false) gunzip.pause();
    });
    gunzip.on("drain", () => this.#channel.resume(this));
    gunzip.on("end", () => this.#complete());
    gunzip.on("error", (error) => this.failed(error));
    return gunzip;
  }

  #complete(): void {
    if (!this.#finish()) return;
    this.#body?.end();
  }

  /** Ends the request with an error, which those waiting for the answer or reading it get. */
  #stop(error: unknown): void {
    if (!this.#leave()) return;
    this.#answered.reject(error);
    this.#body?.fail(error);
  }

  /** Ends the request, as no caller wants more of it. @returns false if it has ended before. */
  #leave(): boolean {
    if (!this.#finish()) return false;
    this.#channel.drop(this);
    this.#gunzip?.destroy();
    return true;
  }

  #finish(): boolean {
    if (this.#phase === "over") return false;
    this.#phase = "over";
    this.#disarm();
    const { signal } = this.#request;
    if (signal) this.#settings.aborts.delete(signal, this);
    return true;
  }

  #arm(ms: number): void {
    this.#cancelTimer?.();
    this.#cancelTimer = this.#settings.clock.schedule(ms, this.#onTimer);
  }

  #disarm(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
  }

  #timerFired(): void {
    this.#cancelTimer = undefined;
    const { clock, timeouts } = this.#settings;
    switch (this.#phase) {
      case "connecting":
        this.#timeOut(
          "TIMEOUT_CONNECT",
          `no connection within ${timeouts.connect} ms: still waiting for ${this.#channel.waitsFor}`,
        );
        break;
      case "waiting":
        this.#timeOut("TIMEOUT_HEADERS", `connected, but no answer within ${timeouts.headers} ms`);
        break;
      case "reading": {
        if (this.#silentSince === undefined) break;
        const now = clock.monotonic();
        const leftMs = Math.min(this.#silentSince + this.#idleMs, this.#bodyEnds) - now;
        if (leftMs > 0) this.#arm(leftMs);
        else if (now >= this.#bodyEnds)
          this.#timeOut("TIMEOUT_BODY", `the answer was not complete within ${this.#bodyMs} ms`);
        else this.#timeOut("TIMEOUT_IDLE", `nothing came for ${this.#idleMs} ms; the peer counts as dead`);
        break;
      }
      case "over":
    }
  }

  #timeOut(code: TransportErrorCode, says: string): void {
    const mayHaveBeenSent = this.#phase !== "connecting";
    this.#stop(new TransportError(code, `${this.#described}: ${says}`, { mayHaveBeenSent }));
  }

  #explain(error: unknown): unknown {
    const { signal } = this.#request;
    if (signal?.aborted) return signal.reason;
    return failureFrom(error, { request: this.#described, mayHaveBeenSent: this.#phase !== "connecting" });
  }

  get #described(): string {
    const { method, path } = this.#request;
    return `${method} ${this.#settings.described}${path.split("?", 1)[0]}`;
  }
}

/** @throws MalformedResponseError for a coding that was not asked for. */
function isGzip(coding: string | undefined): boolean {
  if (coding === undefined) return false;
  const name = coding.toLowerCase();
  if (name === "gzip" || name === "x-gzip") return true;
  if (name === "identity" || name === "") return false;
  throw new MalformedResponseError(`content-encoding ${JSON.stringify(coding)}, which is not supported`);
}
