import type { Logger } from "../logging/logger.ts";

/** A line that was logged. */
export interface LoggedLine {
  readonly level: "debug" | "info" | "warn" | "error";
  readonly message: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** A logger that adds each line to a list, or to what takes lines as a list does. */
export function recordingLogger(lines: { push(line: LoggedLine): unknown }, bindings: object = {}): Logger {
  const at = (level: LoggedLine["level"]) => (given: object | string, words?: string) => {
    const [fields, message = ""] = typeof given === "string" ? [{}, given] : [given, words];
    lines.push({ level, message, fields: { ...bindings, ...fields } });
  };
  return {
    debug: at("debug"),
    info: at("info"),
    warn: at("warn"),
    error: at("error"),
    child: (more) => recordingLogger(lines, { ...bindings, ...more }),
  };
}
