import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join, posix } from "node:path";
import { promisify } from "node:util";
import { root, type SourcePackage } from "./source-packages.ts";

const run = promisify(execFile);

/** Writes the declarations of a package into its `dist/types`. */
export async function declarePackage(source: SourcePackage): Promise<void> {
  if (source.entries.length === 0) return;
  const cache = join(root, "node_modules", ".cache");
  await mkdir(cache, { recursive: true });
  const folder = await mkdtemp(join(cache, "declarations-"));
  try {
    const project = join(folder, "tsconfig.json");
    await writeFile(project, JSON.stringify(compilerProject(source, folder)));
    // Found wherever this was started from: scripts that npm did not start have no tools in their
    // PATH.
    await run(join(root, "node_modules", ".bin", "tsc"), ["-p", project]);
    await publishDeclarations(source, join(folder, "src"));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** A compiler project for one package alone: what comes from another has its declarations there. */
function compilerProject({ path, entries }: SourcePackage, folder: string): object {
  return {
    extends: join(root, "tsconfig.json"),
    compilerOptions: {
      noEmit: false,
      incremental: false,
      tsBuildInfoFile: null,
      declaration: true,
      emitDeclarationOnly: true,
      // `npm run types` has checked them.
      noCheck: true,
      rootDir: path,
      outDir: folder,
    },
    files: entries.map(({ source }) => join(path, source)),
    include: [],
  };
}

/**
 * Copies what is reachable from the package's exports: most modules are private, and so are their
 * types.
 */
async function publishDeclarations(source: SourcePackage, emitted: string): Promise<void> {
  const types = join(source.path, "dist", "types");
  const pending = source.entries.map((entry) => declarationOf(posix.relative("src", entry.source)));
  const seen = new Set<string>(pending);
  for (let file = pending.pop(); file !== undefined; file = pending.pop()) {
    const declaration = publishedDeclaration(await readFile(join(emitted, file), "utf8"));
    await mkdir(dirname(join(types, file)), { recursive: true });
    await writeFile(join(types, file), declaration.text);
    for (const imported of declaration.imports) {
      const path = posix.join(posix.dirname(file), imported);
      if (seen.has(path)) continue;
      seen.add(path);
      pending.push(path);
    }
  }
}

/** A declaration as it is published, and the declarations it refers to by their path from it. */
export interface PublishedDeclaration {
  readonly text: string;
  readonly imports: readonly string[];
}

const relativeImport = /(\bfrom |\bimport\()"(\.[^"]*)\.ts"/g;
const nodeTypes = /\bBuffer\b|\bNodeJS\.|"node:/;
const disposables = /\b(?:Async)?Disposable\b|\bSymbol\.(?:asyncD|d)ispose\b/;

/**
 * Makes a declaration fit for any project: imports end with `.js`, as they do in the JavaScript;
 * and what it needs beyond the language that every project compiles for, it asks for.
 */
export function publishedDeclaration(emitted: string): PublishedDeclaration {
  const imports = [...emitted.matchAll(relativeImport)].map(([, , path = ""]) => `${path}.d.ts`);
  const code = withoutComments(emitted);
  const references = [
    nodeTypes.test(code) ? '/// <reference types="node" />\n' : "",
    disposables.test(code) ? '/// <reference lib="esnext.disposable" />\n' : "",
  ];
  return { text: references.join("") + emitted.replaceAll(relativeImport, '$1"$2.js"'), imports };
}

function withoutComments(text: string): string {
  return text.replaceAll(/\/\*[\s\S]*?\*\//g, "");
}

function declarationOf(source: string): string {
  return source.replace(/\.ts$/, ".d.ts");
}
