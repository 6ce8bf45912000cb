import { expect, test } from "vitest";
import { publishedManifest } from "./published-manifest.ts";
import { type SourceManifest, sourcePackages } from "./source-packages.ts";

const packages = await sourcePackages();
const ours = new Set(packages.map(({ manifest }) => manifest.name));

const manifest: SourceManifest = {
  name: "@windlass/sample",
  version: "1.2.3",
  description: "A sample",
  type: "module",
  private: true,
  exports: { ".": "./src/index.ts", "./kinds": "./src/kinds/index.ts", "./bin": "./bin/sample.js" },
  dependencies: { "@windlass/client": "1.2.3", pino: "10.4.0" },
  peerDependencies: { zod: "4.6.7" },
  devDependencies: { vitest: "5.1.0" },
};
const published = publishedManifest(
  {
    folder: "sample",
    path: "/packages/sample",
    manifest,
    entries: [
      { subpath: ".", name: "index", source: "src/index.ts" },
      { subpath: "./kinds", name: "kinds", source: "src/kinds/index.ts" },
    ],
    hasProgram: true,
  },
  ours,
);

test("exports lead to what was built, types first", () => {
  expect(published.exports).toEqual({
    ".": { types: "./dist/types/index.d.ts", default: "./dist/index.js" },
    "./kinds": { types: "./dist/types/kinds/index.d.ts", default: "./dist/kinds.js" },
    "./package.json": "./package.json",
  });
  expect(Object.keys(published.exports?.["."] ?? {})[0]).toBe("types");
});

test("our packages fit in one version, others in all that are compatible", () => {
  expect(published.dependencies).toEqual({ "@windlass/client": "1.2.3", pino: "^10.4.0" });
  expect(published.peerDependencies).toEqual({ zod: "^4.6.7" });
});

test("nothing is left that only development needs", () => {
  expect(published).not.toHaveProperty("private");
  expect(published).not.toHaveProperty("devDependencies");
});

test.for(packages)("$folder says what it is to those who look for it", (source) => {
  const { license, engines, type, keywords, repository } = publishedManifest(source, ours);
  expect({ license, engines, type }).toEqual({
    license: "Apache-2.0",
    engines: { node: ">=24" },
    type: "module",
  });
  expect(keywords).toContain("kubernetes");
  expect(repository).toMatchObject({ directory: `packages/${source.folder}` });
});

test("a file that passes on another package counts as having side effects", () => {
  const [source] = packages.filter(({ folder }) => folder === "runtime");
  if (source === undefined) throw new Error("there is no package runtime");
  expect(publishedManifest(source, ours).sideEffects).toBe(false);
  expect(publishedManifest(source, ours, ["./dist/kinds.js"]).sideEffects).toEqual(["./dist/kinds.js"]);
});
