import { readFileSync } from "node:fs";

/**
 * The text of a file of `recorded/`. In the published package this module is replaced by one that
 * contains the files, compressed: a bundler would leave them behind.
 */
export function recordedText(name: string): string {
  return readFileSync(new URL(`./recorded/${name}.json`, import.meta.url), "utf8");
}
