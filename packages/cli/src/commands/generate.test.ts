import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { windlass } from "../program.ts";
import { runProgram } from "../run.ts";
import { recordingTerminal } from "../terminal.fixture.ts";

const root = join(import.meta.dirname, "..", "..", "..", "..");

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "windlass-generate-"));
  await symlink(join(root, "node_modules"), join(folder, "node_modules"));
  await writeFile(join(folder, "package.json"), '{ "type": "module", "version": "0.1.0" }');
});
afterEach(() => rm(folder, { recursive: true, force: true }));

/** Declares an operator in a file of its own: a module is loaded once. */
async function declare(file: string, more = ""): Promise<void> {
  const text = `
    import { defineOperator } from "@windlass/cli";
    import { controller, defineResource } from "@windlass/runtime";
    import { z } from "zod";
    const Shop = defineResource({ group: "acme.io", version: "v1", kind: "Shop", spec: z.object({}) });
    export const operator = defineOperator({
      name: "shop-operator", description: "Shops", kinds: [Shop],
      controllers: [controller(Shop, { reconcile: () => undefined })], ${more}
    });`;
  await writeFile(join(folder, file), text);
}

async function generate(...args: readonly string[]) {
  const terminal = recordingTerminal({ folder });
  const code = await runProgram(windlass, ["generate", ...args], terminal);
  return { code, said: terminal.said(), complained: terminal.complained() };
}

const present = async () =>
  (await readdir(folder, { recursive: true })).filter((one) => /^c.*\.(yaml|json)$/.test(one));

test("what was generated is checked: by whether it is there, the same, and all", async () => {
  await declare("windlass.config.ts");
  const before = await generate("--check");
  expect(before.code).toBe(1);
  expect(before.said).toContain("new       config/base/manager.yaml\n");
  expect(await present()).toEqual([]);

  const { code, said } = await generate();
  expect(code).toBe(0);
  expect(said).toMatch(/(\d+) files, \1 changed\n$/);
  expect((await generate("--check")).code).toBe(0);

  const manager = join(folder, "config/base/manager.yaml");
  const text = await readFile(manager, "utf8");
  await writeFile(manager, text.replace("replicas: 2", "replicas: 7"));
  await writeFile(join(folder, "config/base/gateway.yaml"), text);
  await mkdir(join(folder, "config/samples"));
  await writeFile(join(folder, "config/samples/shop.yaml"), "mine: true\n");
  const after = await generate("--check");
  expect(after.code).toBe(1);
  expect(after.said).toBe(
    "left over config/base/gateway.yaml\nchanged   config/base/manager.yaml (+1 -1)\n21 files, 2 changed\n",
  );
  expect(after.complained).toContain("run npx windlass generate");
  expect(await readFile(manager, "utf8")).toContain("replicas: 7");

  await generate();
  expect(await readFile(manager, "utf8")).toBe(text);
  expect(await present()).not.toContain("config/base/gateway.yaml");
  expect(await present()).toContain("config/samples/shop.yaml");
});

test("what an API server would refuse is refused, with its field, and nothing is written", async () => {
  await declare("refused.ts", 'pod: { dnsPolicy: "Sometimes" }');
  const { code, complained } = await generate("--config", "refused.ts");
  expect(code).toBe(1);
  expect(complained).toContain("config/base/manager.yaml: Deployment shop-operator: ");
  expect(complained).toContain("spec.template.spec.dnsPolicy");
  expect(await present()).toEqual([]);
});

test("programs read what changed as JSON", async () => {
  await declare("json.ts");
  const { said } = await generate("--config", "json.ts", "--json");
  expect(JSON.parse(said).changed).toContainEqual({ path: "chart/values.schema.json", is: "missing" });
});

test("a file that declares nothing is distinguished from a missing one", async () => {
  expect((await generate()).complained).toContain("there is no ");
  await writeFile(join(folder, "empty.ts"), "export {};");
  expect((await generate("--config", "empty.ts")).complained).toContain("declares no operator");
});

test("a declaration that cannot be loaded is told with the place in it, and without what loads it", () => {
  // As a program: a test runner loads modules in a way of its own.
  const program = join(root, "packages", "cli", "bin", "windlass.js");
  const complaint = (file: string) => {
    const { status, stderr } = spawnSync(process.execPath, [program, "generate", "--config", file], {
      cwd: folder,
      encoding: "utf8",
    });
    expect(status).toBe(1);
    expect(stderr).not.toMatch(/node:internal|load\.ts/);
    return stderr;
  };
  writeFileSync(join(folder, "broken.ts"), "export const operator = (\n");
  expect(complaint("broken.ts")).toMatch(
    /broken\.ts:1\nexport const operator = \(\n.*Expression expected\n.*broken\.ts could not be loaded\n$/s,
  );
  writeFileSync(join(folder, "failing.ts"), 'throw new Error("no such shop");\nexport {};\n');
  expect(complaint("failing.ts")).toMatch(/no such shop\n +at .*failing\.ts:1:7\n.*could not be loaded\n$/s);
});
