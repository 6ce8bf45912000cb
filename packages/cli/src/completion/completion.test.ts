import { execFileSync, spawnSync } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { stripVTControlCharacters } from "node:util";
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
  expect(await offered("windlass", "image", "--format", "=")).toEqual(["archive", "layout", "files"]);
  expect(await offered("windlass", "image", "--format", "=", "a")).toEqual(["archive"]);
  expect(await offered("windlass", "types", "completion.t")).toEqual(["completion.test.ts"]);
  expect(await offered("windlass", "create", "--folder", "completion.t")).toEqual([]);
  expect(await offered("windlass", "create", "--kind", "")).toEqual([]);
});

test("bash completes names of files that have spaces", async () => {
  const folder = await mkdtemp(join(tmpdir(), "windlass completion-"));
  try {
    await writeFile(join(folder, "my crd.yaml"), "");
    expect(await offered("windlass", "types", join(folder, "my"))).toEqual([join(folder, "my crd.yaml")]);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});

const isInstalled = (shell: string) => spawnSync(shell, ["-c", "true"]).error === undefined;

/** Puts a shell's script into a file of a folder of its own while it is looked at. */
async function withScript<T>(shell: string, name: string, look: (file: string) => T): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), "windlass-completion-"));
  try {
    const file = join(folder, name);
    await writeFile(file, await script(shell));
    return look(file);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** What fish offers for a line. */
async function fishOffers(line: string): Promise<readonly string[]> {
  return await withScript("fish", "windlass.fish", (file) => {
    const asking = `source ${file}; complete -C ${JSON.stringify(line)}`;
    const text = execFileSync("fish", ["--no-config", "-c", asking], { encoding: "utf8" });
    const lines = text.split("\n").filter((word) => word !== "");
    return lines.map((word) => word.split("\t")[0] ?? "");
  });
}

test.runIf(isInstalled("fish"))(
  "fish completes commands, options and values",
  async () => {
    expect(await fishOffers("windlass c")).toEqual(["completion", "create"]);
    expect(await fishOffers("windlass --")).toEqual(["--help", "--version"]);
    expect(await fishOffers("windlass create --k")).toEqual(["--kind"]);
    expect(await fishOffers("windlass image --format ")).toEqual(["archive", "files", "layout"]);
    expect(await fishOffers("windlass image --format=a")).toEqual(["--format=archive"]);
    expect(await fishOffers("windlass help ty")).toEqual(["types"]);
  },
  60_000,
);

/**
 * Types a line and a tab into zsh, and returns what the line has become. Waits for the line editor
 * first: the terminal echoes what is typed before, as if the tab had completed nothing.
 */
const typed = `
zmodload zsh/zpty
zpty inner zsh -f -i
for line in "PS1=" "fpath=($1 $fpath)" "autoload -Uz compinit" "compinit -u -D" "\${(@)argv[3,-1]}" \\
  "zle-line-init() { print BE''GIN }; zle -N zle-line-init"; do
  zpty -w inner $line
done
zpty -r inner before '*BEGIN*'
zpty -w -n inner $2$'\\tDONE'
zpty -r -m inner after '*DONE*'
print -r -- $after
zpty -d inner`;

test.runIf(isInstalled("zsh")).for([
  ["a file of $fpath", []],
  ["~/.zshrc", ["source _windlass"]],
] as const)("zsh completes with the first tab, from %s", { timeout: 60_000 }, async ([, lines]) => {
  await withScript("zsh", "_windlass", (file) => {
    const folder = dirname(file);
    const becomes = (line: string) => {
      const args = ["-f", "-s", folder, line, `cd ${folder}`, ...lines];
      const text = execFileSync("zsh", args, { input: typed, encoding: "utf8", timeout: 30_000 });
      // zsh rings for what it cannot complete, and steps back over the space that it has added.
      return stripVTControlCharacters(text).replaceAll(/[^!-~]+/g, " ");
    };
    // What is typed after the tab shows that the tab was answered.
    expect(becomes("windlass cr")).toMatch(/cr ?eate DONE/);
    expect(becomes("windlass help ty")).toMatch(/ty ?pes DONE/);
    expect(becomes("windlass --v")).toMatch(/--v ?ersion DONE/);
    expect(becomes("windlass image --format a")).toMatch(/a ?rchive DONE/);
    expect(becomes("windlass image --format=a")).toMatch(/a ?rchive DONE/);
  });
});

test.for(["zsh", "fish"])("%s knows every command and option", async (shell) => {
  const text = await script(shell);
  for (const { name, options } of windlass.commands) {
    expect(text).toContain(name);
    for (const option of Object.keys(options))
      expect(text).toMatch(new RegExp(shell === "zsh" ? `--${option}=?\\[` : `-l ${option}\\b`));
  }
});

test.for(["bash", "zsh", "fish"])("%s can read its script", async (shell) => {
  await withScript(shell, "script", (file) => {
    const { status, error } = spawnSync(shell, ["-n", file]);
    // A shell that is not installed says nothing about it.
    if (error === undefined) expect(status).toBe(0);
  });
});

test("an unknown shell is refused with those that are known", async () => {
  const terminal = recordingTerminal();
  expect(await runProgram(windlass, ["completion", "tcsh"], terminal)).toBe(2);
  expect(terminal.complained()).toContain("bash, zsh, fish");
});
