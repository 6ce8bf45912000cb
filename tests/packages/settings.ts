import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Newcomer } from "./newcomer.ts";

/** How users have the compiler check their code, from those who want to know everything to those who want to know little. */
export const compilerSettings: Readonly<Record<string, object>> = {
  strictest: {
    target: "es2024",
    lib: ["es2024", "esnext.disposable"],
    module: "nodenext",
    types: ["node"],
    strict: true,
    allowUnreachableCode: false,
    allowUnusedLabels: false,
    erasableSyntaxOnly: true,
    exactOptionalPropertyTypes: true,
    isolatedModules: true,
    noFallthroughCasesInSwitch: true,
    noImplicitOverride: true,
    noImplicitReturns: true,
    noPropertyAccessFromIndexSignature: true,
    noUncheckedIndexedAccess: true,
    noUncheckedSideEffectImports: true,
    noUnusedLocals: true,
    noUnusedParameters: true,
    verbatimModuleSyntax: true,
  },
  loose: {
    target: "es2022",
    lib: ["es2022"],
    module: "esnext",
    moduleResolution: "bundler",
    types: ["node"],
    strict: true,
    exactOptionalPropertyTypes: false,
  },
  lax: { target: "es2022", lib: ["es2022", "dom"], module: "preserve", types: [], strict: false },
};

interface Bundle {
  /** What is installed to make it. */
  readonly versions: readonly string[];
  /** Makes it in the folder `out/NAME` of the project. */
  readonly make: (user: Newcomer, project: string) => Promise<unknown>;
  /** The file of it that Node runs. */
  readonly main: string;
}

/** pino is CommonJS: where a bundler makes a module of it, it wants `require`. esbuild has to be told, the others know. */
const requireForEsbuild =
  'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);';

const webpackConfiguration = `
export default {
  mode: "production",
  target: "node24",
  entry: "./src/main.ts",
  experiments: { outputModule: true },
  output: { path: import.meta.dirname + "/out/webpack", filename: "main.mjs", module: true, chunkFormat: "module" },
  module: { rules: [{ test: /\\.ts$/, use: import.meta.dirname + "/strip-types.cjs" }] },
};
`;

/** How users make one file, or a few, of their program. */
export const bundles: Readonly<Record<string, Bundle>> = {
  rolldown: {
    versions: [],
    make: (user, project) =>
      user.run(
        project,
        "npx",
        "rolldown",
        "src/main.ts",
        "--platform",
        "node",
        "--format",
        "esm",
        "--dir",
        "out/rolldown",
        "--entry-file-names",
        "[name].mjs",
        "--chunk-file-names",
        "[name]-[hash].mjs",
      ),
    main: "main.mjs",
  },
  esbuild: {
    versions: ["esbuild@0.28.2"],
    make: (user, project) =>
      user.run(
        project,
        "npx",
        "esbuild",
        "src/main.ts",
        "--bundle",
        "--minify",
        "--platform=node",
        "--format=esm",
        `--banner:js=${requireForEsbuild}`,
        "--outfile=out/esbuild/main.mjs",
      ),
    main: "main.mjs",
  },
  webpack: {
    versions: ["webpack@5.112.2", "webpack-cli@7.3.1"],
    make: async (user, project) => {
      const loader =
        'const { stripTypeScriptTypes } = require("node:module");\nmodule.exports = (code) => stripTypeScriptTypes(code);\n';
      await writeFile(join(project, "strip-types.cjs"), loader);
      await writeFile(join(project, "webpack.config.mjs"), webpackConfiguration);
      return await user.run(project, "npx", "webpack");
    },
    main: "main.mjs",
  },
};
