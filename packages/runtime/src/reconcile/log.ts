import type { Log } from "@windlass/client";

/** The part of a logger that the runtime uses, and hands to reconcilers. A pino logger is one. */
export interface Logger extends Log {
  child(bindings: object): Logger;
}

const nothing = (): void => undefined;

/** Says nothing. For tests, and for those who bring their own telemetry. */
export const silentLogger: Logger = {
  debug: nothing,
  info: nothing,
  warn: nothing,
  error: nothing,
  child: () => silentLogger,
};
