/**
 * `npm run image -- OPERATOR [NAME] [--output FILE]`: bundles an operator of this repository and
 * makes an image of it, as `windlass image` does for one that uses the published packages. Writes
 * an archive for `docker load`; FILE is `dist/OPERATOR.tar` if not given. `npm run image --
 * OPERATOR --bundle FOLDER` writes the bundled programs alone. `npm run image -- OPERATOR --files
 * FOLDER` writes what the container sees into a folder: for a Dockerfile.
 */
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { imageArchive } from "../packages/cli/src/image/oci-image.ts";
import { bundleOperator, imageOf, writeFilesOf } from "./packaging/operator-image.ts";
import { root } from "./packaging/source-packages.ts";

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { output: { type: "string", short: "o" }, bundle: { type: "string" }, files: { type: "string" } },
});
const [operator, name] = positionals;
if (operator === undefined) {
  process.stderr.write("say of which operator: npm run image -- webapp\n");
  process.exit(2);
}
if (values.bundle !== undefined) await writeBundle(operator, resolve(values.bundle));
else if (values.files !== undefined) await writeFilesOf(operator, resolve(values.files));
else await writeImage(operator);

async function writeBundle(of: string, folder: string): Promise<void> {
  await bundleOperator(of, folder);
  await writeFile(join(folder, "package.json"), '{ "type": "module" }\n');
}

async function writeImage(of: string): Promise<void> {
  const image = await imageOf(of, name);
  const output = resolve(values.output ?? join(root, "dist", `${of}.tar`));
  await mkdir(dirname(output), { recursive: true });
  await writeFile(output, imageArchive(image));
  const megabytes = (bytes: number) => `${(bytes / 1e6).toFixed(1)} MB`;
  process.stdout.write(
    `${output}: ${megabytes(image.unpackedBytes)}, ${megabytes(image.packedBytes)} to pull, ${image.digest}\n`,
  );
}
