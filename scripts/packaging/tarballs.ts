import { execFile } from "node:child_process";
import { cp, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { type PublishedManifest, publishedManifest } from "./published-manifest.ts";
import { root, type SourcePackage } from "./source-packages.ts";

const run = promisify(execFile);

/** A package as it is uploaded to a registry. */
export interface Tarball {
  readonly name: string;
  readonly version: string;
  /** Its absolute path. */
  readonly file: string;
  /** Its bytes. */
  readonly size: number;
  /** The bytes of what is in it. */
  readonly unpackedSize: number;
  readonly files: readonly { readonly path: string; readonly size: number }[];
  readonly manifest: PublishedManifest;
}

/**
 * Makes tarballs of packages that have been built. Each is put together in a folder of its own,
 * with the manifest it is published with.
 */
export async function packTarballs(
  packages: readonly SourcePackage[],
  destination: string,
): Promise<readonly Tarball[]> {
  const stage = join(destination, "packages");
  await rm(destination, { recursive: true, force: true });
  const ours = new Set(packages.map(({ manifest }) => manifest.name));
  const manifests = new Map<string, PublishedManifest>();
  const folders: string[] = [];
  for (const source of packages) {
    const folder = join(stage, source.folder);
    await mkdir(folder, { recursive: true });
    const manifest = publishedManifest(source, ours, await filesPassingOn(source));
    for (const part of manifest.files)
      await cp(join(source.path, part), join(folder, part), { recursive: true, filter: isPublished });
    await cp(join(source.path, "README.md"), join(folder, "README.md"));
    await cp(join(root, "LICENSE"), join(folder, "LICENSE"));
    await writeFile(join(folder, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`);
    manifests.set(manifest.name, manifest);
    folders.push(folder);
  }
  const { stdout } = await run("npm", ["pack", ...folders, "--pack-destination", destination, "--json"], {
    maxBuffer: 64 * 2 ** 20,
  });
  const packed = JSON.parse(stdout) as (Omit<Tarball, "file" | "manifest"> & { readonly filename: string })[];
  return packed.map(({ filename, name, version, size, unpackedSize, files }) => ({
    name,
    version,
    size,
    unpackedSize,
    files,
    file: join(destination, filename),
    manifest: manifests.get(name) as PublishedManifest,
  }));
}

/** The built entries that export all of another package. */
async function filesPassingOn({ path, entries }: SourcePackage): Promise<readonly string[]> {
  const files = await Promise.all(
    entries.map(async ({ name }) => {
      const code = await readFile(join(path, "dist", `${name}.js`), "utf8");
      return /^export \* from "[^."]/m.test(code) ? [`./dist/${name}.js`] : [];
    }),
  );
  return files.flat();
}

/** The list of a program's sources is for a checkout, where they may change. */
function isPublished(path: string): boolean {
  return !path.endsWith("/bundle/sources.txt");
}
