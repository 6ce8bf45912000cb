import { mkdir, readdir, writeFile } from "node:fs/promises";
import { dirname, join, relative, resolve } from "node:path";
import { command } from "../command.ts";
import { checkGroup, checkKind, checkProject, kindFor, operatorNames } from "../create/names.ts";
import { operatorFiles } from "../create/operator-files.ts";
import { Questions } from "../create/questions.ts";
import { templateFiles } from "../create/template-files.ts";
import { CommandError } from "../errors.ts";
import { styler, type Terminal } from "../terminal.ts";
import { version } from "../version.ts";

const defaultProject = "my-operator";
const defaultGroup = "example.com";

export const create = command({
  name: "create",
  summary: "write a new operator: kind, controller, test, Dockerfile",
  description: `
Writes a small operator into a new folder: a kind with a schema, a controller that runs a
Deployment and a Service for each object of it, tests that need no cluster, a Dockerfile,
and the declaration that windlass generate makes its manifests and its chart from. What is
not said by options is asked, on a terminal; elsewhere the defaults hold.

Nothing is installed. The last lines say what to do next.`,
  arguments: { usage: "[NAME]", most: 1 },
  options: {
    kind: { type: "string", value: "KIND", describe: "the kind it is for", otherwise: "from NAME" },
    group: { type: "string", value: "GROUP", describe: "the API group of the kind", otherwise: defaultGroup },
    folder: {
      type: "string",
      value: "FOLDER",
      describe: "where to write it; must be empty or not there yet",
      otherwise: "./NAME",
      completion: "folders",
    },
    yes: { type: "boolean", short: "y", describe: "ask nothing: take the defaults" },
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
    const folder = resolve(terminal.folder, options.folder ?? project);
    const files = operatorFiles(await templateFiles(), names, version);
    await write(folder, files);
    if (options.json === true)
      terminal.stdout.write(`${JSON.stringify({ folder, ...names, files: [...files.keys()] }, null, 2)}\n`);
    else terminal.stdout.write(nextSteps(folder, files.size, terminal));
  },
});

async function write(folder: string, files: ReadonlyMap<string, string>): Promise<void> {
  const present = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return [];
    throw error;
  });
  if (present.length > 0)
    throw new CommandError(`${folder} is not empty: name another with --folder, or empty it`);
  for (const [path, text] of files) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text);
  }
}

function nextSteps(folder: string, count: number, terminal: Terminal): string {
  const style = styler(terminal, terminal.stdout);
  const place = relative(terminal.folder, folder);
  const lines = [
    ...(place === "" ? [] : [[`cd ${place}`, ""]]),
    ["npm install", ""],
    ["npm test", "runs it on an API server inside the tests"],
    ["npm run dev", "runs it on an API server of its own, and shows what happens"],
    ["npm run generate", "writes what installs it in a cluster: a kustomization and a Helm chart"],
  ].map(([line = "", what = ""]) => `  ${style("bold", line.padEnd(18))}${style("dim", what)}`.trimEnd());
  return `${count} files written to ${folder}\n\nNext:\n${lines.join("\n")}\n`;
}
