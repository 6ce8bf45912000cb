import type { Program } from "../command.ts";
import { command } from "../command.ts";
import { UsageError } from "../errors.ts";

const shells: Readonly<Record<string, () => Promise<(program: Program) => string>>> = {
  bash: async () => (await import("../completion/bash.ts")).bashCompletion,
  zsh: async () => (await import("../completion/zsh.ts")).zshCompletion,
  fish: async () => (await import("../completion/fish.ts")).fishCompletion,
};
const names = Object.keys(shells);

/** The command that completes those of a program, itself included. */
export const completionOf = (program: () => Program) =>
  command({
    name: "completion",
    summary: `print a script that completes commands and options in ${names.join(", ")}`,
    description: `
Prints a script that has the shell complete windlass' commands, options and their values.
Write it where the shell looks for it, or evaluate it when the shell starts.`,
    arguments: { usage: "SHELL", most: 1, completion: names },
    options: {},
    examples: [
      { line: "windlass completion bash >> ~/.bashrc", what: "for bash" },
      { line: "windlass completion zsh > ~/.zfunc/_windlass", what: "for zsh, where ~/.zfunc is in $fpath" },
      { line: "windlass completion fish > ~/.config/fish/completions/windlass.fish", what: "for fish" },
    ],
    async run({ arguments: [shell] }, { stdout }) {
      const load = shell === undefined || !Object.hasOwn(shells, shell) ? undefined : shells[shell];
      if (load === undefined) throw new UsageError(`say for which shell: ${names.join(", ")}`);
      stdout.write((await load())(program()));
    },
  });
