import { readFile, writeFile } from "node:fs/promises";
import { cpus, loadavg } from "node:os";
import { join } from "node:path";

const file = join(import.meta.dirname, "last-result.json");

/**
 * Enters what a test that held has shown on the lab into `last-result.json`, with the machine's
 * load at its end. A test that fails leaves no entry.
 */
export async function record(test: string, shown: Readonly<Record<string, number>>): Promise<void> {
  const machine = { cpus: cpus().length, load: Math.round((loadavg()[0] ?? 0) * 10) / 10 };
  const entries = { ...(await kept()), [test]: { date: new Date().toISOString(), machine, ...shown } };
  await writeFile(file, `${JSON.stringify(entries, undefined, 2)}\n`);
}

async function kept(): Promise<Readonly<Record<string, unknown>>> {
  try {
    return JSON.parse(await readFile(file, "utf8")) as Readonly<Record<string, unknown>>;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return {};
    throw error;
  }
}
