import { parseArgs } from "node:util";
import { type Command, type Given, helpOption, type Options } from "./command.ts";
import { UsageError } from "./errors.ts";

/** What a command line asks of a command: its help, or to run. */
export type Parsed = { readonly wants: "help" } | { readonly wants: "run"; readonly given: Given<Options> };

/** @throws UsageError */
export function parse(command: Command, args: readonly string[]): Parsed {
  const { values, positionals } = parseOptions(command, args);
  if (values.help === true) return { wants: "help" };
  const most = command.arguments === undefined ? 0 : command.arguments.most;
  const extra = most === undefined ? undefined : positionals[most];
  if (extra !== undefined) throw new UsageError(`${JSON.stringify(extra)} is one argument too many`);
  return { wants: "run", given: { options: values, arguments: positionals } };
}

function parseOptions(
  { options }: Command,
  args: readonly string[],
): { readonly values: Record<string, string | boolean>; readonly positionals: readonly string[] } {
  const declared = Object.entries({ ...options, help: helpOption }).map(([name, { type, short }]) => [
    name,
    short === undefined ? { type } : { type, short },
  ]);
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      options: Object.fromEntries(declared) as Record<string, { type: "string" | "boolean"; short?: string }>,
      allowPositionals: true,
    });
    return { values: values as Record<string, string | boolean>, positionals };
  } catch (error) {
    throw new UsageError(plainly(error));
  }
}

/** The longest that Node's timers can wait. */
const longestMs = 2 ** 31 - 1;

/**
 * The seconds that an option was given, as milliseconds.
 *
 * @throws UsageError
 */
export function millisecondsIn(option: string, seconds: string): number {
  const ms = Math.round(Number(seconds) * 1_000);
  if (seconds.trim() !== "" && ms > 0 && ms <= longestMs) return ms;
  const most = Math.floor(longestMs / 1_000);
  throw new UsageError(
    `${option} must be a number of seconds above 0, and at most ${most}, not ${JSON.stringify(seconds)}`,
  );
}

/**
 * How often, as an option says.
 *
 * @throws UsageError
 */
export function countIn(option: string, count: string): number {
  if (/^\d+$/.test(count) && Number(count) > 0) return Number(count);
  throw new UsageError(`${option} must be a whole number above 0, not ${JSON.stringify(count)}`);
}

/** Node's sentences go on about how to begin an argument with a dash, which nobody asked. */
function plainly(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  const [, name] = /'(-[^'=]*)/.exec(message) ?? [];
  switch (code) {
    case "ERR_PARSE_ARGS_UNKNOWN_OPTION":
      return `there is no option ${name ?? message}`;
    case "ERR_PARSE_ARGS_INVALID_OPTION_VALUE":
      return message.split("\n")[0] ?? message;
    default:
      return message;
  }
}
