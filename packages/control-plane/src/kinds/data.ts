import { gunzipSync } from "node:zlib";
import { readDataFile } from "./data-file.ts";

/**
 * Reads one file of what was recorded from a real server. Each is read on first use only, so that a
 * server that never meets a group never pays for it.
 */
export function readData(name: string): unknown {
  return JSON.parse(gunzipSync(readDataFile(name)).toString("utf8"));
}

/** The package a group's types are recorded under: `core.v1`, `rbac.v1`. */
export function packageOf(group: string, version: string): string {
  return `${group === "" ? "core" : group.split(".", 1)[0]}.${version}`;
}

/** Runs `make` for a key once, and remembers what it gave. */
export function memoised<K, V>(make: (key: K) => V): (key: K) => V {
  const made = new Map<K, V>();
  return (key) => {
    const known = made.get(key);
    if (known !== undefined) return known;
    const value = make(key);
    made.set(key, value);
    return value;
  };
}
