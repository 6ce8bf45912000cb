import type { Command, Program } from "./command.ts";
import { CommandError, exitCodes, UsageError } from "./errors.ts";
import { helpFor, overview } from "./help.ts";
import { parse } from "./parse.ts";
import { explainSystemError, isSystemError } from "./system-error.ts";
import { styler, type Terminal } from "./terminal.ts";

/**
 * Does what a command line says.
 *
 * @returns what the process should end with
 */
export async function runProgram(
  program: Program,
  args: readonly string[],
  terminal: Terminal,
): Promise<number> {
  const [first, ...rest] = args;
  const named = (name: string | undefined) => program.commands.find((command) => command.name === name);
  if (first === undefined || first === "--help" || first === "-h" || first === "help") {
    const about = named(rest[0]);
    if (about !== undefined) return show(terminal, helpFor(`${program.name} ${about.name}`, about));
    if (first === "help" && rest[0] !== undefined) return unknownCommand(program, rest[0], terminal);
    return show(terminal, overview(program));
  }
  if (first === "--version") return show(terminal, `${program.version}\n`);
  const command = named(first);
  if (command === undefined) return unknownCommand(program, first, terminal);
  return await runCommand(`${program.name} ${command.name}`, command, rest, terminal);
}

/**
 * Does what the rest of a command line says.
 *
 * @param program How the user calls it: `windlass create`.
 * @returns what the process should end with
 */
export async function runCommand(
  program: string,
  command: Command,
  args: readonly string[],
  terminal: Terminal,
): Promise<number> {
  try {
    const parsed = parse(command, args);
    if (parsed.wants === "help") return show(terminal, helpFor(program, command));
    const running = command.run(parsed.given, terminal);
    await (command.endsAtOnce === true ? Promise.race([running, abortOf(terminal.signal)]) : running);
    return exitCodes.done;
  } catch (error) {
    if (terminal.signal.aborted) return exitCodes.interrupted;
    if (error instanceof UsageError)
      return complain(terminal, `${error.message}\nTry: ${program} --help`, exitCodes.usage);
    if (error instanceof CommandError) return complain(terminal, error.message, error.exitCode);
    if (isSystemError(error)) return complain(terminal, explainSystemError(error), exitCodes.failed);
    if (isExplained(error)) return complain(terminal, error.message, exitCodes.failed);
    // A fault of this program: its author needs the stack.
    return complain(terminal, error instanceof Error ? (error.stack ?? error.message) : String(error), 1);
  }
}

/** Rejects when the signal is aborted. */
function abortOf(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    const stop = () => reject(signal.reason as Error);
    if (signal.aborted) stop();
    else signal.addEventListener("abort", stop, { once: true });
  });
}

function show({ stdout }: Terminal, text: string): number {
  stdout.write(text);
  return exitCodes.done;
}

function complain(terminal: Terminal, text: string, code: number): number {
  terminal.stderr.write(`${styler(terminal, terminal.stderr)("red", "error:")} ${text}\n`);
  return code;
}

function unknownCommand({ name, commands }: Program, given: string, terminal: Terminal): number {
  const nearest = meantBy(
    given,
    commands.map((command) => command.name),
  );
  const guess = nearest === undefined ? "" : ` Did you mean ${nearest}?`;
  const what = given.startsWith("-") ? `option ${given}` : `command ${JSON.stringify(given)}.${guess}`;
  const text = `there is no ${what}\nTry: ${name} --help`;
  return complain(terminal, text, exitCodes.usage);
}

/** The word that someone began to type, or typed wrong: at least half of it has to be right. */
function meantBy(given: string, words: readonly string[]): string | undefined {
  const begun = words.filter((word) => given !== "" && word.startsWith(given));
  if (begun.length === 1) return begun[0];
  return words
    .map((word) => ({ word, distance: editDistance(given, word) }))
    .filter(({ word, distance }) => distance <= 2 && distance < word.length / 2)
    .toSorted((a, b) => a.distance - b.distance)[0]?.word;
}

/** Errors whose message says all there is to say: ours, and those of the client. */
function isExplained(error: unknown): error is Error {
  const names = ["ApiError", "KubeconfigError", "TransportError", "ResourceDefinitionError"];
  return error instanceof Error && names.includes(error.name);
}

/** How many letters have to be changed, added or taken away to make one word of the other. */
function editDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let i = 1; i <= from.length; i++) {
    const next = [i];
    for (let j = 1; j <= to.length; j++) {
      const change = (row[j - 1] ?? 0) + (from[i - 1] === to[j - 1] ? 0 : 1);
      next.push(Math.min(change, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[to.length] ?? 0;
}
