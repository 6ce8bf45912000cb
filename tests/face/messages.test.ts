import { execFile } from "node:child_process";
import { copyFile, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";

const here = import.meta.dirname;
const root = join(here, "../..");
const folder = join(root, "node_modules/.cache/face");
const directive = /^\s*\/\/ @ts-expect-error (.+)$/;

/** Compiles a program in a folder of its own. Resolves to what is said of each of its lines. */
async function messagesFor(program: string): Promise<ReadonlyMap<number, string>> {
  await mkdir(folder, { recursive: true });
  await copyFile(join(here, "kinds.ts"), join(folder, "kinds.ts"));
  await writeFile(join(folder, "refused.ts"), program);
  const settings = { extends: join(root, "tsconfig.json"), files: ["refused.ts"], include: [] };
  const compilerOptions = { tsBuildInfoFile: "face.tsbuildinfo", skipLibCheck: true };
  await writeFile(join(folder, "tsconfig.json"), JSON.stringify({ ...settings, compilerOptions }));
  const tsc = join(root, "node_modules/typescript/bin/tsc");
  const said = await promisify(execFile)(process.execPath, [tsc, "-p", folder, "--pretty", "false"], {
    cwd: folder,
  }).then(
    ({ stdout }) => stdout,
    (error: { readonly stdout: string }) => error.stdout,
  );
  const messages = new Map<number, string>();
  let line = 0;
  for (const text of said.split("\n")) {
    const head = /^refused\.ts\((\d+),\d+\): error TS\d+: (.*)$/.exec(text);
    if (head) line = Number(head[1]);
    const known = messages.get(line);
    messages.set(line, `${known === undefined ? "" : `${known}\n`}${head?.[2] ?? text}`);
  }
  return messages;
}

test("the compiler says of each refused line what its comment says", { timeout: 300_000 }, async () => {
  const source = (await readFile(join(here, "refused.ts"), "utf8")).split("\n");
  const program: string[] = [];
  const expected = new Map<number, string>();
  for (const line of source) {
    const [, says] = directive.exec(line) ?? [];
    // The comment's line is taken out, so the next kept line is the refused one.
    if (says === undefined) program.push(line);
    else expected.set(program.length + 1, says);
  }
  const messages = await messagesFor(program.join("\n"));
  const wrong = [...expected]
    .filter(([line, says]) => !messages.get(line)?.includes(says))
    .map(([line, says]) => ({ code: program[line - 1]?.trim(), says, instead: messages.get(line) }));
  expect(wrong).toEqual([]);
  expect([...messages.keys()].filter((line) => line > 0)).toEqual([...expected.keys()]);
});
