import { writeFile } from "node:fs/promises";
import { cpus, loadavg } from "node:os";
import { join } from "node:path";

/** What scenarios have shown, by the file that it is kept in. */
const shown = new Map<string, Record<string, Readonly<Record<string, number>>>>();

/**
 * Enters what a scenario that held has shown into a file of results, of which the last run's are
 * kept. A scenario that fails leaves no entry.
 *
 * @param file `last-result.json` of this folder, unless said otherwise
 */
export async function record(
  scenario: string,
  figures: Readonly<Record<string, number>>,
  file = join(import.meta.dirname, "last-result.json"),
): Promise<void> {
  const scenarios = { ...shown.get(file), [scenario]: figures };
  shown.set(file, scenarios);
  const machine = {
    cpus: cpus().length,
    load: Number((loadavg()[0] ?? 0).toFixed(1)),
    node: process.version,
  };
  await writeFile(
    file,
    `${JSON.stringify({ date: new Date().toISOString(), machine, scenarios }, null, 2)}\n`,
  );
}
