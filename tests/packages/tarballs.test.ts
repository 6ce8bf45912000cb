import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, inject, test } from "vitest";
import { root, sourcePackages } from "../../scripts/packaging/source-packages.ts";
import type { Tarball } from "../../scripts/packaging/tarballs.ts";

const run = promisify(execFile);
const packages = await sourcePackages();
const libraries = packages.filter(({ entries }) => entries.length > 0);
const tarballs = new Map(inject("tarballs").map((tarball) => [tarball.name, tarball]));
const tarball = (name: string) => tarballs.get(name) as Tarball;

test("the guide states the sizes of the packages, to within a tenth", async () => {
  const guide = await readFile(join(root, "docs/guides/install.md"), "utf8");
  const rows = [...guide.matchAll(/^\| ((?:`[^`]+`(?:, )?)+) \| ([\d,]+) KiB \| ([\d,]+) KiB \|/gm)];
  const stated = new Set<string>();
  for (const [, cell = "", ...sizes] of rows) {
    const names = [...cell.matchAll(/`([^`]+)`/g)].map(([, name = ""]) => name);
    for (const name of names) stated.add(name);
    const total = (size: (one: Tarball) => number) =>
      names.reduce((sum, name) => sum + size(tarball(name)), 0) / 1_024;
    const [packed = 0, unpacked = 0] = sizes.map((size) => Number(size.replaceAll(",", "")));
    const actual = { packed: total(({ size }) => size), unpacked: total((one) => one.unpackedSize) };
    const off = { packed: packed / actual.packed - 1, unpacked: unpacked / actual.unpacked - 1 };
    const inKiB = `${cell}: ${Math.ceil(actual.packed)} KiB packed, ${Math.ceil(actual.unpacked)} KiB unpacked`;
    expect(Math.abs(off.packed), inKiB).toBeLessThan(0.1);
    expect(Math.abs(off.unpacked), inKiB).toBeLessThan(0.1);
  }
  expect([...stated].toSorted()).toEqual([...tarballs.keys()].toSorted());
});

test.for(packages)("$manifest.name: publint finds nothing", async ({ manifest }) => {
  const { stdout } = await run("publint", [tarball(manifest.name).file, "--strict"]);
  expect(stdout).toContain("All good!");
});

test.for(libraries)(
  "$manifest.name: the types are found wherever the code is found",
  async ({ manifest }) => {
    // CommonJS programs, and resolution as it was before exports, are left out: this is for Node
    // 24.
    await run("attw", [tarball(manifest.name).file, "--profile", "esm-only"]);
  },
);

test.for(packages)(
  "$manifest.name: no sources, no tests, nothing that was forgotten",
  ({ manifest, entries }) => {
    const paths = tarball(manifest.name).files.map(({ path }) => path);
    expect(
      paths.filter((path) => /\.test\.|\.fixture\.|(?<!\.d)\.ts$|sources\.txt|data\//.test(path)),
    ).toEqual([]);
    expect(paths).toEqual(expect.arrayContaining(["package.json", "README.md", "LICENSE"]));
    for (const { name } of entries) expect(paths).toContain(`dist/${name}.js`);
  },
);

test.for(packages)("$manifest.name: an installation has the peers of its dependencies", ({ manifest }) => {
  // Otherwise Yarn and pnpm install what it brings once more, without those peers: a second runtime
  // knows nothing of the first one's kinds.
  const { dependencies = {}, peerDependencies = {} } = tarball(manifest.name).manifest;
  const passedOn = Object.keys(dependencies).map((name) => tarballs.get(name)?.manifest.peerDependencies);
  expect(peerDependencies).toMatchObject(Object.assign({}, ...passedOn));
});

test.for(libraries)("$manifest.name: stack traces lead to its sources", async ({ path, entries }) => {
  for (const { name } of entries) {
    const code = await readFile(join(path, "dist", `${name}.js`), "utf8");
    // A file that passes on what others export has nothing to lead to.
    if (!/\b(?:function|class|const)\b/.test(code)) continue;
    const map = JSON.parse(await readFile(join(path, "dist", `${name}.js.map`), "utf8")) as {
      readonly sources: readonly string[];
      readonly sourcesContent: readonly string[];
    };
    // Data throws nothing.
    const source = map.sources.findIndex((one) => !one.endsWith(".json"));
    if (source < 0) continue;
    expect(map.sources[source]).toMatch(/^\.\.\/src\/.*\.ts$/);
    expect(map.sourcesContent[source]).not.toBe("");
  }
});
