#!/usr/bin/env node
import { existsSync, realpathSync } from "node:fs";
import * as modules from "node:module";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";

if (Number(process.versions.node.split(".")[0]) < 24) {
  process.stderr.write(
    `windlass needs Node.js 24 or newer, and this is ${process.version}: https://nodejs.org\n`,
  );
  process.exit(1);
}
// Compiled code is kept between runs: it is half of the start-up time.
modules.enableCompileCache();

/**
 * The package of this program that the project in this folder has, if it has one. It is the one to run, wherever it was started from: an
 * operator is made of the packages beside it, and those of another copy do not fit.
 */
function ofProject() {
  try {
    const { resolve } = modules.createRequire(join(process.cwd(), "package.json"));
    return realpathSync(dirname(resolve("@windlass/cli/package.json")));
  } catch {
    return undefined;
  }
}

const here = realpathSync(join(import.meta.dirname, ".."));
const own = ofProject() ?? here;
if (own === here) {
  // In a checkout the sources run as they are. A published package has none.
  const sources = join(here, "src", "main.ts");
  await import(existsSync(sources) ? "../src/main.ts" : "../dist/main.js");
} else {
  await import(pathToFileURL(join(own, "bin", "windlass.js")).href);
}
