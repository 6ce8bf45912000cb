import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { windlass } from "../program.ts";
import { runProgram } from "../run.ts";
import { type RecordingTerminal, recordingTerminal } from "../terminal.fixture.ts";

const root = join(import.meta.dirname, "..", "..", "..", "..");

// A new operator, with the packages of this repository. Its ports are any that are free.
let folder: string;
beforeEach(async () => {
  const home = await mkdtemp(join(tmpdir(), "windlass-dev-"));
  await symlink(join(root, "node_modules"), join(home, "node_modules"));
  folder = join(home, "shop");
  await runProgram(windlass, ["create", "shop", "--yes"], recordingTerminal({ folder: home }));
  await edit("src/main.ts", (text) =>
    text.replace("manager({", "manager({ health: { port: 0 }, metrics: { port: 0 },"),
  );
});
afterEach(() => rm(dirname(folder), { recursive: true, force: true }));

async function edit(file: string, change: (text: string) => string): Promise<void> {
  const path = join(folder, file);
  const text = await readFile(path, "utf8");
  expect(change(text)).not.toBe(text);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, change(text));
}

/** What has been told, without when. */
function told(terminal: RecordingTerminal): readonly string[] {
  return terminal
    .said()
    .split("\n")
    .map((line) => line.slice(10).replaceAll(/\s+/g, " ").trim());
}

const patience = { timeout: 30_000, interval: 10 };

test("an operator is shown at work, starts anew when a source changes, and keeps its objects", {
  timeout: 90_000,
}, async () => {
  const terminal = recordingTerminal({ folder, env: { PATH: process.env.PATH ?? "" } });
  const running = runProgram(windlass, ["dev"], terminal);
  await expect.poll(() => told(terminal), patience).toContain("shop shop Ready: 2 of 2 available");
  expect(told(terminal)).toEqual(
    expect.arrayContaining([
      "crd shops.example.com installed",
      "sample shop/shop applied",
      "service shop is there",
    ]),
  );

  // The controller wants something else for the same object.
  await edit("src/controller.ts", (text) =>
    text.replaceAll("port: 80", "port: 8080").replace("replicas,\n", "replicas: 3,\n"),
  );
  await expect.poll(() => told(terminal), patience).toContain("deployment shop 3 of 3 available");
  expect(told(terminal).filter((line) => line === "sample shop/shop applied")).toHaveLength(1);

  // A mistake is told, and its correction is tried.
  await edit("src/kind.ts", (text) => `${text}}`);
  await expect
    .poll(() => told(terminal).join("\n"), patience)
    .toMatch(/could not be loaded; waiting for a change/);
  await edit("src/kind.ts", (text) => text.slice(0, -1));
  const restarts = () => told(terminal).filter((line) => line.startsWith("operator started anew")).length;
  await expect.poll(restarts, patience).toBe(2);

  terminal.interrupt();
  expect(await running).toBe(0);
});

test("for a script it ends with 0 once the samples are Ready, and with 1 if the operator ends before", {
  timeout: 90_000,
}, async () => {
  const env = { PATH: process.env.PATH ?? "" };
  const terminal = recordingTerminal({ folder, env });
  expect(await runProgram(windlass, ["dev", "--exit-when-ready", "--json"], terminal)).toBe(0);
  const last = JSON.parse(terminal.said().trim().split("\n").at(-1) ?? "") as object;
  expect(last).toEqual({
    atMs: expect.any(Number),
    what: "ready",
    words: expect.stringMatching(/^in \d+ ms$/),
  });

  await edit("src/main.ts", () => "process.exit(3);\n");
  const failing = recordingTerminal({ folder, env });
  expect(await runProgram(windlass, ["dev", "--exit-when-ready"], failing)).toBe(1);
  expect(failing.complained()).toContain("the operator ended with exit code 3");
});

test("a folder without an operator is refused", async () => {
  const terminal = recordingTerminal({ folder: dirname(folder) });
  expect(await runProgram(windlass, ["dev"], terminal)).toBe(1);
  expect(terminal.complained()).toContain("run this in the folder of an operator");
});
