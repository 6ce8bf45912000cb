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
