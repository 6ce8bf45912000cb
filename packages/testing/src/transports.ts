import { type ClusterAccess, openTransport, type Transport } from "@windlass/client";

/** Transports to one cluster, closed together. */
export class Transports {
  readonly #access: ClusterAccess;
  readonly #open: Transport[] = [];

  constructor(access: ClusterAccess) {
    this.#access = access;
  }

  open(): Transport {
    const transport = openTransport(this.#access);
    this.#open.push(transport);
    return transport;
  }

  async close(): Promise<void> {
    await Promise.all(this.#open.map((transport) => transport.close()));
  }
}
