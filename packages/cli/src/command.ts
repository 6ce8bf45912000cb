import type { Terminal } from "./terminal.ts";

/** How the shell completes a value: from these words, or with names of files or folders. */
export type Completion = readonly string[] | "files" | "folders" | "nothing";

interface OptionText {
  /** One letter that stands for it. @default none */
  readonly short?: string;
  /** What it does, in one line. */
  readonly describe: string;
}

/** An option that is given or not. */
export interface FlagOption extends OptionText {
  readonly type: "boolean";
}

/** An option with a value. */
export interface ValueOption extends OptionText {
  readonly type: "string";
  /** What stands for the value in the help: `FILE`. */
  readonly value: string;
  /** What the help says happens without it. @default nothing */
  readonly otherwise?: string;
  /** @default "nothing" */
  readonly completion?: Completion;
}

/** An option of a command. */
export type Option = FlagOption | ValueOption;
/** The options of a command, by their names. */
export type Options = Readonly<Record<string, Option>>;

/** What was given for each option: a text, `true`, or nothing. */
export type Values<O extends Options> = { readonly [Name in keyof O]?: ValueOf<O[Name]> };

type ValueOf<O extends Option> = O extends FlagOption ? boolean : string;

/** What follows the command's name without a dash. */
export interface Arguments {
  /** How the help writes them: `[NAME]`, `FILE …`. */
  readonly usage: string;
  /** The most there may be. @default any number */
  readonly most?: number;
  /** @default "nothing" */
  readonly completion?: Completion;
}

/** A way to use a command, for those who learn by example. */
export interface Example {
  readonly line: string;
  readonly what: string;
}

/** One thing that the program does. Parsing, help and completion come from this declaration. */
export interface Command<O extends Options = Options> {
  readonly name: string;
  /** What it does, in one line: for the list of commands. */
  readonly summary: string;
  /** What it does, for those who use it: what it reads, what it writes, what to do next. */
  readonly description: string;
  /** @default it takes none */
  readonly arguments?: Arguments;
  readonly options: O;
  readonly examples: readonly Example[];
  /**
   * Whether it can be left at any point: it has nothing to put back, and no file of it is ever half
   * written. Ctrl-C then ends it at once.
   *
   * @default it ends by itself once the terminal's signal is aborted
   */
  readonly endsAtOnce?: boolean;
  /** @throws UsageError, or CommandError, for what the user can put right */
  run(given: Given<O>, terminal: Terminal): Promise<void>;
}

/** A command line, understood. */
export interface Given<O extends Options> {
  readonly options: Values<O>;
  readonly arguments: readonly string[];
}

/** Declares a command; what `run` is given is typed by its options. */
export function command<const O extends Options>(declared: Command<O>): Command {
  // What is parsed by a declaration has the types that it declares: see `parse`.
  return declared as unknown as Command;
}

/** An option that every command has. */
export const helpOption: FlagOption = { type: "boolean", short: "h", describe: "show this" };

/** A program of several commands. */
export interface Program {
  readonly name: string;
  readonly version: string;
  /** What it is for, in the overview. */
  readonly description: string;
  readonly commands: readonly Command[];
  /**
   * What the overview says of variables, besides `NO_COLOR`.
   *
   * @default that KUBECONFIG names the cluster
   */
  readonly environment?: readonly (readonly [name: string, what: string])[];
  /**
   * What the overview says of exit codes, besides those that every program has.
   *
   * @default nothing
   */
  readonly exitCodes?: readonly (readonly [code: string, what: string])[];
}
