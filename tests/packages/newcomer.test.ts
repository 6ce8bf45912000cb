import { cp, mkdir, readFile, writeFile } from "node:fs/promises";
import { availableParallelism, loadavg } from "node:os";
import { join } from "node:path";
import { type AnyKind, applyManifest, asManifest, Client, connect } from "@windlass/client";
import { Namespace } from "@windlass/runtime/kinds";
import { startBinaries, waitForCondition } from "@windlass/testing";
import { load } from "js-yaml";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { root } from "../../scripts/packaging/source-packages.ts";
import { type Newcomer, newcomer, type Running } from "./newcomer.ts";
import { bundles, compilerSettings, planeProgram, refusedProgram } from "./settings.ts";

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
});

const countIn = (output: string) => /added (\d+) packages/.exec(output)?.[1];
const guide = () => readFile(join(root, "docs/guides/install.md"), "utf8");

test("an operator's dependencies are as many as the guide says", async () => {
  const folder = join(user.home, "dependencies");
  await mkdir(folder);
  await writeFile(join(folder, "package.json"), "{}");
  const { output } = await user.run(folder, "npm", "install", "@windlass/runtime", "zod");
  expect(await guide()).toContain(`zod\` brings ${countIn(output)} packages`);
});

test("npm install brings all that it needs, once", async () => {
  const { output, tookMs } = await user.run(project, "npm", "install");
  figures["npm install"] = `${seconds(tookMs)}, ${countIn(output)} packages`;
  expect(await guide()).toContain(`writes brings ${countIn(output)} packages`);
  const { output: size } = await user.run(project, "du", "-sm", "node_modules");
  figures.node_modules = `${size.split("\t")[0]} MiB`;
  // Two copies of zod would be two kinds of schema.
  const { output: zods } = await user.run(project, "npm", "ls", "zod", "--parseable", "--all");
  expect(new Set(zods.trim().split("\n")).size).toBe(1);
}, 300_000);

test("npm test passes in under ten seconds", async () => {
  // A terminal may lead to a cluster: tests leave that alone.
  const elsewhere = "KUBECONFIG=/nowhere";
  const { output, tookMs } = await user.run(project, "env", elsewhere, "npm", "test");
  expect(output).toMatch(/pass 3\n.*fail 0/s);
  // On a machine with more to do than it has processors, each program gets its share.
  const crowd = Math.max(1, (loadavg()[0] ?? 0) / availableParallelism());
  figures["npm test"] = `${seconds(tookMs)}, with ${crowd.toFixed(1)} programs to a processor`;
  expect(tookMs).toBeLessThan(10_000 * crowd);
});

test("npm run lint finds nothing", async () => {
  await user.run(project, "npm", "run", "lint");
});

test("npm run generate writes what installs it, and --check sees that it fits", async () => {
  const { output, tookMs } = await user.run(project, "npm", "run", "generate");
  expect(output).toContain("new       chart/values.schema.json");
  figures["npm run generate"] = seconds(tookMs);
  await user.run(project, "npm", "run", "generate", "--", "--check");
});

test("npm run dev shows the samples become Ready", async () => {
  const { output, tookMs } = await user.run(project, "npm", "run", "dev", "--", "--exit-when-ready");
  expect(output).toMatch(/shop +shop Ready: 2 of 2 available/);
  figures["npm run dev, until the sample is Ready"] = seconds(tookMs);
});

test("windlass types writes types that compile", async () => {
  await user.run(project, "npx", "windlass", "types", "config/base/crd.yaml", "--output", "src/foreign");
  await user.run(project, "npx", "tsc");
});

test("every package installs next to it", async () => {
  const libraries = inject("tarballs").filter(({ manifest }) => manifest.exports !== undefined);
  const wanted = libraries.map(({ name, version }) => `${name}@${version}`);
  await user.run(project, "npm", "install", "--save-dev", ...wanted);
  const modules = libraries.flatMap(({ name, manifest }) =>
    Object.keys(manifest.exports ?? {})
      .filter((subpath) => subpath !== "./package.json")
      .map((subpath) => `${name}${subpath.slice(1)}`),
  );
  const lines = modules.map((module, index) => `export * as all${index} from ${JSON.stringify(module)};`);
  await writeFile(join(project, "src", "everything.ts"), `${lines.join("\n")}\n`);
  await user.run(project, "node", "src/everything.ts");
  // So do programs that are CommonJS.
  const requires = modules.map((module) => `require(${JSON.stringify(module)});`).join("");
  await user.run(project, "node", "--input-type=commonjs", "--eval", requires);
});

