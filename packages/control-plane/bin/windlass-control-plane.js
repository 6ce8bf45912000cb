#!/usr/bin/env node
import { readFileSync, statSync } from "node:fs";
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

/**
 * Whether the bundle has everything that the sources have. Those of an installed package do not change. The bundle comes with a list of its sources and their folders: a folder
 * is written to when a file is added or taken away.
 */
function isCurrent(built) {
  if (root.includes("node_modules") || writtenAt(join(root, "src")) === undefined) return true;
  const list = join(root, "dist", "bundle", "sources.txt");
  if (writtenAt(list) === undefined) return false;
  const sources = readFileSync(list, "utf8").split("\n");
  return sources.every((path) => (writtenAt(join(root, path)) ?? Number.POSITIVE_INFINITY) <= built);
}

const built = writtenAt(bundle);
await import(built !== undefined && isCurrent(built) ? "../dist/bundle/main.js" : "../src/main.ts");
