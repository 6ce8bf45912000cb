import type { ControllerRun } from "../controller/controller-run.ts";
import { messageOf } from "../reconcile/errors.ts";
import type { Logger } from "../reconcile/log.ts";

interface Live {
  readonly name: string;
  stop(abort: AbortSignal): Promise<void>;
}

/** What has been started: stopped in the reverse order, whatever one of it throws. */
export class LiveParts {
  readonly #parts: Live[] = [];

  add(name: string, stop: (abort: AbortSignal) => Promise<void>): void {
    this.#parts.push({ name, stop });
  }

  /** Starts a controller once its kinds are there, unless it was told to stop by then. */
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

  async stop(abort: AbortSignal, log: Logger | undefined): Promise<void> {
    for (let part = this.#parts.pop(); part; part = this.#parts.pop()) await stopOne(part, abort, log);
  }

  /** Tells all that is left to stop, and waits for none of it. */
  abandon(abort: AbortSignal, log: Logger | undefined): void {
    for (let part = this.#parts.pop(); part; part = this.#parts.pop()) void stopOne(part, abort, log);
  }
}

async function stopOne(part: Live, abort: AbortSignal, log: Logger | undefined): Promise<void> {
  try {
    await part.stop(abort);
  } catch (error) {
    log?.error({ error: messageOf(error) }, `${part.name} did not stop cleanly`);
  }
}
