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
 * Replaces a folder and all that is in it, whole or not at all. It need not be there.
 *
 * @param fill Writes the new one into the folder that it is given, which is not there yet.
 * @throws CommandError that names the folder and the reason
 */
export async function replaceFolder(folder: string, fill: (place: string) => Promise<void>): Promise<void> {
  const unfinished = unfinishedBeside(folder);
  try {
    await makeFolder(dirname(folder));
    await fill(unfinished);
    await rm(folder, { recursive: true, force: true });
    await rename(unfinished, folder);
  } catch (error) {
    await rm(unfinished, { recursive: true, force: true });
    if (!isSystemError(error)) throw error;
    // The user knows of no unfinished folder.
    const path = error.path?.startsWith(unfinished) ? dirname(folder) : error.path;
    const why = explainSystemError(path === undefined ? error : Object.assign(error, { path }));
    throw new CommandError(`${folder} could not be written: ${why}`, { cause: error });
  }
}

function unfinishedBeside(path: string): string {
  return `${path}.${process.pid}.unfinished`;
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
  const unfinished = unfinishedBeside(target);
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
