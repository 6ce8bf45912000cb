import { type Clock, type Duration, milliseconds, type Random, sleep } from "@windlass/clock";
import type { ApiRequest, ApiResponse } from "../http/request.ts";
import { failure } from "../http/respond.ts";
import type { Requester } from "../registry/admission.ts";
import type { Registry } from "../registry/registry.ts";
import { conflict, type StatusDetails, StatusError } from "../status.ts";
import {
  askedIn,
  type Fault,
  type FaultError,
  type FaultedRequest,
  type FaultTarget,
  strikes,
} from "./fault.ts";
import { answerFromPast } from "./stale.ts";
import { type OpenStream, OpenStreams } from "./streams.ts";

/** A fault that was added. */
export interface FaultHandle extends Disposable {
  /** How many requests and watches it struck so far. */
  readonly hits: number;
  /** Things go right again. Requests that it holds back already stay held back. */
  remove(): void;
}

export interface FaultsOptions {
  readonly registry: Pick<Registry, "kinds" | "store">;
  readonly clock: Clock;
  readonly random: Random;
  /** Answers a request truthfully, past every fault. */
  readonly handle: (request: ApiRequest) => Promise<ApiResponse>;
}

interface Active {
  readonly fault: Fault;
  /** The revision when it was added. */
  readonly since: number;
  hits: number;
}

/**
 * Makes an API server fail in chosen ways, to see what its clients do. Faults are tried in the
 * order they were added: delays add up, and the first that answers decides. With a manual clock and
 * seeded randomness a run can be repeated.
 *
 * @example
 * using fault = plane.faults.add({ verbs: ["update"], resources: ["pods/status"], times: 2, conflict: true });
 */
export class Faults {
  readonly #options: FaultsOptions;
  readonly #active = new Set<Active>();
  readonly #streams = new OpenStreams();
  /** Requests that are being answered for a fault: they must not be struck again. */
  readonly #truthful = new WeakSet<ApiRequest>();
  readonly #users = new WeakMap<ApiRequest, Requester>();

  constructor(options: FaultsOptions) {
    this.#options = options;
  }

