import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";

const program = join(import.meta.dirname, "..", "bin", "windlass.js");

function windlass(cwd: string, ...args: readonly string[]): string {
  return spawnSync(process.execPath, [program, ...args], { cwd, encoding: "utf8" }).stdout;
}

test("a project that has a windlass of its own runs that one, wherever it was started from", async () => {
  const project = await mkdtemp(join(tmpdir(), "windlass-own-"));
  try {
    expect(windlass(project, "--version")).toMatch(/^\d+\.\d+\.\d+\n$/);
    const own = join(project, "node_modules", "@windlass", "cli");
    await mkdir(join(own, "bin"), { recursive: true });
    await writeFile(join(own, "package.json"), '{ "name": "@windlass/cli", "type": "module" }');
    await writeFile(join(own, "bin", "windlass.js"), "console.log('own', ...process.argv.slice(2));");
    expect(windlass(project, "generate", "--check")).toBe("own generate --check\n");
  } finally {
    await rm(project, { recursive: true, force: true });
  }
}, 30_000);

test("a reader that goes away ends it without a word", { timeout: 30_000 }, async () => {
  const child = spawn(process.execPath, [program, "--help"], { stdio: ["ignore", "pipe", "pipe"] });
  let complained = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    complained += text;
  });
  child.stdout.destroy();
  const [code] = (await once(child, "close")) as [number];
  expect({ code, complained }).toEqual({ code: 0, complained: "" });
});

test.runIf(process.platform === "linux")(
  "a full disk behind its output is said, and no more",
  async () => {
    const full = openSync("/dev/full", "w");
    try {
      const { status, stderr } = spawnSync(process.execPath, [program, "--help"], {
        stdio: ["ignore", full, "pipe"],
        encoding: "utf8",
      });
      expect({ status, stderr }).toEqual({
        status: 1,
        stderr: "error: standard output could not be written: no space is left on the disk\n",
      });
    } finally {
      closeSync(full);
    }
  },
  30_000,
);
