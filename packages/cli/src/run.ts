import type { Command } from "./command.ts";
import { CommandError, exitCodes, UsageError } from "./errors.ts";
import { helpFor, overview } from "./help.ts";
import { parse } from "./parse.ts";
import { styler, type Terminal } from "./terminal.ts";

/** A program of several commands. */
export interface Program {
  readonly name: string;
  readonly version: string;
  /** What it is for, in the overview. */
  readonly description: string;
  readonly commands: readonly Command[];
  /** What the overview says of variables, besides `NO_COLOR`. @default that KUBECONFIG names the cluster */
  readonly environment?: readonly (readonly [name: string, what: string])[];
  /** What the overview says of exit codes, besides those that every program has. @default nothing */
  readonly exitCodes?: readonly (readonly [code: string, what: string])[];
}

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
    await command.run(parsed.given, terminal);
    return exitCodes.done;
  } catch (error) {
    if (terminal.signal.aborted) return exitCodes.interrupted;
    if (error instanceof UsageError)
      return complain(terminal, `${error.message}\nTry: ${program} --help`, exitCodes.usage);
    if (error instanceof CommandError) return complain(terminal, error.message, error.exitCode);
    if (isExplained(error)) return complain(terminal, error.message, exitCodes.failed);
    // A fault of this program: its author needs the stack.
    return complain(terminal, error instanceof Error ? (error.stack ?? error.message) : String(error), 1);
  }
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
  const nearest = commands
    .map((command) => ({ command: command.name, distance: editDistance(given, command.name) }))
    .toSorted((a, b) => a.distance - b.distance)[0];
  const guess = nearest !== undefined && nearest.distance <= 2 ? ` Did you mean ${nearest.command}?` : "";
  const text = `there is no command ${JSON.stringify(given)}.${guess}\nTry: ${name} --help`;
  return complain(terminal, text, exitCodes.usage);
}

/** Errors whose message says all there is to say: ours, those of the client and of the file system. */
function isExplained(error: unknown): error is Error {
  if (!(error instanceof Error)) return false;
  return (
    ["ApiError", "KubeconfigError", "TransportError", "ResourceDefinitionError"].includes(error.name) ||
    "syscall" in error
  );
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
