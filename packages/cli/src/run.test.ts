import { expect, test } from "vitest";
import type { Program } from "./command.ts";
import { command } from "./command.ts";
import { CommandError, UsageError } from "./errors.ts";
import { windlass } from "./program.ts";
import { runProgram } from "./run.ts";
import { recordingTerminal } from "./terminal.fixture.ts";

const paint = command({
  name: "paint",
  summary: "paint a fence",
  description: "Paints a fence, board by board.",
  arguments: { usage: "[FENCE]", most: 1 },
  options: {
    colour: { type: "string", short: "c", value: "COLOUR", describe: "of the paint", otherwise: "white" },
    twice: { type: "boolean", describe: "a second coat" },
  },
  examples: [{ line: "tool paint --colour red", what: "a red fence" }],
  async run({ options, arguments: [fence = "the fence"] }, { stdout }) {
    if (options.colour === "none") throw new UsageError("no colour is no paint");
    if (fence === "gone") throw new CommandError("gone: there is no such fence; build it first");
    stdout.write(`${fence} is ${options.colour ?? "white"}${options.twice ? ", twice" : ""}\n`);
  },
});
const program: Program = { name: "tool", version: "1.2.3", description: "A tool.", commands: [paint] };

async function run(...args: string[]) {
  const terminal = recordingTerminal();
  const code = await runProgram(program, args, terminal);
  return { code, said: terminal.said(), complained: terminal.complained() };
}

test("a command gets its options and arguments", async () => {
  expect(await run("paint", "mine", "-c", "red", "--twice")).toEqual({
    code: 0,
    said: "mine is red, twice\n",
    complained: "",
  });
});

test("help says how to use a command, whichever way it is asked for", async () => {
  const { said, code } = await run("paint", "--help");
  expect(code).toBe(0);
  expect(said).toBe(`Usage: tool paint [FENCE] [options]

Paints a fence, board by board.

Options:
  -c, --colour COLOUR  of the paint (default: white)
  --twice              a second coat
  -h, --help           show this

Examples:
  tool paint --colour red
      a red fence
`);
  expect((await run("help", "paint")).said).toBe(said);
});

test("without a command there is a list of them", async () => {
  const { said, code } = await run();
  expect(code).toBe(0);
  expect(said).toContain("paint  paint a fence");
  expect((await run("--help")).said).toBe(said);
  expect((await run("--version")).said).toBe("1.2.3\n");
});

test.for([
  [["sand"], 'there is no command "sand".\nTry: tool --help'],
  [["piant"], 'there is no command "piant". Did you mean paint?\nTry: tool --help'],
  [["pa"], 'there is no command "pa". Did you mean paint?\nTry: tool --help'],
  [["--sand"], "there is no option --sand\nTry: tool --help"],
  [["help", "sand"], 'there is no command "sand".\nTry: tool --help'],
  [["paint", "--color", "red"], "there is no option --color\nTry: tool paint --help"],
  [["paint", "--colour"], "Option '-c, --colour <value>' argument missing\nTry: tool paint --help"],
  [["paint", "a", "b"], '"b" is one argument too many\nTry: tool paint --help'],
  [["paint", "--colour", "none"], "no colour is no paint\nTry: tool paint --help"],
] as const)("an invalid command line exits with 2: %j", async ([args, text]) => {
  expect(await run(...args)).toEqual({ code: 2, said: "", complained: `error: ${text}\n` });
});

test("what could not be done ends with 1, and says why", async () => {
  expect(await run("paint", "gone")).toEqual({
    code: 1,
    said: "",
    complained: "error: gone: there is no such fence; build it first\n",
  });
});

test("an interrupted command ends with 130", async () => {
  const terminal = recordingTerminal();
  const waiting = command({
    ...paint,
    name: "wait",
    options: {},
    run: async (_given, { signal }) => {
      terminal.interrupt();
      signal.throwIfAborted();
    },
  });
  expect(await runProgram({ ...program, commands: [waiting] }, ["wait"], terminal)).toBe(130);
});

test("a command that has nothing to put back ends at once when it is interrupted", async () => {
  const terminal = recordingTerminal();
  const endless = command({
    ...paint,
    name: "endless",
    options: {},
    endsAtOnce: true,
    run: () => new Promise<void>(() => undefined),
  });
  const running = runProgram({ ...program, commands: [endless] }, ["endless"], terminal);
  terminal.interrupt();
  expect(await running).toBe(130);
});

test.for([
  [{ code: "ENOENT", path: "/a/b" }, "there is no /a/b"],
  [{ code: "EACCES", path: "/a/b" }, "you have no permission for /a/b"],
  [{ code: "EROFS", path: "/a/b" }, "the file system of /a/b is read-only"],
  [{ code: "ENOSPC" }, "no space is left on the disk"],
  [
    { code: "ENOSPC", syscall: "watch" },
    "too many files are watched on this machine: raise fs.inotify.max_user_watches with sysctl",
  ],
  [{ code: "EISDIR", path: "/a/b" }, "/a/b is a folder, not a file"],
  [{ code: "EADDRINUSE" }, "listen EADDRINUSE"],
] as const)("what the operating system refuses is said in words: %j", async ([fields, text]) => {
  const error = Object.assign(new Error("listen EADDRINUSE"), { syscall: "open", ...fields });
  const refused = command({ ...paint, options: {}, run: () => Promise.reject(error) });
  const terminal = recordingTerminal();
  expect(await runProgram({ ...program, commands: [refused] }, ["paint"], terminal)).toBe(1);
  expect(terminal.complained()).toBe(`error: ${text}\n`);
});

test.for(windlass.commands)(
  "the help of windlass $name fits a terminal, and shows examples",
  async ({ name }) => {
    const terminal = recordingTerminal();
    expect(await runProgram(windlass, [name, "--help"], terminal)).toBe(0);
    expect(terminal.said()).toContain("Examples:");
    expect(
      terminal
        .said()
        .split("\n")
        .filter((line) => line.length > 100),
    ).toEqual([]);
  },
);

test.for([
  ["gen", "generate"],
  ["dco", undefined],
  ["doktor", "doctor"],
  ["foo", undefined],
  ["d", undefined],
] as const)("of windlass %s means %s", async ([given, meant]) => {
  const terminal = recordingTerminal();
  expect(await runProgram(windlass, [given], terminal)).toBe(2);
  const guess = /Did you mean (\w+)\?/.exec(terminal.complained())?.[1];
  expect(guess).toBe(meant);
});

test.for([
  [["diff", "--timeout", "soon"], "--timeout must be a number of seconds"],
  [["diff", "--timeout", "0"], "--timeout must be a number of seconds"],
  [["diff", "--timeout", "1e300"], "--timeout must be a number of seconds"],
  [["top", "--interval", "3000000"], "--interval must be a number of seconds"],
  [["top", "--interval", " "], "--interval must be a number of seconds"],
  [["top", "--count", "1.5"], "--count must be a whole number"],
] as const)("a number out of range is refused: %j", async ([args, words]) => {
  const terminal = recordingTerminal();
  expect(await runProgram(windlass, args, terminal)).toBe(2);
  expect(terminal.complained()).toContain(words);
});

test("part of a second may be any", async () => {
  const terminal = recordingTerminal();
  // It is the next thing that fails.
  expect(await runProgram(windlass, ["diff", "--timeout", "0.3333"], terminal)).toBe(1);
  expect(terminal.complained()).toContain("windlass.config.ts");
});
