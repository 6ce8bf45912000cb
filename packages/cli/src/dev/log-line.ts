/** A line of an operator's log, for people. */
export interface LogLine {
  readonly level: string;
  readonly text: string;
  /**
   * Whether the user's code may have written it: it has what the loggers that such code is given
   * add to a line.
   */
  readonly isOwn: boolean;
}

/** Fields of the loggers that reconcilers, sources, runnables and webhooks are given. */
const ownFields = ["reconcileID", "controller", "runnable", "webhook"];

/** Reads a line as the runtime's logger writes it; any other line is a text at level `info`. */
export function readLogLine(line: string): LogLine {
  const record = parsed(line);
  if (record === undefined) return { level: "info", text: line, isOwn: true };
  const { level, msg, time: _time, stack, ...fields } = record;
  const rest = Object.entries(fields).map(
    ([name, value]) => `${name}=${typeof value === "string" ? value : JSON.stringify(value)}`,
  );
  return {
    level: String(level),
    text: [[typeof msg === "string" ? msg : "", ...rest].join("  "), ...framesOfUser(stack)].join("\n"),
    isOwn: ownFields.some((name) => name in fields),
  };
}

/** Where in the user's own code it was thrown: what called that code is not theirs to mend. */
function framesOfUser(stack: unknown): readonly string[] {
  if (typeof stack !== "string") return [];
  const frames = stack.split("\n").map((frame) => frame.trim());
  return frames
    .filter((frame) => frame.startsWith("at ") && !/[\\/]node_modules[\\/]|\bnode:/.test(frame))
    .map((frame) => `    ${frame}`);
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
