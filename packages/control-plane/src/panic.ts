import { channel } from "node:diagnostics_channel";

/**
 * The `node:diagnostics_channel` on which errors inside a server are published, as a {@link Panic},
 * where no `onPanic` takes them. A suite that subscribes fails by what it would not see.
 */
export const PANIC_CHANNEL = "windlass:control-plane:panic";

/** An error inside a server. */
export interface Panic {
  readonly error: unknown;
  /** The controller and its key, or the request. */
  readonly where: string;
}

/** Reports an error that no `onPanic` takes. */
export function reportPanic(error: unknown, where: string): void {
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  process.stderr.write(`${where}: ${text}\n`);
  channel(PANIC_CHANNEL).publish({ error, where } satisfies Panic);
}
