/** Those who want to be notified of something. */
export class Subscribers<T> {
  readonly #listeners = new Set<(value: T) => void>();

  /**
   * Calls the listener from now on, in the order of subscription.
   *
   * @returns ends the subscription
   */
  subscribe(listener: (value: T) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  notify(value: T): void {
    for (const listener of this.#listeners) listener(value);
  }
}
