import type { Completion, Program } from "../command.ts";
import { type CommandWord, type OptionWord, wordsOf } from "./words.ts";

/** A script for a file of `$fpath`, or for `~/.zshrc`. */
export function zshCompletion(program: Program): string {
  const words = wordsOf(program);
  const name = `_${program.name}`;
  return `#compdef ${program.name}
${name}() {
  local -a commands
  commands=(
${words.map((word) => `    ${quoted(`${word.name}:${word.summary}`)}`).join("\n")}
  )
  if ((CURRENT == 2)); then
    _describe command commands
    compadd -- help --help --version
    return
  fi
  local command=$words[2]
  shift words
  ((CURRENT--))
  case $command in
${words.map(commandCase).join("\n")}
  help) _describe command commands ;;
  esac
}
# As a file of $fpath it is read when it is first needed, and then completes; elsewhere it only declares.
if [[ $funcstack[1] == ${name} ]]; then
  ${name} "$@"
else
  compdef ${name} ${program.name}
fi
`;
}

function commandCase({ name, options, argument }: CommandWord): string {
  const specs = [...options.flatMap(optionSpecs), `*:argument:${action(argument)}`];
  return `  ${name})
    _arguments ${specs.map((spec) => `\\\n      ${quoted(spec)}`).join(" ")}
    ;;`;
}

function optionSpecs({ long, short, describe, value }: OptionWord): readonly string[] {
  const text = `[${describe.replaceAll(/[[\]:]/g, "\\$&")}]`;
  const rest = value === undefined ? "" : `:${value.name}:${action(value.completion)}`;
  // A value may follow in the same word.
  const words = [value === undefined ? long : `${long}=`, short];
  return words.filter((word) => word !== undefined).map((word) => `${word}${text}${rest}`);
}

function action(completion: Completion): string {
  switch (completion) {
    case "nothing":
      return " ";
    case "files":
      return "_files";
    case "folders":
      return "_files -/";
    default:
      return `(${completion.join(" ")})`;
  }
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
