/**
 * A line of the log for people instead of for machines:
 * `2026-11-18T02:00:00.000Z INFO  message  name=value`. What is no record of the logger stays as it
 * is.
 */
export function textLine(line: string): string {
  const record = recordOf(line);
  if (record === undefined) return line;
  const { time, level, msg, ...fields } = record;
  const rest = Object.entries(fields).map(
    ([name, value]) =>
      `${name}=${typeof value === "string" && !/[\s"]/.test(value) ? value : JSON.stringify(value)}`,
  );
  const head = `${String(time)} ${String(level).toUpperCase().padEnd(5)}`;
  const message = typeof msg === "string" ? ` ${msg}` : "";
  return `${head}${message}${rest.map((one) => `  ${one}`).join("")}\n`;
}

function recordOf(line: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const record: unknown = JSON.parse(line);
    return typeof record === "object" && record !== null && "level" in record
      ? (record as Readonly<Record<string, unknown>>)
      : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
