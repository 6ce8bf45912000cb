#!/usr/bin/env node
import { readdirSync, statSync } from "node:fs";
import * as modules from "node:module";
import { join } from "node:path";

if (Number(process.versions.node.split(".")[0]) < 24) {
  process.stderr.write(
    `windlass-control-plane needs Node.js 24 or newer, and this is ${process.version}: npx finds the one installed beside it\n`,
  );
  process.exit(1);
}
// Compiled code is kept between runs: it is half of the start-up time.
modules.enableCompileCache();

const root = join(import.meta.dirname, "..");
const bundle = join(root, "dist", "bundle", "main.js");

/** When a file was last written; nothing for one that is not there. */
function writtenAt(path) {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs;
}

/** Whether the bundle has everything that the sources have. Those of an installed package do not change. */
function isCurrent(built) {
  const sources = join(root, "src");
  if (root.includes("node_modules") || writtenAt(sources) === undefined) return true;
  return readdirSync(sources, { recursive: true, withFileTypes: true }).every(
    (file) => !file.isFile() || (writtenAt(join(file.parentPath, file.name)) ?? 0) <= built,
  );
}

const built = writtenAt(bundle);
await import(built !== undefined && isCurrent(built) ? "../dist/bundle/main.js" : "../src/main.ts");
