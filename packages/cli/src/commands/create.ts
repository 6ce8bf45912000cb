import { spawn } from "node:child_process";
import { readdir, rm } from "node:fs/promises";
import { join, relative } from "node:path";
import { command } from "../command.ts";
import { checkGroup, checkKind, checkProject, kindFor, operatorNames } from "../create/names.ts";
import { operatorFiles } from "../create/operator-files.ts";
import { Questions } from "../create/questions.ts";
import { templateFiles } from "../create/template-files.ts";
import { CommandError } from "../errors.ts";
import { outputPath } from "../paths.ts";
import { styler, type Terminal } from "../terminal.ts";
import { version } from "../version.ts";
import { writeWhole } from "../whole-file.ts";

const defaultProject = "my-operator";
const defaultGroup = "example.com";

/** `windlass create` */
export const create = command({
  name: "create",
  summary: "write a new operator: kind, controller, test, Dockerfile",
  description: `
Writes a small operator into a new folder: a kind with a schema, a controller that runs a
Deployment and a Service for each object of it, tests that need no cluster, a Dockerfile,
and the declaration that windlass generate makes its manifests and its chart from. On a
terminal it asks for what the options leave out; elsewhere the defaults hold.

Nothing is installed, unless --install asks for it. The last lines say what to do next.`,
  arguments: { usage: "[NAME]", most: 1 },
  options: {
    kind: { type: "string", value: "KIND", describe: "the kind it is for", otherwise: "from NAME" },
    group: { type: "string", value: "GROUP", describe: "the API group of the kind", otherwise: defaultGroup },
    folder: {
      type: "string",
      value: "FOLDER",
      describe: "where to write it; must be empty or not exist yet",
      otherwise: "./NAME",
      completion: "folders",
    },
    install: {
      type: "boolean",
      describe: "also run npm install and npm run generate, so that its manifests are there",
    },
    yes: { type: "boolean", short: "y", describe: "ask nothing, take the defaults" },
    json: { type: "boolean", describe: "print what was written as JSON; asks nothing" },
  },
  examples: [
    { line: "windlass create", what: "asks for a name, a kind and a group" },
    {
      line: "windlass create shop-operator --kind Shop --group shop.example.com",
      what: "asks nothing",
    },
  ],
  async run({ options, arguments: [given] }, terminal) {
    const isAsking = terminal.stdin.isTTY === true && options.yes !== true && options.json !== true;
    using questions = isAsking ? new Questions(terminal) : undefined;
    const answer = async (text: string, otherwise: string, check: (answer: string) => void) =>
      questions === undefined ? otherwise : await questions.ask({ text, otherwise, check });
    const project = given ?? (await answer("Name", defaultProject, checkProject));
    checkProject(project);
    const kind = options.kind ?? (await answer("Kind", kindFor(project), checkKind));
    const group = options.group ?? (await answer("API group", defaultGroup, checkGroup));
    const names = operatorNames(project, kind, group);
    const folder = outputPath(terminal.folder, "--folder", options.folder ?? project);
    const files = operatorFiles(await templateFiles(), names, version);
    await writeOperator(folder, files);
    if (options.install === true)
      for (const args of [["install"], ["run", "generate"]]) await npm(args, folder, terminal);
    if (options.json === true)
      terminal.stdout.write(`${JSON.stringify({ folder, ...names, files: [...files.keys()] }, null, 2)}\n`);
    else terminal.stdout.write(nextSteps(folder, files.size, options.install === true, terminal));
  },
});

/**
 * Writes all files into a folder that is empty, or not there yet, or none of them.
 *
 * @throws CommandError
 */
export async function writeOperator(folder: string, files: ReadonlyMap<string, string>): Promise<void> {
  const present = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    if (error.code === "ENOTDIR") throw new CommandError(`${folder} is a file: name a folder with --folder`);
    throw error;
  });
  if (present !== undefined && present.length > 0)
    throw new CommandError(`${folder} is not empty: name another with --folder, or empty it`);
  try {
    for (const [path, text] of files) await writeWhole(join(folder, path), text);
  } catch (error) {
    // Half an operator would be in the way of the next attempt. All that is in there is ours.
    if (present === undefined) await rm(folder, { recursive: true, force: true });
    else
      for (const path of new Set([...files.keys()].map((one) => one.split("/")[0] ?? one)))
        await rm(join(folder, path), { recursive: true, force: true });
    throw error;
  }
}

/** Runs npm in the new folder. What it says goes to standard error. @throws CommandError */
async function npm(
  args: readonly string[],
  folder: string,
  { env, signal, stderr }: Terminal,
): Promise<void> {
  const line = `npm ${args.join(" ")}`;
  // On Windows npm is a script, which only a shell can start.
  const child = spawn("npm", args, {
    cwd: folder,
    env,
    signal,
    shell: process.platform === "win32",
    stdio: ["ignore", "pipe", "pipe"],
  });
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => stderr.write(text));
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once("close", resolve);
    child.once("error", (error) =>
      reject(
        new CommandError(`${line} could not be started in ${folder}: ${error.message}`, { cause: error }),
      ),
    );
  });
  if (code !== 0)
    throw new CommandError(
      `${line} failed (exit code ${code}) in ${folder}: all files of the operator are there; when the cause is mended, run npm install and npm run generate in it`,
    );
}

function nextSteps(folder: string, count: number, isInstalled: boolean, terminal: Terminal): string {
  const style = styler(terminal, terminal.stdout);
  const place = relative(terminal.folder, folder);
  const lines = [
    ...(place === "" ? [] : [[`cd ${quotedForShell(place)}`, ""]]),
    ...(isInstalled ? [] : [["npm install", ""]]),
    ["npm test", "runs it on an API server inside the tests"],
    ["npm run dev", "runs it on an API server of its own, and shows what happens"],
    isInstalled
      ? ["npm run image", "makes a container image of it; config/ and chart/ install it in a cluster"]
      : ["npm run generate", "writes what installs it in a cluster: a kustomization and a Helm chart"],
  ].map(([line = "", what = ""]) => `  ${style("bold", line.padEnd(18))}${style("dim", what)}`.trimEnd());
  return `${count} files written to ${folder}\n\nNext:\n${lines.join("\n")}\n`;
}

/**
 * A path as it is typed into a shell: what a shell would take for something else is put in quotes.
 */
function quotedForShell(path: string): string {
  if (/^[\w@%+=:,./-]+$/.test(path)) return path;
  return process.platform === "win32" ? `"${path}"` : `'${path.replaceAll("'", "'\\''")}'`;
}
