import { execFileSync } from "node:child_process";
import { cp, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { startBinaries } from "@windlass/testing";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { type Newcomer, newcomer } from "./newcomer.ts";

let user: Newcomer;
let tools: string;

beforeAll(async () => {
  user = await newcomer(inject("tarballs"));
  await user.run(user.home, "npm", "create", "windlass", "shop");
  tools = join(user.home, "tools");
  await user.run(user.home, "npm", "install", "--prefix", tools, "pnpm@10", "@yarnpkg/cli-dist@4");
});
afterAll(() => user?.[Symbol.asyncDispose]());

test("pnpm installs it: tests, lint, dev, generate and image do as with npm", async () => {
  const project = join(user.home, "with-pnpm");
  await cp(join(user.home, "shop"), project, { recursive: true });
  const pnpm = (...args: readonly string[]) =>
    user.run(project, "node", join(tools, "node_modules/pnpm/bin/pnpm.cjs"), ...args);
  await pnpm("install", "--store-dir", join(user.home, "store"));
  expect((await pnpm("test")).output).toMatch(/pass 3\n.*fail 0/s);
  await pnpm("run", "lint");
  await pnpm("run", "generate");
  expect((await pnpm("run", "dev", "--exit-when-ready")).output).toContain("Ready: 2 of 2 available");
  expect((await pnpm("run", "image")).output).toContain("digest");
});

test.for(["pnp", "node-modules"])(
  "Yarn installs it with its linker %s: tests, dev, generate and assets do as with npm",
  async (linker) => {
    const project = join(user.home, `with-yarn-${linker}`);
    await cp(join(user.home, "shop"), project, { recursive: true });
    // Yarn looks up native programs for every platform, of which a mirror may lack some.
    const manifest = JSON.parse(await readFile(join(project, "package.json"), "utf8")) as {
      readonly devDependencies: Record<string, string>;
    };
    for (const native of ["@biomejs/biome", "rolldown", "typescript"])
      delete manifest.devDependencies[native];
    await writeFile(join(project, "package.json"), JSON.stringify(manifest));
    await writeFile(join(project, "yarn.lock"), "");
    const { output: registry } = await user.run(project, "npm", "config", "get", "registry");
    const settings = {
      nodeLinker: linker,
      npmRegistryServer: registry.trim().split("\n").at(-1),
      unsafeHttpWhitelist: ["127.0.0.1"],
      // What was published a moment ago will do.
      npmMinimalAgeGate: 0,
      enableTelemetry: false,
    };
    await writeFile(join(project, ".yarnrc.yml"), JSON.stringify(settings));
    const yarn = (...args: readonly string[]) =>
      user.run(project, "node", join(tools, "node_modules/@yarnpkg/cli-dist/bin/yarn.js"), ...args);
    await yarn("install", "--no-immutable");
    expect((await yarn("test")).output).toMatch(/pass 3\n.*fail 0/s);
    await yarn("generate");
    expect((await yarn("dev", "--exit-when-ready")).output).toContain("Ready: 2 of 2 available");
    const { output: assets } = await yarn("windlass", "assets");
    const version = execFileSync(join(assets.trim(), "etcd"), ["--version"], { encoding: "utf8" });
    expect(version).toMatch(/^etcd Version/);
    await (await startBinaries(assets.trim())).close();
  },
);
