/**
 * `npm run publish-packages [-- OPTION …]`: publishes the tarballs in `dist/`. With `--provenance`
 * npm says where they were built. With `--dry-run` it says which could be, and publishes nothing.
 * Versions that are published already are passed over: a run that failed in the middle can be
 * repeated.
 */
import { glob } from "node:fs/promises";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { publishable, publishTarballs } from "./packaging/publishing.ts";
import { root } from "./packaging/source-packages.ts";

const { values: flags } = parseArgs({
  options: {
    "dry-run": { type: "boolean", default: false },
    provenance: { type: "boolean", default: false },
  },
});
const files = await Array.fromAsync(glob("dist/*.tgz", { cwd: root }));
if (files.length === 0) {
  process.stderr.write("there are no tarballs in dist/: npm run pack makes them\n");
  process.exit(1);
}
const tarballs = await Promise.all(files.toSorted().map((file) => publishable(join(root, file))));
await publishTarballs(tarballs, {
  args: Object.entries(flags).flatMap(([name, isOn]) => (isOn ? [`--${name}`] : [])),
  say: (line) => process.stdout.write(`${line}\n`),
});
