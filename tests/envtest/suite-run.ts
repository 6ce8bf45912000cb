import { spawn } from "node:child_process";
import { cp, mkdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { endLeftovers, runOf, runVariable } from "./leftovers.ts";
import type { Project, Suite } from "./projects.ts";

/** The outcome of each test of a suite, and how long all of it took. */
export interface Outcome {
  readonly states: ReadonlyMap<string, string>;
  readonly seconds: number;
  /** Everything it printed. */
  readonly log: string;
}

/** A suite, compiled, and the folder it runs in. */
export interface Compiled {
  readonly program: string;
  readonly folder: string;
  readonly runner: Suite["runner"];
}

/** Fetches a project's sources to a folder that its tests may write to. @returns the folder */
export async function fetchProject({ module, version }: Project, work: string): Promise<string> {
  const folder = join(work, `${module.replaceAll("/", "_")}@${version}`);
  if (await exists(folder)) return folder;
  const { output } = await mustRun("go", ["mod", "download", "-json", `${module}@${version}`], work);
  const { Dir: kept } = JSON.parse(output) as { readonly Dir: string };
  await cp(kept, folder, { recursive: true });
  await mustRun("chmod", ["-R", "u+w", folder], work);
  return folder;
}

/** Compiles a suite's tests. What is there already is kept: the version is in its name. */
export async function compile(project: string, { folder, runner }: Suite): Promise<Compiled> {
  const program = join(project, `${folder.replaceAll(/\W+/g, "-")}.windlass.test`);
  if (!(await exists(program))) await mustRun("go", ["test", "-c", "-o", program, `./${folder}`], project);
  return { program, folder: join(project, folder), runner };
}

/** Runs a suite on what is in a folder of programs. */
export async function runSuite(suite: Compiled, assets: string): Promise<Outcome> {
  const report = `${suite.program}.json`;
  const args = ["-test.v", "-test.timeout=6m"];
  if (suite.runner === "ginkgo") args.push("-ginkgo.no-color", `-ginkgo.json-report=${report}`);
  await writeFile(report, "");
  const began = performance.now();
  const { output } = await run(suite.program, args, suite.folder, {
    KUBEBUILDER_ASSETS: assets,
    [runVariable]: runOf(process.pid),
  });
  const seconds = (performance.now() - began) / 1000;
  // A suite that fails before its end, or is cut off by its timeout, does not stop its servers.
  endLeftovers();
  const states = suite.runner === "ginkgo" ? specStates(await readFile(report, "utf8")) : testStates(output);
  return { states, seconds, log: output };
}

interface SpecReport {
  readonly ContainerHierarchyTexts: readonly string[] | null;
  readonly LeafNodeText: string;
  readonly LeafNodeType: string;
  readonly State: string;
}

function specStates(report: string): Map<string, string> {
  const suites = (report === "" ? [] : JSON.parse(report)) as readonly {
    SpecReports: readonly SpecReport[];
  }[];
  const states = new Map<string, string>();
  for (const spec of suites.flatMap(({ SpecReports }) => SpecReports ?? [])) {
    // What comes before and after all specs counts only where it fails.
    if (spec.LeafNodeType !== "It" && spec.State === "passed") continue;
    const name = [...(spec.ContainerHierarchyTexts ?? []), spec.LeafNodeText || spec.LeafNodeType].join(" ");
    states.set(unique(states, name), spec.State);
  }
  return states;
}

function testStates(output: string): Map<string, string> {
  const states = new Map<string, string>();
  for (const [, state = "", name = ""] of output.matchAll(/^ *--- (PASS|FAIL|SKIP): (\S+)/gm)) {
    states.set(unique(states, name), state);
  }
  return states;
}

/** Some suites have two tests of one name. */
function unique(states: ReadonlyMap<string, string>, name: string): string {
  let count = 2;
  let found = name;
  while (states.has(found)) found = `${name} #${count++}`;
  return found;
}

interface Ended {
  readonly code: number | null;
  readonly output: string;
}

function run(
  program: string,
  args: readonly string[],
  cwd: string,
  env: NodeJS.ProcessEnv = {},
): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      cwd,
      env: { ...process.env, ...env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    const chunks: Buffer[] = [];
    child.stdout.on("data", (chunk: Buffer) => chunks.push(chunk));
    child.stderr.on("data", (chunk: Buffer) => chunks.push(chunk));
    child.on("error", reject);
    child.on("close", (code) => resolve({ code, output: Buffer.concat(chunks).toString() }));
  });
}

async function mustRun(program: string, args: readonly string[], cwd: string): Promise<Ended> {
  await mkdir(cwd, { recursive: true });
  const ended = await run(program, args, cwd);
  if (ended.code !== 0)
    throw new Error(`${program} ${args.join(" ")} ended with ${ended.code}:\n${ended.output}`);
  return ended;
}

async function exists(path: string): Promise<boolean> {
  return await stat(path).then(
    () => true,
    () => false,
  );
}
