import { cp, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { applyManifest, connect, type Manifest } from "@windlass/client";
import { waitForCondition } from "@windlass/testing";
import { load } from "js-yaml";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { type Newcomer, newcomer, type Running } from "./newcomer.ts";
import { bundles, compilerSettings } from "./settings.ts";

/** Tests build on one another, as the steps of a newcomer do. */
let user: Newcomer;
let project: string;
let server: Running | undefined;
let kubeconfig: string;
const figures: Record<string, string> = {};

const seconds = (ms: number) => `${(ms / 1_000).toFixed(1)} s`;

beforeAll(async () => {
  user = await newcomer(inject("tarballs"));
  project = join(user.home, "shop-operator");
});
afterAll(async () => {
  for (const { name, size, unpackedSize } of inject("tarballs"))
    figures[name] = `${Math.ceil(size / 1_024)} KiB packed, ${Math.ceil(unpackedSize / 1_024)} KiB unpacked`;
  console.table(figures);
  await server?.end();
  await user?.[Symbol.asyncDispose]();
});

test("npm create windlass writes an operator", async () => {
  const args = ["create", "windlass", "shop-operator", "--", "--kind", "Shop", "--group", "shop.acme.io"];
  const { output, tookMs } = await user.run(user.home, "npm", ...args);
  expect(output).toContain("npm run dev");
  figures["npm create"] = seconds(tookMs);
  // Other programs of this machine may use the ports that operators listen on by default.
  await edit("src/main.ts", "manager({", "manager({ health: { port: 0 }, metrics: { port: 0 },");
});

test("npm install brings all that it needs, once", async () => {
  const { output, tookMs } = await user.run(project, "npm", "install");
  figures["npm install"] = `${seconds(tookMs)}, ${/added (\d+) packages/.exec(output)?.[1]} packages`;
  const { output: size } = await user.run(project, "du", "-sm", "node_modules");
  figures.node_modules = `${size.split("\t")[0]} MiB`;
  // Two copies of zod would be two kinds of schema.
  const { output: zods } = await user.run(project, "npm", "ls", "zod", "--parseable", "--all");
  expect(new Set(zods.trim().split("\n")).size).toBe(1);
}, 300_000);

test("npm test passes in under ten seconds", async () => {
  const { output, tookMs } = await user.run(project, "npm", "test");
  expect(output).toMatch(/pass 3\n.*fail 0/s);
  figures["npm test"] = seconds(tookMs);
  expect(tookMs).toBeLessThan(10_000);
});

test("npm run lint finds nothing, and the manifests are what the code says", async () => {
  await user.run(project, "npm", "run", "lint");
  await user.run(project, "npm", "run", "manifests", "--", "--check");
});

test("npm run dev shows the samples become Ready", async () => {
  const { output, tookMs } = await user.run(project, "npm", "run", "dev", "--", "--exit-when-ready");
  expect(output).toMatch(/shop +shop Ready: 2 of 2 available/);
  figures["npm run dev, until the sample is Ready"] = seconds(tookMs);
});

test("windlass types writes types that compile", async () => {
  await user.run(project, "npx", "windlass", "types", "config/crd.yaml", "--output", "src/foreign");
  await user.run(project, "npx", "tsc");
});

test("a package that the operator did not need at first can be added", async () => {
  await user.run(project, "npm", "install", "@windlass/relay");
});

test.for(Object.entries(compilerSettings))("types hold under %s settings", async ([name, settings]) => {
  // Everything that the packages export, checked with the libraries themselves.
  const exports = inject("tarballs").flatMap(({ name: module, manifest }) =>
    Object.keys(manifest.exports ?? {})
      .filter((subpath) => subpath !== "./package.json")
      .map((subpath) => `${module}${subpath.slice(1)}`),
  );
  const lines = exports.map((module, index) => `export * as all${index} from ${JSON.stringify(module)};`);
  await writeFile(join(project, "src", "everything.ts"), `${lines.join("\n")}\n`);
  await writeFile(
    join(project, `tsconfig.${name}.json`),
    JSON.stringify({
      compilerOptions: { ...settings, noEmit: true, skipLibCheck: false, allowImportingTsExtensions: true },
      include: ["src"],
    }),
  );
  await user.run(project, "npx", "tsc", "-p", `tsconfig.${name}.json`);
});

test("types hold for TypeScript 5 too", async () => {
  await user.run(project, "npm", "install", "--no-save", "typescript-5@npm:typescript@5.9.3");
  await user.run(project, "node", "node_modules/typescript-5/lib/tsc.js", "-p", "tsconfig.loose.json");
});

test("an error that is thrown in a package leads to its source", async () => {
  const code = 'import { defineResource } from "@windlass/runtime"; defineResource({ group: "x" });';
  const failing = user.run(project, "node", "--enable-source-maps", "--input-type=module", "--eval", code);
  await expect(failing).rejects.toThrow(/runtime\/src\/resource\/define-resource\.ts:\d+/);
});

test("windlass-control-plane is there, and starts", async () => {
  kubeconfig = join(project, "kubeconfig");
  server = user.start(project, "node_modules/.bin/windlass-control-plane", ["--kubeconfig", kubeconfig]);
  await server.says("ready in");
  await using client = await connect({ kubeconfig });
  await applyManifest(client, load(await readFile(join(project, "config", "crd.yaml"), "utf8")) as Manifest);
});

test("the operator's own bundle is one file", async () => {
  const { output } = await user.run(project, "npm", "run", "build");
  expect(output).toContain("dist/main.js");
  await becomesLeader("build", "dist/main.js");
});

test.for(Object.entries(bundles))(
  "bundled by %s it becomes the leader, and works",
  async ([name, { versions, make, main }]) => {
    await user.run(project, "npm", "install", "--no-save", "--ignore-scripts=false", ...versions);
    await mkdir(join(project, "out"), { recursive: true });
    await make(user, project);
    // A bundle needs nothing of what it was made from.
    const place = join(user.home, `bundle-${name}`);
    await cp(join(project, "out", name), place, { recursive: true });
    await becomesLeader(name, join(place, main));
  },
);

/** Runs the operator, and has it do something. */
async function becomesLeader(name: string, main: string): Promise<void> {
  const operator = user.start(project, "node", [main], { KUBECONFIG: kubeconfig });
  await operator.says("became the leader");
  await using client = await connect({ kubeconfig });
  const key = { namespace: "default", name };
  const kind = {
    group: "shop.acme.io",
    version: "v1",
    kind: "Shop",
    plural: "shops",
    scope: "Namespaced",
  } as const;
  await client.create(kind, { metadata: key, spec: { image: "nginx:1.29" } } as never);
  await waitForCondition(client, kind, key, "Ready");
  await operator.end();
  // It let go of the lease, so that the next one need not wait.
  expect(operator.output()).toContain("no longer the leader");
}

async function edit(file: string, from: string, to: string): Promise<void> {
  const path = join(project, file);
  const text = await readFile(path, "utf8");
  expect(text).toContain(from);
  await writeFile(path, text.replace(from, to));
}
