import type { Transport, TransportRequest, TransportResponse } from "@windlass/client";

/** By which write of its own an operator is killed. */
export interface Fate {
  /** How many writes it may make. */
  readonly writes: number;
  /**
   * Whether it dies of one more, which never reaches the server, or of the last one, whose answer
   * it never gets.
   */
  readonly dies: "before a write" | "after a write";
}

/** The connection of an operator that can be killed: from then on no request leaves the process. */
export class MortalTransport implements Transport {
  readonly #inner: Transport;
  readonly #written: (write: string) => void;
  readonly #fate: Fate | undefined;
  readonly #death = Promise.withResolvers<string>();
  #writes = 0;
  #isDead = false;

  /** @param written Is called with each write that reaches the server. */
  constructor(inner: Transport, written: (write: string) => void, fate?: Fate) {
    this.#inner = inner;
    this.#written = written;
    this.#fate = fate;
  }

  /** The write that it died of. */
  get died(): Promise<string> {
    return this.#death.promise;
  }

  get isDead(): boolean {
    return this.#isDead;
  }

  kill(): void {
    this.#isDead = true;
  }

  async request(request: TransportRequest): Promise<TransportResponse> {
    this.#live();
    const isWrite = request.method !== "GET" && !request.path.includes("dryRun=All");
    if (!isWrite) return await this.#inner.request(request);
    const write = `${request.method} ${request.path}`;
    // Events are for people: nothing goes by them.
    const isLast = !request.path.includes("/events") && this.#isLast();
    if (isLast && this.#fate?.dies === "before a write") {
      this.#isDead = true;
      this.#death.resolve(write);
      this.#live();
    }
    this.#written(write);
    if (!isLast) return await this.#inner.request(request);
    this.#isDead = true;
    try {
      await this.#inner.request(request);
    } finally {
      this.#death.resolve(write);
    }
    throw new Error("the operator was killed");
  }

  close(): Promise<void> {
    return this.#inner.close();
  }

  #live(): void {
    if (this.#isDead) throw new Error("the operator was killed");
  }

  #isLast(): boolean {
    if (!this.#fate) return false;
    const { writes, dies } = this.#fate;
    this.#writes += 1;
    return this.#writes === (dies === "before a write" ? writes + 1 : writes);
  }
}
