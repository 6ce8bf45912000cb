/** Writes a line: words alone, or fields with words. */
export interface LogMethod {
  (message: string): void;
  (fields: object, message?: string): void;
}

/** The part of a logger that the runtime uses, and hands to reconcilers. A pino logger is one. */
export interface Logger {
  readonly debug: LogMethod;
  readonly info: LogMethod;
  readonly warn: LogMethod;
  readonly error: LogMethod;
  /** For the line after which the process ends. @default error */
  readonly fatal?: LogMethod;
  child(bindings: object): Logger;
}

const nothing = (): void => undefined;

/** Logs nothing. For tests, and for those who bring their own telemetry. */
export const silentLogger: Logger = {
  debug: nothing,
  info: nothing,
  warn: nothing,
  error: nothing,
  child: () => silentLogger,
};

/** A logger that is made when its first line is written: most reconciles write none. */
export function lazyLogger(make: () => Logger): Logger {
  return new LazyLogger(make);
}

/**
 * A class, and no accessor in an object literal: each such literal gets a shape of its own, which
 * took longer than everything else in making a reconcile's context.
 */
class LazyLogger implements Logger {
  readonly #make: () => Logger;

  constructor(make: () => Logger) {
    this.#make = make;
  }

  debug(first: string | object, message?: string): void {
    write(this.#make(), "debug", first, message);
  }

  info(first: string | object, message?: string): void {
    write(this.#make(), "info", first, message);
  }

  warn(first: string | object, message?: string): void {
    write(this.#make(), "warn", first, message);
  }

  error(first: string | object, message?: string): void {
    write(this.#make(), "error", first, message);
  }

  fatal(first: string | object, message?: string): void {
    const logger = this.#make();
    write(logger, logger.fatal ? "fatal" : "error", first, message);
  }

  child(bindings: object): Logger {
    return this.#make().child(bindings);
  }
}

type Level = "debug" | "info" | "warn" | "error" | "fatal";

function write(logger: Logger, level: Level, first: string | object, message: string | undefined): void {
  if (typeof first === "string") logger[level]?.(first);
  else logger[level]?.(first, message);
}
