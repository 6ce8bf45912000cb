import { connect, createSecureContext, type SecureContext, type TLSSocket } from "node:tls";
import type { KeyPair } from "@windlass/certificates";
import type { Clock } from "@windlass/clock";
import type { WorkerAddress } from "./lookup.ts";
import { ciphers, minVersion, tuned } from "./tls.ts";

/** What a gateway shows its workers, and whose certificates it takes from them. */
export interface WorkerCredentials {
  readonly pair: KeyPair;
  /** PEM bundle. */
  readonly trust: string;
}

/** Why a worker could not be reached. */
export type DialFault =
  /** There was no answer. */
  | "unreachable"
  /** No process listens where the worker was reached before. */
  | "gone"
  /** Someone answered whose certificate is not the worker's. */
  | "untrusted";

/** A worker could not be reached. */
export class DialError extends Error {
  override readonly name = "DialError";
  readonly fault: DialFault;

  constructor(fault: DialFault, message: string, options?: ErrorOptions) {
    super(message, options);
    this.fault = fault;
  }
}

/** So many workers are remembered. */
const MOST_WORKERS = 1_000;

/**
 * Opens connections to workers. Builds open several each, so all but the first resume the session
 * of the one before.
 */
export class WorkerDialer {
  readonly #clock: Clock;
  readonly #context: SecureContext;
  /** By worker that was reached: the session to resume, once there is one. */
  readonly #reached = new Map<string, Buffer | undefined>();

  constructor({ pair, trust }: WorkerCredentials, clock: Clock) {
    this.#clock = clock;
    this.#context = createSecureContext({
      cert: pair.certificate,
      key: pair.key,
      ca: trust,
      ciphers,
      minVersion,
    });
  }

  /**
   * Connects to a worker, and makes sure that it is the one.
   *
   * @throws DialError, or the signal's reason.
   */
  dial(worker: WorkerAddress, withinMs: number, signal: AbortSignal): Promise<TLSSocket> {
    const key = `${worker.serverName} ${worker.host}:${worker.port}`;
    const session = this.#reached.get(key);
    return new Promise((resolve, reject) => {
      const socket = connect({
        host: worker.host,
        port: worker.port,
        servername: worker.serverName,
        secureContext: this.#context,
        ALPNProtocols: ["h2"],
        ...(session ? { session } : {}),
      });
      tuned(socket).allowHalfOpen = true;
      const settle = () => {
        cancel();
        signal.removeEventListener("abort", onAbort);
        socket.off("error", onError);
      };
      const fail = (reason: unknown) => {
        settle();
        socket.destroy();
        // What it fails with after this is not reported.
        socket.on("error", () => undefined);
        reject(reason);
      };
      const onAbort = () => fail(signal.reason);
      const onError = (error: NodeJS.ErrnoException) =>
        fail(new DialError(this.#faultOf(key, socket, error), error.code ?? error.message, { cause: error }));
      const cancel = this.#clock.schedule(withinMs, () =>
        fail(new DialError("unreachable", "it did not answer in time")),
      );
      socket.on("error", onError);
      socket.on("session", (fresh) => this.#remember(key, fresh));
      socket.once("secureConnect", () => {
        settle();
        this.#remember(key, session);
        resolve(socket);
      });
      if (signal.aborted) onAbort();
      else signal.addEventListener("abort", onAbort, { once: true });
    });
  }

  #faultOf(key: string, socket: TLSSocket, { code }: NodeJS.ErrnoException): DialFault {
    if (socket.authorizationError) return "untrusted";
    return code === "ECONNREFUSED" && this.#reached.has(key) ? "gone" : "unreachable";
  }

  #remember(key: string, session: Buffer | undefined): void {
    this.#reached.delete(key);
    this.#reached.set(key, session);
    const [oldest] = this.#reached.keys();
    if (this.#reached.size > MOST_WORKERS && oldest !== undefined) this.#reached.delete(oldest);
  }
}
