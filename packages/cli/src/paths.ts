import { isAbsolute, relative, resolve, sep } from "node:path";
import { UsageError } from "./errors.ts";

/**
 * A path as a person in this folder would write it: relative if it is below the folder, absolute
 * elsewhere.
 */
export function shownPath(folder: string, path: string): string {
  const short = relative(folder, path);
  return short === "" || short.split(sep)[0] === ".." || isAbsolute(short) ? path : short;
}

/**
 * Where something is to be written, as an absolute path.
 *
 * @param given what follows the option on the command line
 * @throws UsageError for a path of Windows elsewhere: it would become one long name
 */
export function outputPath(folder: string, option: string, given: string): string {
  if (sep === "/" && given.includes("\\"))
    throw new UsageError(`${option}: write ${JSON.stringify(given)} with slashes: this is not Windows`);
  return resolve(folder, given);
}
