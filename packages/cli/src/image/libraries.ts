import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { CommandError } from "../errors.ts";
import { type Elf, readElf } from "./elf.ts";

const triples = { amd64: "x86_64-linux-gnu", arm64: "aarch64-linux-gnu" } as const;

/** What the C library loads by itself to resolve names, where it is a file of its own. */
const resolvers = ["libnss_dns.so.2", "libnss_files.so.2", "libresolv.so.2"];

/**
 * The shared libraries that a program needs to run, with those that they need, by their path on
 * this machine, and so in the image: the loader looks for them in the places that it was built for.
 *
 * @throws CommandError when one of them is not on this machine
 */
export async function librariesOf(
  program: Elf,
  /** Where the file system of this machine begins. @default "/" */
  root = "/",
): Promise<ReadonlyMap<string, Buffer>> {
  const { interpreter, architecture } = program;
  if (interpreter === undefined) return new Map();
  const found = new Map([[interpreter, await readLibrary(root, interpreter, architecture)]]);
  const folders = foldersFor(architecture);
  const pending = [...program.needed, ...resolvers];
  const seen = new Set<string>(pending);
  for (let name = pending.pop(); name !== undefined; name = pending.pop()) {
    const path = folders.map((folder) => `${folder}/${name}`).find((one) => existsSync(join(root, one)));
    if (path === undefined) {
      if (resolvers.includes(name)) continue;
      throw new CommandError(
        `Node needs ${name}, which this machine does not have in ${folders.join(", ")}: build the image where Node runs, or with the Dockerfile`,
      );
    }
    if (path === interpreter) continue;
    const library = await readLibrary(root, path, architecture);
    found.set(path, library);
    for (const needed of readElf(library)?.needed ?? [])
      if (!seen.has(needed)) {
        seen.add(needed);
        pending.push(needed);
      }
  }
  return new Map([...found].toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

function foldersFor(architecture: Elf["architecture"]): readonly string[] {
  const triple = triples[architecture];
  return [`/lib/${triple}`, `/usr/lib/${triple}`, "/lib64", "/usr/lib64", "/lib", "/usr/lib"];
}

async function readLibrary(root: string, path: string, architecture: Elf["architecture"]): Promise<Buffer> {
  const file = await readFile(join(root, path)).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "ENOENT") throw error;
    throw new CommandError(
      `${path}, which loads Node, is not on this machine: build the image on Linux with glibc, or with the Dockerfile`,
    );
  });
  if (readElf(file)?.architecture !== architecture)
    throw new CommandError(`${path} is not a library for ${architecture}`);
  return file;
}
