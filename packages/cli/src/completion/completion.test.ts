import { execFileSync, spawnSync } from "node:child_process";
import { expect, test } from "vitest";
import { windlass } from "../program.ts";
import { runProgram } from "../run.ts";
import { recordingTerminal } from "../terminal.fixture.ts";

async function script(shell: string): Promise<string> {
  const terminal = recordingTerminal();
  expect(await runProgram(windlass, ["completion", shell], terminal)).toBe(0);
  return terminal.said();
}

/** What bash offers for the last of these words. */
async function offered(...words: readonly string[]): Promise<readonly string[]> {
  const line = words.map((word) => `'${word}'`).join(" ");
  const asking = `COMP_WORDS=(${line}); COMP_CWORD=${words.length - 1}; _windlass; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const input = `${await script("bash")}\n${asking}\n`;
  const text = execFileSync("bash", ["--norc", "-s"], { input, encoding: "utf8", cwd: import.meta.dirname });
  return text.split("\n").filter((word) => word !== "");
}

test("bash completes commands", async () => {
  expect(await offered("windlass", "c")).toEqual(["create", "completion"]);
  expect(await offered("windlass", "help", "ty")).toEqual(["types"]);
});

test("bash completes the options of the command, and no others", async () => {
  expect(await offered("windlass", "create", "--k")).toEqual(["--kind"]);
  expect(await offered("windlass", "types", "--k")).toEqual([]);
});

test("bash completes values as they are declared", async () => {
  expect(await offered("windlass", "completion", "")).toEqual(["bash", "zsh", "fish"]);
  expect(await offered("windlass", "types", "completion.t")).toEqual(["completion.test.ts"]);
  expect(await offered("windlass", "create", "--folder", "completion.t")).toEqual([]);
  expect(await offered("windlass", "create", "--kind", "")).toEqual([]);
});

test.for(["zsh", "fish"])("%s knows every command and option", async (shell) => {
  const text = await script(shell);
  for (const { name, options } of windlass.commands) {
    expect(text).toContain(name);
    for (const option of Object.keys(options))
      expect(text).toContain(shell === "zsh" ? `--${option}[` : `-l ${option}`);
  }
});

test.for(["bash", "zsh", "fish"])("%s can read its script", async (shell) => {
  const { status, error } = spawnSync(shell, ["-n"], { input: await script(shell) });
  // A shell that is not installed says nothing about it.
  if (error === undefined) expect(status).toBe(0);
});

test("an unknown shell is refused with those that are known", async () => {
  const terminal = recordingTerminal();
  expect(await runProgram(windlass, ["completion", "tcsh"], terminal)).toBe(2);
  expect(terminal.complained()).toContain("bash, zsh, fish");
});
