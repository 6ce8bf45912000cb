import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { print, type Result } from "./table.ts";

/** A result as `results/NAME.json` holds it. */
interface KeptResult extends Result {
  readonly machine: { readonly cpus: number; readonly loadBefore: number; readonly node: string };
}

const folder = join(import.meta.dirname, "..");
const page = join(folder, "README.md");

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
    ordered.map(async (name) => {
      const text = await readFile(join(folder, "results", `${name}.json`), "utf8");
      return section(headings[name] ?? name, JSON.parse(text) as KeptResult);
    }),
  );
  return [introduction, ...sections].join("\n");
}

function section(heading: string, { notes = [], machine, ...result }: KeptResult): string {
  const { cpus, node, loadBefore } = machine;
  const conditions = `${cpus} cores, load ${loadBefore}, Node ${node}`;
  const remarks = notes.map((note) => `- ${note}`);
  return [`## ${heading}`, "", print(result), "", ...remarks, `- ${conditions}`, ""].join("\n");
}

export async function writeReport(): Promise<void> {
  await writeFile(page, await report());
}
