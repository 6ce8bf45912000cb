import { readFileSync } from "node:fs";

/**
 * The compressed bytes of a file of `data/`. In the published package this module is replaced by
 * one that contains the files: a bundler would leave them behind.
 */
export function readDataFile(name: string): Uint8Array {
  return readFileSync(new URL(`../../data/${name}.json.gz`, import.meta.url));
}
