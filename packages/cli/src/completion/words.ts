import type { Program } from "../command.ts";
import { type Command, type Completion, helpOption, type Option } from "../command.ts";

/** An option as a shell completes it. */
export interface OptionWord {
  readonly long: string;
  readonly short: string | undefined;
  readonly describe: string;
  /** How its value is completed; undefined if it has none. */
  readonly value: { readonly name: string; readonly completion: Completion } | undefined;
}

/** A command as a shell completes it. */
export interface CommandWord {
  readonly name: string;
  readonly summary: string;
  readonly options: readonly OptionWord[];
  /** How what follows without a dash is completed. */
  readonly argument: Completion;
}

/** All words that a shell can complete, from the declarations of the commands. */
export function wordsOf({ commands }: Program): readonly CommandWord[] {
  return commands.map((command) => ({
    name: command.name,
    summary: command.summary,
    options: optionWords(command),
    argument: command.arguments?.completion ?? "nothing",
  }));
}

function optionWords({ options }: Command): readonly OptionWord[] {
  return Object.entries<Option>({ ...options, help: helpOption }).map(([name, option]) => ({
    long: `--${name}`,
    short: option.short === undefined ? undefined : `-${option.short}`,
    describe: option.describe,
    value:
      option.type === "boolean"
        ? undefined
        : { name: option.value, completion: option.completion ?? "nothing" },
  }));
}
