/** `npm run bench [-- NAME …]`: side by side with a peer, in one run. Prints a table, writes `benchmarks/results/NAME.json`. */
import { mkdir, writeFile } from "node:fs/promises";
import { cpus, loadavg } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { print, type Result } from "./table.ts";

const benchmarks: { readonly [name: string]: () => Promise<{ run(): Promise<Result> }> } = {
  "control-plane": () => import("./control-plane.ts"),
};

const { positionals } = parseArgs({ allowPositionals: true });
const wanted = positionals.length > 0 ? positionals : Object.keys(benchmarks);
for (const name of wanted) {
  if (!Object.hasOwn(benchmarks, name)) {
    process.stderr.write(`there is no benchmark ${name}; there are: ${Object.keys(benchmarks).join(", ")}\n`);
    process.exit(2);
  }
}
const folder = join(import.meta.dirname, "..", "results");
await mkdir(folder, { recursive: true });
for (const name of wanted) {
  const load = loadavg()[0] ?? 0;
  const { run } = await (benchmarks[name] as () => Promise<{ run(): Promise<Result> }>)();
  const result = await run();
  const machine = {
    cpus: cpus().length,
    model: cpus()[0]?.model ?? "",
    loadBefore: Number(load.toFixed(2)),
    node: process.version,
  };
  await writeFile(join(folder, `${name}.json`), `${JSON.stringify({ ...result, machine }, null, 2)}\n`);
  process.stdout.write(`\n${print(result)}\n`);
}
