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
    await mkdir(dirname(file), { recursive: true });
    await replace(file, content, options);
  } catch (error) {
    if (!isSystemError(error)) throw error;
    throw new CommandError(`${file} could not be written: ${explainSystemError(error)}`, { cause: error });
  }
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
    await writeFile(unfinished, content, options);
    await rename(unfinished, target);
  } catch (error) {
    await rm(unfinished, { force: true });
    throw error;
  }
}
