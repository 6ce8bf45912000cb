import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { figures, print, type Result, table } from "./table.ts";

/** A result as `results/NAME.json` holds it. */
interface KeptResult extends Result {
  readonly machine: { readonly cpus: number; readonly loadBefore: number; readonly node: string };
}

const folder = join(import.meta.dirname, "..");
const page = join(folder, "README.md");
/** The front page of the repository, which has three of the rows. */
const frontPage = join(folder, "..", "README.md");

/** What each result is about, in the order of the page. */
const headings: { readonly [file: string]: string } = {
  "control-plane": "The embedded control plane beside kube-apiserver and etcd",
  sync: "10,000 objects of 5 KB filled into a cache",
  "sync-100000": "100,000 objects of 5 KB filled into a cache",
  reconcile: "From an event to its reconcile",
  queue: "The work queue alone",
  import: "What importing the runtime costs",
  gateway: "BuildKit's gateway beside a plain Go relay",
  resolver: "Elasti's resolver beside nginx",
  allocation: "Workers of a warm BuildKit pool, simulated",
  "allocation-cluster": "Workers of a warm BuildKit pool, real buildkitd",
};

const introduction = `# Benchmarks

\`\`\`sh
npm run bench [-- NAME …]     # measures, writes results/NAME.json and this page
\`\`\`

Each row is measured beside its peer in one run on one machine, which others use too: read the ratios, and those only roughly.
"Better by" below 1 is where the peer wins. The load is what the machine had to do before the run, by \`uptime\`.
This page is written from \`results/\`.
`;

/** The page of all figures, from the results that are kept. */
export async function report(): Promise<string> {
  const files = (await readdir(join(folder, "results"))).filter((file) => file.endsWith(".json"));
  const names = files.map((file) => file.slice(0, -".json".length));
  const known = Object.keys(headings);
  const ordered = [
    ...known.filter((name) => names.includes(name)),
    ...names.filter((name) => !known.includes(name)).sort(),
  ];
  const sections = await Promise.all(
    ordered.map(async (name) => section(headings[name] ?? name, await kept(name))),
  );
  return [introduction, ...sections].join("\n");
}

async function kept(name: string): Promise<KeptResult> {
  return JSON.parse(await readFile(join(folder, "results", `${name}.json`), "utf8")) as KeptResult;
}

function section(heading: string, { notes = [], machine, ...result }: KeptResult): string {
  const { cpus, node, loadBefore } = machine;
  const conditions = `${cpus} cores, load ${loadBefore}, Node ${node}`;
  const remarks = notes.map((note) => `- ${note}`);
  return [`## ${heading}`, "", print(result), "", ...remarks, `- ${conditions}`, ""].join("\n");
}

/** The rows of the front page: one of each kind, whichever side is better in it. */
const headlines = [
  {
    file: "control-plane",
    row: "ready, from process start",
    what: "an API server, from the start of its process to ready",
    peer: "kube-apiserver with etcd",
  },
  {
    file: "sync",
    row: "custom resources, beside Go structs: resident memory per object",
    what: "memory for each of 10,000 custom resources of 5 KB in a cache",
    peer: "controller-runtime, Go structs",
  },
  {
    file: "reconcile",
    row: "event to reconcile at 200/s for 8 s, p99",
    what: "event to reconcile at 200 events a second, 99th percentile",
    peer: "controller-runtime",
  },
];

const headlineTable = /^\| what +\| Windlass +\| peer +\|\n(?:\|.*\n)+/m;

/** The front page as it is, with the figures of the results that are kept. */
export async function reportOnFrontPage(): Promise<string> {
  const rows = await Promise.all(
    headlines.map(async ({ file, row, what, peer }) => {
      const found = (await kept(file)).rows.find((one) => one.what === row);
      if (!found) throw new Error(`results/${file}.json has no row "${row}"`);
      const [, ours, theirs] = figures(found);
      return [what, ours, `${theirs} (${peer})`];
    }),
  );
  const text = await readFile(frontPage, "utf8");
  if (!headlineTable.test(text)) throw new Error("README.md has no table of figures");
  return text.replace(headlineTable, () => `${table([["what", "Windlass", "peer"], ...rows])}\n`);
}

export async function writeReport(): Promise<void> {
  await writeFile(page, await report());
  await writeFile(frontPage, await reportOnFrontPage());
}
