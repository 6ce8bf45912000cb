import type { Program } from "./command.ts";
import { type Command, helpOption, type Option } from "./command.ts";

const width = 100;

/** The help of one command. */
export function helpFor(program: string, command: Command): string {
  const { arguments: given, description, options, examples } = command;
  const usage = [program, given?.usage, "[options]"].filter((part) => part !== undefined).join(" ");
  return [
    `Usage: ${usage}`,
    description.trim(),
    section("Options", Object.entries<Option>({ ...options, help: helpOption }).map(optionLine)),
    examples.length === 0
      ? undefined
      : `Examples:\n${examples.map(({ line, what }) => `  ${line}\n      ${what}`).join("\n")}`,
  ]
    .filter((part) => part !== undefined)
    .join("\n\n")
    .concat("\n");
}

/** The help of the program: what commands there are. */
export function overview(program: Program): string {
  const { name: called, description, commands, exitCodes = [] } = program;
  const { environment = [["KUBECONFIG", "the cluster to talk to, as for kubectl"]] } = program;
  return [
    `Usage: ${called} COMMAND [options]`,
    description.trim(),
    section(
      "Commands",
      commands.map(({ name, summary }) => [name, summary]),
    ),
    section("Options", [
      ["-h, --help", `show this; ${called} COMMAND --help shows more about a command`],
      ["--version", "show the version"],
    ]),
    section("Environment", [["NO_COLOR", "show no colours"], ...environment]),
    section("Exit codes", [
      ["0", "done"],
      ["1", "it failed: the error message says why"],
      ["2", "the command line is invalid: the error message says what is wrong"],
      ...exitCodes,
      ["130", "interrupted"],
    ]),
  ]
    .join("\n\n")
    .concat("\n");
}

function optionLine([name, option]: [string, Option]): readonly [string, string] {
  const short = option.short === undefined ? "" : `-${option.short}, `;
  if (option.type === "boolean") return [`${short}--${name}`, option.describe];
  const otherwise = option.otherwise === undefined ? "" : ` (default: ${option.otherwise})`;
  return [`${short}--${name} ${option.value}`, option.describe + otherwise];
}

/** Two columns, the right one wrapped. */
function section(title: string, rows: readonly (readonly [string, string])[]): string {
  const left = Math.max(...rows.map(([name]) => name.length)) + 2;
  const lines = rows.map(([name, text]) => {
    const [first = "", ...more] = wrap(text, width - left - 2);
    return [`  ${name.padEnd(left)}${first}`, ...more.map((line) => " ".repeat(left + 2) + line)].join("\n");
  });
  return `${title}:\n${lines.join("\n")}`;
}

function wrap(text: string, columns: number): readonly string[] {
  const lines: string[] = [];
  for (const word of text.split(" ")) {
    const last = lines.at(-1);
    if (last === undefined || last.length + 1 + word.length > columns) lines.push(word);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return lines;
}
