import { readdir, rm, writeFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { build, type OutputChunk, type OutputOptions } from "rolldown";
import { embedFiles } from "./embedded-files.ts";
import { licensesOf } from "./licenses.ts";
import { programsAlone, type SourcePackage } from "./source-packages.ts";

/** Everything that is not a path: packages, and what comes with Node. */
const fromElsewhere = /^[^./\0]/;

const output = {
  format: "esm",
  entryFileNames: "[name].js",
  minify: false,
  // What is documented is documented in the declarations.
  comments: { legal: true, annotation: true, jsdoc: false },
} as const satisfies OutputOptions;

/** Bundles a package's sources into its `dist/`. */
export async function bundlePackage(source: SourcePackage): Promise<void> {
  await rm(join(source.path, "dist"), { recursive: true, force: true });
  if (source.entries.length > 0) await bundleEntries(source);
  if (programsAlone.has(source.folder)) await bundleProgram(source);
}

/**
 * A file for each export, and for what they share or load later one in `chunks/`: a dozen files are
 * loaded in half the time of two hundred. What the package depends on stays outside.
 */
async function bundleEntries(source: SourcePackage): Promise<void> {
  const entries = source.entries.map((entry) => [entry.name, entry.source] as const);
  if (source.hasProgram && !programsAlone.has(source.folder)) entries.push(["main", "src/main.ts"]);
  const built = await build({
    input: Object.fromEntries(entries.map(([name, path]) => [name, join(source.path, path)])),
    cwd: source.path,
    platform: "node",
    external: fromElsewhere,
    plugins: [embedFiles()],
    checks: { ineffectiveDynamicImport: false, bundlerTimings: false },
    output: {
      ...output,
      dir: join(source.path, "dist"),
      chunkFileNames: "chunks/[name]-[hash].js",
      sourcemap: true,
    },
    logLevel: "warn",
  });
  refuseFilesBeside(source, built.output);
}

/**
 * A program together with all that it depends on, in `dist/bundle/`: nothing has to be looked for
 * when it starts. `bin/` runs it in the place of the sources where it is there and not older than
 * they are.
 */
async function bundleProgram(source: SourcePackage): Promise<void> {
  const folder = join(source.path, "dist", "bundle");
  const built = await build({
    input: { main: join(source.path, "src", "main.ts") },
    cwd: source.path,
    platform: "node",
    plugins: [embedFiles()],
    output: { ...output, dir: folder, chunkFileNames: "[name]-[hash].js" },
    logLevel: "warn",
  });
  const modules = chunksOf(built.output).flatMap(({ moduleIds }) => moduleIds);
  const licenses = await licensesOf(modules);
  if (licenses !== "") await writeFile(join(folder, "LICENSES.txt"), licenses);
  await writeFile(join(folder, "sources.txt"), (await sourcesOf(source)).join("\n"));
}

/** What `bin/` compares the bundle's age with. Tests are not in the bundle, and may change. */
async function sourcesOf({ path }: SourcePackage): Promise<string[]> {
  const entries = await readdir(join(path, "src"), { recursive: true, withFileTypes: true });
  const sources = entries
    .filter((entry) => entry.isDirectory() || !entry.name.endsWith(".test.ts"))
    .map((entry) => relative(path, join(entry.parentPath, entry.name)));
  return ["src", ...sources];
}

/**
 * `import.meta` differs in a user's bundle.
 *
 * @throws Error naming the file that asks
 */
function refuseFilesBeside(source: SourcePackage, built: readonly { readonly type: string }[]): void {
  for (const { code, fileName } of chunksOf(built)) {
    const at = code.indexOf("import.meta");
    if (at < 0) continue;
    const line = code.slice(0, at).split("\n").length;
    throw new Error(
      `${source.manifest.name}: dist/${fileName}:${line} uses import.meta, which a user's bundler changes. ` +
        "Put the file that it reads into the module: scripts/packaging/embedded-files.ts",
    );
  }
}

function chunksOf(built: readonly { readonly type: string }[]): readonly OutputChunk[] {
  return built.filter((one): one is OutputChunk => one.type === "chunk");
}
