#!/usr/bin/env node
import { existsSync } from "node:fs";
import * as modules from "node:module";
import { join } from "node:path";

if (Number(process.versions.node.split(".")[0]) < 24) {
  process.stderr.write(
    `windlass-buildbarn needs Node.js 24 or newer, and this is ${process.version}: https://nodejs.org\n`,
  );
  process.exit(1);
}
// Compiled code is kept between runs: it is half of the start-up time.
modules.enableCompileCache();

// In a checkout the sources run as they are. A published package has none.
const sources = join(import.meta.dirname, "..", "src", "cli", "main.ts");
await import(existsSync(sources) ? "../src/cli/main.ts" : "../dist/cli/main.js");
