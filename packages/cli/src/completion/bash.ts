import type { Completion, Program } from "../command.ts";
import { type CommandWord, wordsOf } from "./words.ts";

/** A script for `~/.bashrc`. */
export function bashCompletion(program: Program): string {
  const words = wordsOf(program);
  const name = `_${program.name}`;
  const names = words.map((word) => word.name);
  return `# bash completion for ${program.name}
${name}() {
  local current=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD - 1]}
  # bash takes --option=value for three words.
  if [[ $current == = ]]; then
    current=
  elif [[ $previous == = ]]; then
    previous=\${COMP_WORDS[COMP_CWORD - 2]}
  fi
  # What is offered comes in lines: names of files may have spaces.
  local IFS=$'\\n'
  COMPREPLY=()
  if ((COMP_CWORD == 1)); then
    ${reply([...names, "help", "--help", "--version"])}
    return
  fi
  case "\${COMP_WORDS[1]} $previous" in
${words.flatMap(valueCases).join("\n")}
  esac
  case "\${COMP_WORDS[1]}" in
${words.map(commandCase).join("\n")}
  help) ${reply(names)} ;;
  esac
}
complete -F ${name} ${program.name}
`;
}

/** What follows an option is its value, and nothing else. */
function valueCases({ name, options }: CommandWord): readonly string[] {
  return options.flatMap(({ long, short, value }) => {
    if (value === undefined) return [];
    const patterns = [long, short].filter((word) => word !== undefined).map((word) => `"${name} ${word}"`);
    return [`  ${patterns.join(" | ")})\n    ${reply(value.completion)}\n    return\n    ;;`];
  });
}

function commandCase({ name, options, argument }: CommandWord): string {
  const flags = options.flatMap(({ long, short }) => (short === undefined ? [long] : [long, short]));
  return `  ${name})
    if [[ $current == -* ]]; then
      ${reply(flags)}
    else
      ${reply(argument)}
    fi
    ;;`;
}

function reply(completion: Completion): string {
  switch (completion) {
    case "nothing":
      return ":";
    case "files":
      return 'compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -f -- "$current"))';
    case "folders":
      return 'compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -d -- "$current"))';
    default:
      return `COMPREPLY=($(compgen -W $'${completion.join("\\n")}' -- "$current"))`;
  }
}
