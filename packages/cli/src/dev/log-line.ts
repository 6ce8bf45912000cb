/** A line of an operator's log, for people. */
export interface LogLine {
  readonly level: string;
  readonly text: string;
}

/** Reads a line as the runtime's logger writes it; any other line is a text at level `info`. */
export function readLogLine(line: string): LogLine {
  const record = parsed(line);
  if (record === undefined) return { level: "info", text: line };
  const { level, msg, time: _time, ...fields } = record;
  const rest = Object.entries(fields).map(
    ([name, value]) => `${name}=${typeof value === "string" ? value : JSON.stringify(value)}`,
  );
  return { level: String(level), text: [typeof msg === "string" ? msg : "", ...rest].join("  ") };
}

function parsed(line: string): Readonly<Record<string, unknown>> | undefined {
  if (!line.startsWith("{")) return undefined;
  try {
    const record = JSON.parse(line) as Readonly<Record<string, unknown>>;
    return "level" in record ? record : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
