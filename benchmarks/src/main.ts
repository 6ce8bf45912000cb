/**
 * `npm run bench [-- NAME … [--objects N]]`: side by side with a peer, in one run. Prints a table,
 * writes `benchmarks/results/NAME.json` and the page of all figures, `benchmarks/README.md`.
 *
 * `--objects` is how many objects `sync` fills a cache with, 10,000 unless said otherwise, how many
 * clients `allocation` has, 1,000, and how many connections a short run of `gateway` opens. Others
 * take no options. `sync-100000` is `sync` with so many. `allocation` needs the cluster of
 * KUBECONFIG, or KUBEBUILDER_ASSETS, and is run only where it is named.
 */
import { mkdir, writeFile } from "node:fs/promises";
import { cpus, loadavg } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { writeReport } from "./report.ts";
import { print, type Result } from "./table.ts";

interface Benchmark {
  /**
   * Each finds something that is needed besides this repository, or throws an Error that says how
   * to provide it. @default nothing
   */
  readonly needs?: readonly (() => unknown)[];
  run(options: { readonly objects?: number }): Promise<Result>;
}

const benchmarks: { readonly [name: string]: () => Promise<Benchmark> } = {
  "control-plane": () => import("./control-plane.ts"),
  sync: () => import("./sync.ts"),
  "sync-100000": async () => {
    const { needs, run } = await import("./sync.ts");
    return { needs, run: () => run({ objects: 100_000 }) };
  },
  reconcile: () => import("./reconcile.ts"),
  queue: () => import("./queue.ts"),
  gateway: () => import("./gateway.ts"),
  resolver: () => import("./resolver.ts"),
  import: () => import("./import.ts"),
  allocation: () => import("./allocation.ts"),
};

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { objects: { type: "string" } },
});
const objects = values.objects === undefined ? undefined : Number(values.objects);
if (objects !== undefined && !(Number.isInteger(objects) && objects > 0)) {
  process.stderr.write(`--objects ${values.objects}: must be a whole number above 0\n`);
  process.exit(2);
}
/** Run only where they are named: one needs a cluster, the other takes long. */
const onlyByName = ["allocation", "sync-100000"];
const everywhere = Object.keys(benchmarks).filter((name) => !onlyByName.includes(name));
const wanted = positionals.length > 0 ? positionals : everywhere;
for (const name of wanted) {
  if (!Object.hasOwn(benchmarks, name)) {
    process.stderr.write(`there is no benchmark ${name}; there are: ${Object.keys(benchmarks).join(", ")}\n`);
    process.exit(2);
  }
}
const loaded = await Promise.all(
  wanted.map(async (name) => ({ name, ...(await (benchmarks[name] as () => Promise<Benchmark>)()) })),
);
// What is missing is said at once, all of it: it may be an hour until the last one is run.
const needed = loaded.flatMap(({ needs = [] }) => needs);
const found = await Promise.allSettled(needed.map(async (need) => need()));
const missing = found.flatMap((one) => (one.status === "rejected" ? [(one.reason as Error).message] : []));
if (missing.length > 0) {
  process.stderr.write(`${[...new Set(missing)].join("\n")}\n`);
  process.exit(2);
}
const folder = join(import.meta.dirname, "..", "results");
await mkdir(folder, { recursive: true });
for (const { run } of loaded) {
  const load = loadavg()[0] ?? 0;
  const result = await run(objects === undefined ? {} : { objects });
  const machine = {
    cpus: cpus().length,
    model: cpus()[0]?.model ?? "",
    loadBefore: Number(load.toFixed(2)),
    node: process.version,
  };
  const file = objects === undefined ? result.name : `${result.name}-${objects}`;
  await writeFile(join(folder, `${file}.json`), `${JSON.stringify({ ...result, machine }, null, 2)}\n`);
  await writeReport();
  process.stdout.write(`\n${print(result)}\n`);
}
