/**
 * Clients that wait and have sent more than is read ahead. Each costs what came first and what Node
 * has read before it stops, some 190 kB in all: twenty times what other requests cost. So there are
 * fewer of them.
 */
export class UnreadClients {
  readonly #most: number;
  readonly #clients = new Set<object>();

  constructor(most: number) {
    this.#most = most;
  }

  /** @returns whether there is room for one more. */
  add(client: object): boolean {
    if (this.#clients.size >= this.#most) return false;
    this.#clients.add(client);
    return true;
  }

  /** It is read from, or gone. */
  delete(client: object): void {
    this.#clients.delete(client);
  }
}
