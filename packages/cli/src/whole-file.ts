import { mkdir, realpath, rename, rm, stat, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { CommandError } from "./errors.ts";
import { explainSystemError, isSystemError } from "./system-error.ts";

/**
 * Writes a file whole or not at all: a disk that is full, or an end in mid-write, leaves what was
 * there before. Folders on the way to it are made.
 *
 * @throws CommandError that names the file and the reason
 */
export async function writeWhole(
  file: string,
  content: string | Uint8Array,
  options: { readonly mode?: number } = {},
): Promise<void> {
  try {
    await makeFolder(dirname(file));
    await replace(file, content, options);
  } catch (error) {
    if (!isSystemError(error)) throw error;
    throw new CommandError(`${file} could not be written: ${explainSystemError(error)}`, { cause: error });
  }
}

/**
 * Makes a folder and those above it. Not with `recursive`: on a read-only file system that fails as
 * if the folder were not found, and below /proc it never ends.
 */
export async function makeFolder(folder: string): Promise<void> {
  const make = () =>
    mkdir(folder).catch(async (error: NodeJS.ErrnoException) => {
      if (error.code !== "EEXIST" || !(await stat(folder)).isDirectory()) throw error;
    });
  const above = dirname(folder);
  await make().catch(async (error: NodeJS.ErrnoException) => {
    const isMissingAbove = error.code === "ENOENT" && (await isMissing(above));
    if (!isMissingAbove) throw error;
    await makeFolder(above);
    await make();
  });
}

async function isMissing(path: string): Promise<boolean> {
  return await stat(path).then(
    () => false,
    (error: NodeJS.ErrnoException) => error.code === "ENOENT",
  );
}

async function replace(
  file: string,
  content: string | Uint8Array,
  options: { readonly mode?: number },
): Promise<void> {
  const present = await stat(file).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw error;
  });
  // A device or a pipe takes what is written to it, and cannot be replaced.
  if (present !== undefined && !present.isFile() && !present.isDirectory())
    return await writeFile(file, content);
  // A link stays a link.
  const target = present === undefined ? file : await realpath(file);
  const unfinished = `${target}.${process.pid}.unfinished`;
  try {
    await blaming(dirname(target), () => writeFile(unfinished, content, options));
    await blaming(target, () => rename(unfinished, target));
  } catch (error) {
    await rm(unfinished, { force: true });
    throw error;
  }
}

/** Has an error name what the user knows of, in place of the unfinished file. */
async function blaming(path: string, write: () => Promise<void>): Promise<void> {
  try {
    await write();
  } catch (error) {
    throw isSystemError(error) && error.path !== undefined ? Object.assign(error, { path }) : error;
  }
}
