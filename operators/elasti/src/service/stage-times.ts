/**
 * How long services have been in their stage, as far as this process has seen. What a status has
 * of it is for people: clocks of nodes differ and jump, and a wait that a jump ends does not wait.
 * After a crash a wait begins again.
 */
export class StageTimes {
  readonly #seen = new Map<string, { readonly step: number; readonly since: number }>();

  /** @param now by a clock that never jumps. */
  elapsedMs(owner: string, step: number, now: number): number {
    const seen = this.#seen.get(owner);
    if (seen?.step === step) return now - seen.since;
    this.#seen.set(owner, { step, since: now });
    return 0;
  }

  forget(owner: string): void {
    this.#seen.delete(owner);
  }
}
