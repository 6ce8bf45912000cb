import { createPublicKey, type KeyObject } from "node:crypto";
import { readFileSync } from "node:fs";
import type { User } from "../auth/index.ts";

/** The public keys in a PEM file: by themselves, in certificates, or as halves of private ones. */
export function readPublicKeys(path: string): KeyObject[] {
  const blocks = readFileSync(path, "utf8").match(/-----BEGIN ([A-Z ]+)-----[\s\S]*?-----END \1-----/g) ?? [];
  return blocks.filter((block) => !block.includes("EC PARAMETERS")).map((block) => createPublicKey(block));
}

/**
 * Who the tokens of a --token-auth-file stand for: lines of `token,name,uid,"group,group"`.
 *
 * @throws Error for a line with fewer than three columns
 */
export function readTokenFile(path: string): Map<string, User> {
  const tokens = new Map<string, User>();
  for (const [index, line] of readFileSync(path, "utf8").split(/\r?\n/).entries()) {
    if (line === "") continue;
    const [token = "", name = "", uid, groups = ""] = columns(line);
    if (uid === undefined) {
      throw new Error(
        `--token-auth-file: line ${index + 1} of ${path} has fewer than 3 columns: token, name, uid`,
      );
    }
    if (token === "") continue;
    const named = groups.split(",").filter((group) => group !== "");
    tokens.set(token, { name, groups: named, ...(uid === "" ? {} : { uid }) });
  }
  return tokens;
}

/** A line of CSV: columns with commas in them are in quotes, and quotes in those are doubled. */
function columns(line: string): string[] {
  const found = `${line},`.matchAll(/("(?:[^"]|"")*"|[^,]*),/gy);
  return Array.from(found, ([, column = ""]) =>
    column.startsWith('"') ? column.slice(1, -1).replaceAll('""', '"') : column,
  );
}