test.for(Object.entries(compilerSettings))("types hold under %s settings", async ([name, settings]) => {
  // The declarations of everything that the packages export are checked, not only used.
  const compilerOptions = {
    ...settings,
    noEmit: true,
    skipLibCheck: false,
    allowImportingTsExtensions: true,
  };
  const file = `tsconfig.${name}.json`;
  await writeFile(join(project, "src", "refused.ts"), refusedProgram);
  await cp(join(root, "tests/face"), join(project, "src", "face"), { recursive: true });
  // Without `strict` there is nothing that is possibly undefined.
  const exclude = ["src/face/*.test.ts", ...(settings.strict ? [] : ["src/face/refused.ts"])];
  await writeFile(join(project, file), JSON.stringify({ compilerOptions, include: ["src"], exclude }));
  await user.run(project, "npx", "tsc", "-p", file);
});

test("types hold for TypeScript 5 too", async () => {
  await user.run(project, "npm", "install", "--save-dev", "typescript-5@npm:typescript@5.9.3");
  await user.run(project, "node", "node_modules/typescript-5/lib/tsc.js", "-p", "tsconfig.loose.json");
});

test("an error that is thrown in a package points to its source", async () => {
  const code = 'import { defineResource } from "@windlass/runtime"; defineResource({ group: "x" });';
  const failing = user.run(project, "node", "--enable-source-maps", "--input-type=module", "--eval", code);
  await expect(failing).rejects.toThrow(/runtime\/src\/resource\/define-resource\.ts:\d+/);
});

test("npm run image makes an image without Docker", async () => {
  const { output, tookMs } = await user.run(project, "npm", "run", "image");
  const [, size = ""] = /size +([\d.]+) MB/.exec(output) ?? [];
  expect(Number(size)).toBeLessThan(130);
  figures["npm run image"] = `${seconds(tookMs)}, ${size} MB`;
});

test("windlass-control-plane is there, and starts", async () => {
  kubeconfig = join(project, "kubeconfig");
  server = user.start(project, "node_modules/.bin/windlass-control-plane", ["--kubeconfig", kubeconfig]);
  await server.says("ready in");
  await using client = await connect({ kubeconfig });
  await applyManifest(
    client,
    asManifest(load(await readFile(join(project, "config", "base", "crd.yaml"), "utf8")), "crd.yaml"),
  );
});

test("its programs stand in for envtest's, wherever they are started from", async () => {
  const { output } = await user.run(project, "npx", "windlass", "assets");
  const binaries = await startBinaries(output.trim());
  try {
    const client = new Client({ transport: binaries.transport() });
    await client.create(Namespace, { metadata: { name: "kept" } });
    await binaries.apiServer.kill();
    await binaries.apiServer.restart();
    expect((await client.get(Namespace, { name: "kept" })).metadata.name).toBe("kept");
  } finally {
    await binaries.close();
  }
});

test("the operator's own bundle is one file", async () => {
  const { output } = await user.run(project, "npm", "run", "build");
  expect(output).toContain("dist/main.js");
  await becomesLeader("build", "dist/main.js");
});

test.for(Object.entries(bundles))(
  "bundled by %s it becomes the leader, and works, and so does a control plane with its thread",
  async ([name, { versions, make }]) => {
    await writeFile(join(project, "src", "plane.ts"), planeProgram);
    await user.run(project, "npm", "install", "--save-dev", "--ignore-scripts=false", ...versions);
    await mkdir(join(project, "out"), { recursive: true });
    await make(user, project);
    // A bundle needs nothing of what it was made from.
    const place = join(user.home, `bundle-${name}`);
    await cp(join(project, "out", name), place, { recursive: true });
    await becomesLeader(name, join(place, "main.mjs"));
    const { output } = await user.run(place, "node", "plane.mjs");
    expect(output).toContain("a thread was started\nthe text matches\n");
  },
);

/** Runs the operator, and has it do something. */
async function becomesLeader(name: string, main: string): Promise<void> {
  // Other programs of this machine may use the ports that operators listen on by default.
  const ports = { HEALTH_PROBE_BIND_ADDRESS: "127.0.0.1:0", METRICS_BIND_ADDRESS: "127.0.0.1:0" };
  const operator = user.start(project, "node", [main], { KUBECONFIG: kubeconfig, ...ports });
  await operator.says("became the leader");
  await using client = await connect({ kubeconfig });
  const key = { namespace: "default", name };
  const kind: AnyKind = {
    group: "shop.acme.io",
    version: "v1",
    kind: "Shop",
    plural: "shops",
    scope: "Namespaced",
  };
  await client.create(kind, { metadata: key, spec: { image: "nginx:1.29" } });
  await waitForCondition(client, kind, key, "Ready");
  await operator.end();
  // It released the lease, so that the next one need not wait.
  expect(operator.output()).toContain("no longer the leader");
}
