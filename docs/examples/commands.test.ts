import { execFileSync } from "node:child_process";
import { existsSync, globSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { windlassBuildbarn } from "../../operators/buildbarn/src/cli/program.ts";
import { windlassBuildkit } from "../../operators/buildkit/src/cli/program.ts";
import type { Program } from "../../packages/cli/src/command.ts";
import { parse } from "../../packages/cli/src/parse.ts";
import { windlass } from "../../packages/cli/src/program.ts";

/*
 * Nothing runs the commands that the pages show: many need a cluster, a registry or another machine. So each is taken apart: what it
 * calls, the options it gives, the scripts it runs and the files it names must be there.
 */

const root = fileURLToPath(new URL("../../", import.meta.url));
const read = (file: string) => readFileSync(join(root, file), "utf8");
const template = "packages/cli/templates/operator";
const pages = globSync(["*.md", "{docs,packages,operators,benchmarks}/**/*.md"], {
  cwd: root,
  exclude: (path) => /(?:^|\/)node_modules(?:\/|$)|^docs\/reference\/api|^CHANGELOG/.test(path),
})
  .toSorted()
  .map((file) => ({ file, text: read(file) }));

interface Page {
  readonly file: string;
  readonly text: string;
}

interface Line {
  readonly file: string;
  readonly words: readonly string[];
}

/** The command lines of the `sh` blocks. */
function shown({ file, text }: Page): Line[] {
  return [...text.matchAll(/^( *)```(?:sh|bash|console)\n(.*?)^\1```$/gms)]
    .flatMap(([, , block = ""]) => block.replaceAll(/ *\\\n/g, " ").split("\n"))
    .flatMap((line) => commandsIn(file, line));
}

/** The command lines within sentences: `npm run lint`. */
function mentioned({ file, text }: Page): Line[] {
  const prose = text.replaceAll(/^( *)```.*?^\1```$/gms, "");
  return [...prose.matchAll(/`((?:npx |npm |node |windlass[a-z-]* )[^`\n]+)`/g)].flatMap(([, line = ""]) =>
    commandsIn(file, line),
  );
}

/** Each command of a line, without comments, variables, and where its output goes. */
function commandsIn(file: string, line: string): Line[] {
  return line
    .replace(/(?:^|\s)#.*$/, "")
    .replaceAll(/\$\(([^)]*)\)/g, '"" && $1')
    .split(/&&| \| /)
    .map((command) => ({ file, words: wordsOf(command.replace(/ >>? .*$/, "")) }))
    .filter(({ words }) => words.length > 0);
}

function wordsOf(command: string): string[] {
  const words = [...command.matchAll(/"[^"]*"|'[^']*'|\S+/g)].map(([word]) =>
    word.replaceAll(/^["']|["']$/g, ""),
  );
  const first = words.findIndex((word) => !/^\w+=/.test(word));
  return first < 0 ? [] : words.slice(first);
}

const lines = pages.flatMap((page) => [...shown(page), ...mentioned(page)]);

/** What is wrong with a command line, if anything. */
type Check = (args: readonly string[], line: Line) => string | undefined;

/** Ours, with the options that they declare. */
function checkProgram(program: Program): Check {
  return ([name = "", ...args]) => {
    if (name === "") return undefined;
    if (name.startsWith("-")) return /^--?(?:help|version|h)$/.test(name) ? undefined : `no option ${name}`;
    const command = program.commands.find((one) => one.name === name);
    // A placeholder stands for any.
    if (!command) return /^[A-Z<[…]/.test(name) ? undefined : `no command ${name}`;
    const given = args.filter((arg) => !/^[[\]…|]+$/.test(arg)).map((arg) => arg.replaceAll(/[[\]]/g, ""));
    try {
      parse(command, given);
      return undefined;
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
  };
}

const planeHelp = execFileSync(
  process.execPath,
  [join(root, "packages/control-plane/bin/windlass-control-plane.js"), "--help"],
  { encoding: "utf8" },
);

const checkPlane: Check = (args) =>
  args.find((arg) => arg.startsWith("--") && !planeHelp.includes(`${arg.split("=")[0]} `)) ??
  (args[0] !== undefined && !args[0].startsWith("-") && !planeHelp.includes(` ${args[0]} `)
    ? args[0]
    : undefined);

interface Manifest {
  readonly scripts?: Readonly<Record<string, string>>;
}

/** The scripts of this repository, and of an operator that was made with `create`. */
const scripts = {
  here: (JSON.parse(read("package.json")) as Manifest).scripts ?? {},
  created: (JSON.parse(read(`${template}/package.json`)) as Manifest).scripts ?? {},
};

/** All that a script of ours consists of, as far as it says what it can be told. */
function sourceOf(script: string): string {
  const [, main = ""] = /^node (\S+\.ts)/.exec(script) ?? [];
  if (main === "") return "";
  const folder = main.split("/").length > 2 ? dirname(main) : undefined;
  const files = folder === undefined ? [main] : globSync(`${folder}/**/*.ts`, { cwd: root });
  return [...files.map(read), ...readdirSync(join(root, "operators"))].join("\n");
}

const checkNpm: Check = ([verb = "", ...rest], line) => {
  if (["audit", "ci", "install", "publish"].includes(verb)) return undefined;
  if (verb === "create")
    return rest[0] === "windlass" ? checkCreate(rest.slice(1), line) : `npm create ${rest[0]}`;
  const [name = "", ...args] = verb === "run" ? rest : [verb, ...rest];
  const isOfCreated = /^(?:docs\/|packages\/(?:cli|create-windlass)\/|README)/.test(line.file);
  const script = scripts.here[name] ?? (isOfCreated ? scripts.created[name] : undefined);
  if (script === undefined) return /^[A-Z<…]/.test(name) ? undefined : `no script ${name}`;
  const source = sourceOf(script);
  const told = args.filter((arg) => !/^(?:--|[[\]A-Z…|]+.*|\[--)$/.test(arg));
  return told.find((arg) => source !== "" && !source.includes(arg.replace(/^--/, "").split("=")[0] ?? arg));
};

const checkCreate: Check = (args, ...more) =>
  checkProgram(windlass)(["create", ...args.filter((arg) => arg !== "--")], ...more);

/** A path of this repository. What an operator that was created has is elsewhere. */
const checkPath = (path: string | undefined) =>
  path === undefined ||
  !/^(?:operators|packages|docs|tests|scripts|benchmarks)\//.test(path) ||
  existsSync(join(root, path))
    ? undefined
    : `no such file: ${path}`;

const checkNode: Check = ([file = ""], { file: page }) => {
  if (file.startsWith("-")) return undefined;
  const places = [root, join(root, dirname(page)), join(root, "docs/examples"), join(root, template)];
  return places.some((place) => existsSync(join(place, file))) ? undefined : `no such file: ${file}`;
};

const checkPaths: Check = (args) => args.map(checkPath).find((fault) => fault !== undefined);

const programs: Readonly<Record<string, Check>> = {
  windlass: checkProgram(windlass),
  "windlass-buildkit": (args, line) => checkProgram(windlassBuildkit)(untilDashes(args), line),
  "windlass-buildbarn": (args, line) => checkProgram(windlassBuildbarn)(args, line) ?? checkPaths(args, line),
  "windlass-control-plane": checkPlane,
  npm: checkNpm,
  npx: ([name = "", ...args], line) =>
    ours.test(name) ? check({ ...line, words: [name, ...args] }) : undefined,
  node: checkNode,
  kubectl: checkPaths,
  helm: checkPaths,
};

const ours = /^windlass(?:-[a-z-]+)?$/;

/** Others' programs, of which nothing is checked. */
const others = new Set([
  "bazel",
  "buildctl",
  "cd",
  "curl",
  "docker",
  "export",
  "git",
  "go",
  "grep",
  "jq",
  "kustomize",
  "ln",
  "mkdir",
  "skopeo",
]);

function untilDashes(args: readonly string[]): readonly string[] {
  const end = args.indexOf("--");
  return end < 0 ? args : args.slice(0, end);
}

function check(line: Line): string | undefined {
  const [name = "", ...args] = line.words;
  if (Object.hasOwn(programs, name)) return programs[name]?.(args, line);
  return others.has(name) ? undefined : `what is ${name}?`;
}

test("commands that npm installs into a project are called by npx", () => {
  const installed = pages
    .flatMap(shown)
    .filter(({ words: [name] }) => /^windlass(?:-control-plane)?$/.test(name ?? ""));
  expect(installed.map(({ file, words }) => `${file}: ${words.join(" ")}`)).toEqual([]);
});

test("there are commands on the pages, of each kind", () => {
  const names = new Set(lines.map(({ words: [name = ""] }) => name));
  expect(Object.keys(programs).filter((name) => !names.has(name) && name !== "windlass-buildbarn")).toEqual(
    [],
  );
  expect(lines.length).toBeGreaterThan(150);
});

test.for(pages.map(({ file }) => file))("the commands that %s shows exist, with their options", (file) => {
  const faults = lines
    .filter((line) => line.file === file)
    .flatMap((line) => {
      const fault = check(line);
      return fault === undefined ? [] : [`${line.words.join(" ")}: ${fault}`];
    });
  expect(faults).toEqual([]);
});

test.for([windlass, windlassBuildkit, windlassBuildbarn])(
  "the examples in the help of $name work",
  (program) => {
    const examples = program.commands.flatMap((command) => command.examples.map(({ line }) => line));
    expect(examples.length).toBeGreaterThanOrEqual(program.commands.length);
    const faults = examples
      .flatMap((example) => commandsIn("docs/", example))
      .flatMap((line) => {
        const fault = check(line);
        return fault === undefined ? [] : [`${line.words.join(" ")}: ${fault}`];
      });
    expect(faults).toEqual([]);
  },
);

test.for(pages)("the files that $file names exist", ({ file, text }) => {
  const named = [
    ...text.matchAll(/`((?:packages|operators|docs|tests|scripts|benchmarks)\/[\w./@-]*\w)\/?`/g),
  ].map(([, path = ""]) => path.replace(/\/[^/]*\b[A-Z]{4,}\b[^/]*$/, ""));
  const folder = dirname(file);
  const missing = named.filter(
    (path) => ![root, join(root, folder)].some((place) => existsSync(join(place, path))),
  );
  expect([...new Set(missing)]).toEqual([]);
});