  add(fault: Fault): FaultHandle {
    check(fault);
    const active: Active = { fault, since: this.#options.registry.store.revision, hits: 0 };
    this.#active.add(active);
    const { dropWatches } = fault;
    if (dropWatches !== undefined) {
      for (const stream of this.#streams.matching((asked) => strikes(fault, asked))) {
        if (dropWatches === true) this.#cut(active, stream);
        else this.#cutLater(active, stream, dropWatches.after);
      }
    }
    const remove = () => {
      this.#active.delete(active);
    };
    return {
      get hits() {
        return active.hits;
      },
      remove,
      [Symbol.dispose]: remove,
    };
  }

  /** How many are in place. */
  get size(): number {
    return this.#active.size;
  }

  /** Removes every fault. */
  clear(): void {
    this.#active.clear();
  }

  /** Ends the watches that match, as a lost connection would. @returns how many there were */
  dropWatches(target: FaultTarget = {}): number {
    const streams = this.#streams.matching((asked) => strikes(target, asked));
    for (const stream of streams) stream.cut();
    return streams.length;
  }

  /** Forgets history, so that watches and lists that go back to it must start over. */
  compact(): void {
    this.#options.registry.store.compact();
  }

  /** How many watches are open. */
  get openWatches(): number {
    return this.#streams.size;
  }

  /** What a fault makes of a request; undefined where none does. */
  readonly intercept = async (request: ApiRequest, user: Requester): Promise<ApiResponse | undefined> => {
    this.#users.set(request, user);
    if (this.#active.size === 0 || this.#truthful.has(request)) return undefined;
    const asked = askedIn(request, user, this.#options.registry.kinds);
    if (!asked) return undefined;
    for (const active of Array.from(this.#active)) {
      if (!answersRequests(active.fault) || !this.#hits(active, asked)) continue;
      const response = await this.#strike(active, request, asked);
      if (response) return response;
    }
    return undefined;
  };

  /** Keeps track of the watch that an answer may be. */
  observe(request: ApiRequest, response: ApiResponse): ApiResponse {
    if (typeof response.body !== "function") return response;
    const asked = askedIn(request, this.#users.get(request), this.#options.registry.kinds);
    return asked ? this.#streams.tracked(asked, response, (stream) => this.#opened(stream)) : response;
  }

  #opened(stream: OpenStream): () => void {
    const cancels = [...this.#active].flatMap((active) => {
      const { dropWatches } = active.fault;
      if (typeof dropWatches !== "object" || !strikes(active.fault, stream.asked)) return [];
      return [this.#cutLater(active, stream, dropWatches.after)];
    });
    return () => {
      for (const cancel of cancels) cancel();
    };
  }

  #cutLater(active: Active, stream: OpenStream, after: Duration): () => void {
    return this.#options.clock.schedule(milliseconds(after, "fault: dropWatches.after"), () => {
      if (this.#active.has(active)) this.#cut(active, stream);
    });
  }

  #cut(active: Active, stream: OpenStream): void {
    if (!this.#takesTurn(active)) return;
    stream.cut();
  }

  #hits(active: Active, asked: FaultedRequest): boolean {
    return strikes(active.fault, asked) && this.#takesTurn(active);
  }

  #takesTurn(active: Active): boolean {
    const { times, probability } = active.fault;
    if (times !== undefined && active.hits >= times) return false;
    if (probability !== undefined && this.#options.random.next() >= probability) return false;
    active.hits++;
    return true;
  }

  async #strike(
    active: Active,
    request: ApiRequest,
    asked: FaultedRequest,
  ): Promise<ApiResponse | undefined> {
    const { fault } = active;
    if (fault.delay !== undefined && !(await this.#delay(fault.delay, request.signal))) return abandoned();
    if (fault.halfOpen) {
      await gone(request.signal);
      return abandoned();
    }
    if (fault.error) return failure(errorOf(fault.error));
    if (fault.conflict) return failure(conflictOf(asked));
    if (fault.stale && (asked.verb === "get" || asked.verb === "list")) {
      return await this.#answerFromPast(active, fault.stale, request, asked);
    }
    return undefined;
  }

  async #answerFromPast(
    { since }: Active,
    stale: NonNullable<Fault["stale"]>,
    request: ApiRequest,
    asked: FaultedRequest,
  ): Promise<ApiResponse> {
    const { store } = this.#options.registry;
    const wanted = stale === true ? since : store.revision - stale.behind;
    const revision = Math.max(wanted, store.compactedRevision, 1);
    return await answerFromPast(request, asked, revision, (past) => {
      this.#truthful.add(past);
      return this.#options.handle(past);
    });
  }

  /** @returns whether the client is still there */
  async #delay(delay: Duration, signal: AbortSignal): Promise<boolean> {
    try {
      await sleep(this.#options.clock, milliseconds(delay, "fault: delay"), signal);
      return true;
    } catch (error) {
      if (signal.aborted) return false;
      throw error;
    }
  }
}

function answersRequests({ delay, error, conflict: isConflict, stale, halfOpen }: Fault): boolean {
  return Boolean(delay !== undefined || error || isConflict || stale || halfOpen);
}

function check(fault: Fault): void {
  if (!answersRequests(fault) && fault.dropWatches === undefined) {
    throw new TypeError(
      "a fault that does nothing: give it delay, error, conflict, stale, halfOpen or dropWatches",
    );
  }
  const { probability, times, delay, dropWatches } = fault;
  if (delay !== undefined) milliseconds(delay, "fault: delay");
  if (typeof dropWatches === "object") milliseconds(dropWatches.after, "fault: dropWatches.after");
  if (probability !== undefined && !(probability >= 0 && probability <= 1)) {
    throw new RangeError(`probability must be between 0 and 1, not ${probability}`);
  }
  if (times !== undefined && !(Number.isInteger(times) && times > 0)) {
    throw new RangeError(`times must be a whole number above 0, not ${times}`);
  }
}

function gone(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}

/** Not read by anyone: the client disconnected first. */
function abandoned(): ApiResponse {
  return { status: 499, headers: {}, body: "" };
}

const words: { readonly [code: number]: { readonly reason: string; readonly message: string } } = {
  401: { reason: "Unauthorized", message: "Unauthorized" },
  403: { reason: "Forbidden", message: "forbidden by an injected fault" },
  404: { reason: "NotFound", message: "the server could not find the requested resource" },
  409: {
    reason: "Conflict",
    message: "the object has been modified; please apply your changes to the latest version and try again",
  },
  410: { reason: "Expired", message: "The resourceVersion for the provided watch is too old." },
  429: { reason: "TooManyRequests", message: "Too many requests, please try again later." },
  500: { reason: "InternalError", message: "Internal error occurred: injected fault" },
  503: { reason: "ServiceUnavailable", message: "the server is currently unable to handle the request" },
  504: { reason: "Timeout", message: "Timeout: request did not complete within the allotted timeout" },
};

function errorOf({ code, reason, message, retryAfterSeconds }: FaultError): StatusError {
  const known = words[code];
  const retry = retryAfterSeconds ?? (code === 429 ? 1 : undefined);
  const details: StatusDetails | undefined = retry === undefined ? undefined : { retryAfterSeconds: retry };
  const why = reason ?? known?.reason;
  return new StatusError({
    code,
    message: message ?? known?.message ?? "injected fault",
    ...(why === undefined ? {} : { reason: why }),
    ...(details ? { details } : {}),
  });
}

function conflictOf({ info }: FaultedRequest): StatusError {
  const { group, plural, name = "" } = info;
  return conflict(
    { group, resource: plural },
    name,
    "the object has been modified; please apply your changes to the latest version and try again",
  );
}
