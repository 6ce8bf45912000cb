import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Newcomer } from "./newcomer.ts";

/**
 * How users have the compiler check their code, from those who want to know everything to those who
 * want to know little.
 */
export const compilerSettings = {
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
} satisfies Readonly<Record<string, object>>;

interface Bundle {
  /** What is installed to make it. */
  readonly versions: readonly string[];
  /** Makes `main.mjs` and `plane.mjs`, from `src/`, in the folder `out/NAME` of the project. */
  readonly make: (user: Newcomer, project: string) => Promise<unknown>;
}

/**
 * pino is CommonJS: where a bundler makes a module of it, it wants `require`. esbuild needs an
 * option, the others do not.
 */
const requireForEsbuild =
  'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);';

/**
 * The control plane's data is most of its bundle: minifying it takes a minute, and shows nothing
 * that the operator's does not.
 */
const webpackConfiguration = `
const shared = {
  mode: "production",
  target: "node24",
  experiments: { outputModule: true },
  output: { path: import.meta.dirname + "/out/webpack", filename: "[name].mjs", module: true, chunkFormat: "module" },
  module: { rules: [{ test: /\\.ts$/, use: import.meta.dirname + "/strip-types.cjs" }] },
};
export default [
  { ...shared, entry: { main: "./src/main.ts" } },
  { ...shared, entry: { plane: "./src/plane.ts" }, optimization: { minimize: false } },
];
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
        "src/plane.ts",
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
  },
  esbuild: {
    versions: ["esbuild@0.28.2"],
    make: (user, project) =>
      user.run(
        project,
        "npx",
        "esbuild",
        "src/main.ts",
        "src/plane.ts",
        "--bundle",
        "--minify",
        "--platform=node",
        "--format=esm",
        `--banner:js=${requireForEsbuild}`,
        "--outdir=out/esbuild",
        "--out-extension:.js=.mjs",
      ),
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
  },
};

/**
 * A program with a control plane inside, whose patterns are matched on a thread: the text is long,
 * and the pattern ambiguous.
 */
export const planeProgram = `
import { Client } from "@windlass/client";
import { ControlPlane } from "@windlass/control-plane";
import { defineResource } from "@windlass/runtime";
import { CustomResourceDefinition } from "@windlass/runtime/kinds";
import { waitForCondition } from "@windlass/testing";
import { z } from "zod";

process.on("worker", () => console.log("a thread was started"));
const Text = defineResource({
  group: "acme.io",
  version: "v1",
  kind: "Text",
  spec: z.object({ text: z.string().regex(/^(a|aa)+$/) }),
});
const plane = await ControlPlane.start();
const client = new Client({ transport: plane.connect() });
const crd = Text.crd();
await client.create(CustomResourceDefinition, crd);
await waitForCondition(client, CustomResourceDefinition, { name: crd.metadata.name }, "Established");
const metadata = { namespace: "default", name: "long" };
await client.create(Text, { metadata, spec: { text: "a".repeat(300_000) } });
console.log("the text matches");
await client.close();
await plane.close();
`;

/**
 * What the compiler must refuse, whatever its settings: an error that is expected and does not come
 * is one too.
 */
export const refusedProgram = `
import type { Client } from "@windlass/client";
import { child, controller, defineResource, metadataOnly } from "@windlass/runtime";
import { ClusterRole, ConfigMap, Namespace, Secret } from "@windlass/runtime/kinds";
import { z } from "zod";

const Note = defineResource({
  group: "acme.io",
  version: "v1",
  kind: "Note",
  spec: z.object({ text: z.string() }),
});

export async function refused(client: Client, namespace: string): Promise<void> {
  await client.create(Note, { metadata: { namespace, name: "a" }, spec: { text: "" } });
  await client.create(Note, { metadata: { namespace, generateName: "a-" }, spec: { text: "" } });
  await client.create(Namespace, { metadata: { name: "a" } });
  // @ts-expect-error A Note has a namespace.
  await client.create(Note, { metadata: { name: "a" }, spec: { text: "" } });
  // @ts-expect-error A Note has a name.
  await client.create(Note, { metadata: { namespace }, spec: { text: "" } });
  // @ts-expect-error A Secret has a namespace.
  await client.update(Secret, { metadata: { name: "a" } });
  // @ts-expect-error A Secret has a namespace.
  await client.apply(Secret, { metadata: { name: "a" } });
  // @ts-expect-error A Secret has a namespace.
  await client.get(Secret, { name: "a" });
  await client.patch(Note, { namespace, name: "a" }, { type: "merge", patch: { metadata: { labels: null } } });
  // @ts-expect-error A Note has no title.
  await client.patch(Note, { namespace, name: "a" }, { type: "merge", patch: { spec: { title: "" } } });
  // @ts-expect-error A child has a name.
  child(ConfigMap, { metadata: {} });
}

export const controllers = [
  controller(Note, {
    // @ts-expect-error A ClusterRole has no namespace.
    owns: [ClusterRole],
    reconcile: () => {},
  }),
  controller(Note, {
    owns: [{ kind: Secret, metadataOnly: true }],
    reconcile: (_note, { owned }) => {
      owned(metadataOnly(Secret));
      // @ts-expect-error It is cached as metadata.
      owned(Secret);
    },
  }),
];
`;
