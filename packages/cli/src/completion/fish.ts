import type { Completion, Program } from "../command.ts";
import { type CommandWord, type OptionWord, wordsOf } from "./words.ts";

/** A script for `~/.config/fish/completions`. */
export function fishCompletion(program: Program): string {
  const words = wordsOf(program);
  const complete = `complete -c ${program.name}`;
  const names = words.map(({ name }) => name).join(" ");
  return [
    `# fish completion for ${program.name}`,
    `${complete} -f`,
    ...words.map(
      ({ name, summary }) => `${complete} -n __fish_use_subcommand -a ${name} -d ${quoted(summary)}`,
    ),
    `${complete} -n __fish_use_subcommand -a help -d 'show more about a command'`,
    `${complete} -n __fish_use_subcommand -s h -l help -d 'show what there is'`,
    `${complete} -n __fish_use_subcommand -l version -d 'show the version'`,
    `${complete} -n '__fish_seen_subcommand_from help' -a ${quoted(names)}`,
    ...words.flatMap((word) => commandLines(complete, word)),
    "",
  ].join("\n");
}

function commandLines(complete: string, { name, options, argument }: CommandWord): readonly string[] {
  const here = `${complete} -n '__fish_seen_subcommand_from ${name}'`;
  const values = candidates(argument);
  return [
    ...(values === "" ? [] : [`${here} ${values}`]),
    ...options.map((option) => `${here} ${optionWord(option)}`),
  ];
}

function optionWord({ long, short, describe, value }: OptionWord): string {
  const names = short === undefined ? `-l ${long.slice(2)}` : `-s ${short.slice(1)} -l ${long.slice(2)}`;
  return [names, ...valueWords(value), "-d", quoted(describe)].join(" ");
}

/** A value that is no file must say so: fish offers files otherwise. */
function valueWords(value: OptionWord["value"]): readonly string[] {
  if (value === undefined) return [];
  if (value.completion === "files") return ["-r", "-F"];
  return ["-x", candidates(value.completion)].filter((word) => word !== "");
}

function candidates(completion: Completion): string {
  switch (completion) {
    case "nothing":
      return "";
    case "files":
      return "-F";
    case "folders":
      return "-a '(__fish_complete_directories)'";
    default:
      return `-a ${quoted(completion.join(" "))}`;
  }
}

function quoted(text: string): string {
  return `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
}
