/**
 * Writes to a data file and prints the outcome of each write, for tests that kill it or let the
 * system fail it: `node writer.fixture.ts FILE WRITES [LARGE]`. Each line is JSON.
 */
import { appendFileSync } from "node:fs";
import type { JsonObject } from "../json.ts";
import { DataFile } from "./data-file.ts";
import { DataFileError } from "./data-file-error.ts";
import { Store } from "./store.ts";

/** One line of the program's output. */
export type Line =
  | { readonly at: "open" }
  /** `write` is a number that tells the writes apart; undefined for a delete. */
  | { readonly at: "kept"; readonly key: string; readonly write?: number; readonly revision: number }
  | { readonly at: "refused"; readonly key: string; readonly code: string; readonly revision: number }
  /** What a watcher received, and what is in memory at the end. */
  | {
      readonly at: "end";
      readonly told: readonly number[];
      readonly state: Readonly<Record<string, number>>;
    };

const [path = "", writes = "0", bytes = "0"] = process.argv.slice(2);

function say(line: Line): void {
  // Synchronous, so that a process that is killed afterwards has written it.
  appendFileSync(1, `${JSON.stringify(line)}\n`);
}

const identity = { authority: { certificate: "c", key: "k" }, tokenKey: "t" };
const data = DataFile.open(path, () => identity);
const store = new Store({ journal: data });
say({ at: "open" });
const told: number[] = [];
store.subscribe("things", ({ revision }) => told.push(revision));
for (let write = 1; write <= Number(writes); write++) {
  const key = `key-${write % 5}`;
  try {
    const object: JsonObject = { metadata: { name: key, uid: key }, write, text: "x".repeat(Number(bytes)) };
    const entry =
      write % 7 === 0 ? (store.delete("things", key) ?? { revision: 0 }) : store.put("things", key, object);
    say({ at: "kept", key, ...(write % 7 === 0 ? {} : { write }), revision: entry.revision });
  } catch (error) {
    if (!(error instanceof DataFileError)) throw error;
    say({ at: "refused", key, code: error.code, revision: store.revision });
  }
}
const entries = [...store.entries("things")].map(({ key, object }) => [key, object.write as number]);
say({ at: "end", told, state: Object.fromEntries(entries) });
data.close();
