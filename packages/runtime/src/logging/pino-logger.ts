import type { Logger } from "./logger.ts";
import { textLine } from "./text-line.ts";

/**
 * JSON lines on standard output, through pino, which is loaded now and not before. `LOG_LEVEL` sets
 * the level; `info` by default. `LOG_FORMAT=text` has lines for people instead.
 */
export async function pinoLogger(): Promise<Logger> {
  const { pino } = await import("pino");
  const asked = process.env.LOG_LEVEL || "info";
  const levels = [...Object.keys(pino.levels.values), "silent"];
  const isLevel = levels.includes(asked);
  const options = {
    level: isLevel ? asked : "info",
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (level: string) => ({ level }) },
    // A last line of defence: objects are never logged whole, but a user may.
    redact: {
      paths: ["*.data", "*.stringData", "data", "stringData", "*.token", "token", "*.password", "password"],
      censor: "[redacted]",
    },
  };
  const isText = process.env.LOG_FORMAT === "text";
  const lines = { write: (line: string) => process.stdout.write(textLine(line)) };
  const logger: Logger = isText ? pino(options, lines) : pino(options);
  if (!isLevel)
    logger.warn(
      `LOG_LEVEL is ${JSON.stringify(asked)}, and there are ${levels.join(", ")}; going on with info`,
    );
  return logger;
}
