/**
 * `npm run api-reference`: builds every package, and writes the pages of docs/reference/api from
 * the comments in its sources.
 */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { apiReference } from "./packaging/api-reference.ts";
import { buildPackages } from "./packaging/build.ts";
import { root, sourcePackages } from "./packaging/source-packages.ts";

const packages = await sourcePackages();
await buildPackages(packages);
const folder = join(root, "docs", "reference", "api");
for (const [name, text] of await apiReference(packages)) await writeFile(join(folder, name), text);
process.stdout.write(`${folder} is written\n`);
