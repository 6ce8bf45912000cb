import { readFile } from "node:fs/promises";
import type { WakeDemand, Waker } from "./targets.ts";

/** The operator answered that it will not do what it was asked for. */
export class WakeRefusedError extends Error {
  override readonly name = "WakeRefusedError";
  readonly status: number;

  constructor(status: number, url: string) {
    super(`${url} answered with status ${status}`);
    this.status = status;
  }
}

/** How a waker reaches the operator. */
export interface OperatorWakerOptions {
  /**
   * Where the operator listens, e.g. `http://elasti-operator-controller-service.elasti.svc:8013`.
   */
  readonly operator: string;
  /**
   * A file with the token of the resolver's service account, read again for each call.
   *
   * @default no token is sent
   */
  readonly tokenFile?: string;
}

/** Longer than a healthy operator takes by far; another attempt follows. */
const CALL_MS = 2_000;

/**
 * Wakes services by a call to the operator, to whichever of its replicas:
 * `POST /informer/incoming-request`.
 */
export class OperatorWaker implements Waker {
  readonly #url: string;
  readonly #tokenFile: string | undefined;

  /** @throws TypeError if the operator's address is not a URL. */
  constructor({ operator, tokenFile }: OperatorWakerOptions) {
    this.#url = new URL("/informer/incoming-request", operator).href;
    this.#tokenFile = tokenFile;
  }

  async wake({ namespace, service, waiting }: WakeDemand, signal: AbortSignal): Promise<void> {
    const response = await fetch(this.#url, {
      method: "POST",
      headers: { "content-type": "application/json", ...(await this.#authorization()) },
      body: JSON.stringify({ count: waiting, svc: service, namespace }),
      signal: AbortSignal.any([signal, AbortSignal.timeout(CALL_MS)]),
    });
    // A body that is not read keeps its connection from being used again.
    await response.arrayBuffer();
    if (!response.ok) throw new WakeRefusedError(response.status, this.#url);
  }

  async #authorization(): Promise<Readonly<Record<string, string>>> {
    if (this.#tokenFile === undefined) return {};
    const token = await readFile(this.#tokenFile, "utf8");
    return { authorization: `Bearer ${token.trim()}` };
  }
}
