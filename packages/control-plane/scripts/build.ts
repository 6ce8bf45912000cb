import { readdirSync, rmSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "rolldown";

/**
 * Bundles the command into dist/, which bin/ runs in the place of the sources where it is there and not older than they are:
 * one file is loaded where the sources are a hundred and fifty. What is loaded only when it is needed stays apart.
 *
 *   node scripts/build.ts
 */
const root = fileURLToPath(new URL("..", import.meta.url));

rmSync(`${root}dist`, { recursive: true, force: true });
await build({
  // Threads have entries of their own.
  input: { main: `${root}src/main.ts`, "pattern-worker": `${root}src/patterns/worker.ts` },
  platform: "node",
  output: {
    // Data files are found from here as they are from a folder of the sources.
    dir: `${root}dist/bundle`,
    format: "esm",
    entryFileNames: "[name].js",
    chunkFileNames: "[name]-[hash].js",
    minify: false,
    comments: { legal: true, annotation: false, jsdoc: false },
  },
});

// What bin/ compares the bundle's age with. Tests are not in the bundle, and may change.
const sources = readdirSync(`${root}src`, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isDirectory() || !entry.name.endsWith(".test.ts"))
  .map((entry) => relative(root, join(entry.parentPath, entry.name)));
writeFileSync(`${root}dist/bundle/sources.txt`, ["src", ...sources].join("\n"));
