/**
 * `npm run publish-packages [-- OPTION …]`: publishes the tarballs in `dist/`. Options are those of `npm publish`: `--provenance`, `--dry-run`.
 * Versions that are published already are passed over: a run that failed in the middle can be repeated.
 */
import { glob } from "node:fs/promises";
import { join } from "node:path";
import { publishable, publishTarballs } from "./packaging/publishing.ts";
import { root } from "./packaging/source-packages.ts";

const files = await Array.fromAsync(glob("dist/*.tgz", { cwd: root }));
if (files.length === 0) {
  process.stderr.write("there are no tarballs in dist/: npm run pack makes them\n");
  process.exit(1);
}
const tarballs = await Promise.all(files.toSorted().map((file) => publishable(join(root, file))));
await publishTarballs(tarballs, {
  args: process.argv.slice(2),
  say: (line) => process.stdout.write(`${line}\n`),
});
