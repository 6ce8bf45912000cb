import { execFileSync } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** What a client showed when it was tried on both servers. */
export interface ClientResult {
  /** How many lines it printed, each of which is compared. */
  readonly lines: number;
  readonly sameOnReal: boolean;
  /** How many checks of its own it made, all of which passed. @default it makes none */
  readonly checks?: number;
}

const file = join(import.meta.dirname, "last-result.json");

/** Keeps what a client showed, beside what others did. */
export async function keepResult(client: string, result: ClientResult): Promise<void> {
  const text = await readFile(file, "utf8").catch(() => "{}");
  const options = { cwd: import.meta.dirname, encoding: "utf8" as const };
  const commit = execFileSync("git", ["rev-parse", "HEAD"], options).trim();
  const all = { ...(JSON.parse(text) as Readonly<Record<string, unknown>>), [client]: { commit, ...result } };
  const sorted = Object.fromEntries(Object.entries(all).sort(([a], [b]) => (a < b ? -1 : 1)));
  await writeFile(file, `${JSON.stringify(sorted, undefined, 2)}\n`);
}
