import type { ControllerRun } from "../controller/controller-run.ts";
import type { Logger } from "../logging/logger.ts";
import { messageOf } from "../reconcile/errors.ts";

interface Live {
  readonly name: string;
  readonly stop: (abort: AbortSignal) => Promise<void>;
}

/**
 * What has been started: stopped in the reverse order, whatever one of it throws, once those that
 * still serve have drained.
 */
export class LiveParts {
  readonly #parts: Live[] = [];
  readonly #drains: { readonly name: string; readonly drained: () => Promise<void> }[] = [];
  readonly #stopping = new Set<Live>();

  /** The names of what was asked to stop and has not ended. */
  get stopping(): readonly string[] {
    return [...this.#stopping].map(({ name }) => name);
  }

  add(name: string, stop: (abort: AbortSignal) => Promise<void>): void {
    this.#parts.push({ name, stop });
  }

  /** @param drained resolves when no client is served any more; called when everything stops */
  addDrain(name: string, drained: () => Promise<void>): void {
    this.#drains.push({ name, drained });
  }

  /** Starts a controller once its kinds are there, unless it was configured to stop by then. */
  addController(open: ControllerRun, log: Logger): void {
    let isWanted = true;
    this.add(open.name, async (abort) => {
      isWanted = false;
      await open.stop(abort);
    });
    if (open.hasSynced) open.start();
    else
      open
        .synced()
        .then(() => isWanted && open.start())
        .catch((error: unknown) =>
          log.error({ controller: open.name, error: messageOf(error) }, "the controller cannot start"),
        );
  }

  /** Stops one after the other. */
  async stop(abort: AbortSignal, log: Logger | undefined): Promise<void> {
    await Promise.all(
      this.#drains.splice(0).map(({ name, drained }) => stopOne({ name, stop: drained }, abort, log)),
    );
    for (let part = this.#parts.pop(); part; part = this.#parts.pop()) await this.#stopPart(part, abort, log);
  }

  /** Tells all to stop, and then waits for them: none goes on because another takes its time. */
  async stopAtOnce(abort: AbortSignal, log: Logger): Promise<void> {
    const parts = this.#parts.splice(0).toReversed();
    await Promise.all(parts.map((part) => this.#stopPart(part, abort, log)));
  }

  /** Tells all that is left to stop, and waits for none of it. */
  abandon(abort: AbortSignal, log: Logger | undefined): void {
    for (let part = this.#parts.pop(); part; part = this.#parts.pop()) void stopOne(part, abort, log);
  }

  async #stopPart(part: Live, abort: AbortSignal, log: Logger | undefined): Promise<void> {
    this.#stopping.add(part);
    await stopOne(part, abort, log);
    this.#stopping.delete(part);
  }
}

async function stopOne(part: Live, abort: AbortSignal, log: Logger | undefined): Promise<void> {
  try {
    await part.stop(abort);
  } catch (error) {
    log?.error({ error: messageOf(error) }, `${part.name} did not stop cleanly`);
  }
}
