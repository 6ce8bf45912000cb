/** `npm run pack`: builds every package and makes the tarballs that are published, in `dist/`. */
import { join, relative } from "node:path";
import { buildPackages } from "./packaging/build.ts";
import { root, sourcePackages } from "./packaging/source-packages.ts";
import { packTarballs } from "./packaging/tarballs.ts";

const packages = await sourcePackages();
await buildPackages(packages);
for (const { file, size, unpackedSize, files } of await packTarballs(packages, join(root, "dist"))) {
  const kilobytes = (bytes: number) => `${Math.ceil(bytes / 1024)} KiB`.padStart(9);
  process.stdout.write(
    `${relative(root, file).padEnd(45)} ${kilobytes(size)} packed ${kilobytes(unpackedSize)} unpacked ${String(files.length).padStart(4)} files\n`,
  );
}
