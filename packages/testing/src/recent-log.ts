import type { Logger } from "@windlass/runtime";
import { type LoggedLine, recordingLogger } from "@windlass/runtime/testing";

const capacity = 20;

/** The last lines that a test's operators logged, to be shown when the test fails. */
export class RecentLog {
  readonly #lines: string[] = [];

  /** A logger whose lines are kept under the operator's name, debugging left out. */
  logger(operator: string): Logger {
    return recordingLogger({ push: (line) => this.#add(operator, line) });
  }

  #add(operator: string, { level, message, fields }: LoggedLine): void {
    if (level === "debug") return;
    this.#lines.push(`${operator} ${level}: ${message}${describe(fields)}`);
    if (this.#lines.length > capacity) this.#lines.shift();
  }

  /** Oldest first; empty if nothing was logged. */
  toString(): string {
    return this.#lines.join("\n");
  }
}

/** What a failure shows of the log; nothing if it is empty. */
export function logTail(operatorLog: string | undefined): string {
  return operatorLog ? `\nthe operators logged last:\n${operatorLog}` : "";
}

/** What a line is about, an error by its message alone. */
function describe(fields: LoggedLine["fields"]): string {
  const text = JSON.stringify(fields, (_key, value: unknown) =>
    value instanceof Error ? value.message : value,
  );
  return text === "{}" ? "" : ` ${text}`;
}
