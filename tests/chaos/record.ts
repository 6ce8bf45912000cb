import { writeFile } from "node:fs/promises";
import { cpus, loadavg } from "node:os";
import { join } from "node:path";

const file = join(import.meta.dirname, "last-result.json");
const scenarios: Record<string, Readonly<Record<string, number>>> = {};

/** Enters what a scenario that held has shown into `last-result.json`. A scenario that fails leaves no entry. */
export async function record(scenario: string, figures: Readonly<Record<string, number>>): Promise<void> {
  scenarios[scenario] = figures;
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
