import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import fc from "fast-check";
import { load } from "js-yaml";
import { afterEach, beforeEach, expect, test } from "vitest";
import { writeOperator } from "../commands/create.ts";
import { windlass } from "../program.ts";
import { runProgram } from "../run.ts";
import { type RecordingTerminal, recordingTerminal } from "../terminal.fixture.ts";
import { version } from "../version.ts";
import { kindFor, operatorNames } from "./names.ts";
import { operatorFiles } from "./operator-files.ts";
import { templateFiles } from "./template-files.ts";

const run = promisify(execFile);
const root = join(import.meta.dirname, "..", "..", "..", "..");

// The packages that a new operator would install are found where this repository has them.
let folder: string;
beforeEach(async () => {
  const home = await mkdtemp(join(tmpdir(), "windlass-create-"));
  await symlink(join(root, "node_modules"), join(home, "node_modules"));
  folder = join(home, "projects");
  await mkdir(folder);
});
afterEach(() => rm(dirname(folder), { recursive: true, force: true }));

async function create(terminal: RecordingTerminal, ...args: readonly string[]): Promise<number> {
  return await runProgram(windlass, ["create", ...args], terminal);
}

test("what is generated for a new operator has its names", { timeout: 60_000 }, async () => {
  const project = join(folder, "proxy-operator");
  const args = ["proxy-operator", "--kind", "HttpProxy", "--group", "net.acme.io"];
  expect(await create(recordingTerminal({ folder }), ...args)).toBe(0);
  expect(await runProgram(windlass, ["generate"], recordingTerminal({ folder: project }))).toBe(0);
  const crd = load(await readFile(join(project, "config", "base", "crd.yaml"), "utf8"));
  expect(crd).toMatchObject({
    metadata: { name: "httpproxies.net.acme.io" },
    spec: { group: "net.acme.io", names: { kind: "HttpProxy", plural: "httpproxies" } },
  });
  const manager = await readFile(join(project, "config", "base", "manager.yaml"), "utf8");
  expect(manager).toContain("image: proxy-operator:0.1.0\n");
});

test("the longest name that create takes is one that generate takes", { timeout: 60_000 }, async () => {
  const longest = "a".repeat(31);
  for (const name of [longest, `${longest}-operator`]) {
    expect(await create(recordingTerminal({ folder }), name, "--kind", "Shop")).toBe(0);
    const terminal = recordingTerminal({ folder: join(folder, name) });
    expect([await runProgram(windlass, ["generate"], terminal), terminal.complained()]).toEqual([0, ""]);
  }
  expect(await create(recordingTerminal({ folder }), `${longest}a`)).toBe(2);
});

test("with --install it has npm install and generate, and says what npm could not do", async () => {
  const npm = join(folder, "npm");
  const calls = join(folder, "calls");
  await writeFile(npm, `#!/bin/sh\necho "$PWD $*" >> ${calls}\n[ "$1" != "$FAILS" ]\n`, { mode: 0o755 });
  const env = { PATH: `${folder}:/usr/bin:/bin` };
  const terminal = recordingTerminal({ folder, env });
  expect(await create(terminal, "shop", "--install")).toBe(0);
  expect(await readFile(calls, "utf8")).toBe(
    `${join(folder, "shop")} install\n${join(folder, "shop")} run generate\n`,
  );
  expect(terminal.said()).not.toContain("npm install");
  const failing = recordingTerminal({ folder, env: { ...env, FAILS: "install" } });
  expect(await create(failing, "other", "--install")).toBe(1);
  expect(failing.complained()).toMatch(
    /npm install failed \(exit code 1\).*: all files of the operator are there/,
  );
  const without = recordingTerminal({ folder, env: { PATH: "/nowhere" } });
  expect(await create(without, "third", "--install")).toBe(1);
  expect(without.complained()).toContain("npm install could not be started");
});

test("a new operator's own tests pass", async () => {
  const terminal = recordingTerminal({ folder });
  expect(await create(terminal, "ticket", "--kind", "SupportTicket", "--group", "desk.acme.io")).toBe(0);
  const cwd = join(folder, "ticket");
  const { stdout } = await run(process.execPath, ["--test", "--test-reporter=tap", "src/**/*.test.ts"], {
    cwd,
  });
  expect(stdout).toContain("# pass 3");
}, 60_000);

test("nothing of the template's names is left", async () => {
  await create(recordingTerminal({ folder }), "shop-item", "--group", "acme.io");
  const entries = await readdir(join(folder, "shop-item"), { recursive: true, withFileTypes: true });
  for (const entry of entries.filter((one) => one.isFile())) {
    const text = await readFile(join(entry.parentPath, entry.name), "utf8");
    expect(entry.name + text).not.toMatch(/gadget|example\.com/i);
  }
  const manifest = await readFile(join(folder, "shop-item", "package.json"), "utf8");
  expect(JSON.parse(manifest)).toMatchObject({
    name: "shop-item",
    dependencies: { "@windlass/runtime": version },
    devDependencies: { "@windlass/cli": version, "@windlass/testing": version },
  });
});

test("whatever the names are, the kind and the sample are of them", async () => {
  const template = await templateFiles();
  // Three of them and their dashes have 29 characters: 31 are taken.
  const word = fc.stringMatching(/^[a-z]{1,9}$/);
  fc.assert(
    fc.property(fc.array(word, { minLength: 1, maxLength: 3 }), word, (words, domain) => {
      const project = words.join("-");
      const names = operatorNames(project, `${kindFor(project)}X`, `${domain}.io`);
      const { kind, group, singular } = names;
      const files = operatorFiles(template, names, "1.0.0");
      expect(load(files.get(`config/samples/${singular}.yaml`) ?? "")).toMatchObject({
        apiVersion: `${group}/v1`,
        kind,
      });
      expect(files.get("src/kind.ts")).toContain(`group: "${group}",\n  version: "v1",\n  kind: "${kind}",`);
    }),
    { numRuns: 50 },
  );
});

test("on a terminal it asks for what the options do not say, again until the answer will do", async () => {
  const terminal = recordingTerminal({ folder, typed: ["Shop!", "shop", "", "shop.acme.io"] });
  expect(await create(terminal)).toBe(0);
  expect(terminal.complained()).toBe(
    'Name (my-operator) the name "Shop!" must be lower-case letters, digits and dashes, begin with a letter, and have at most 31 characters besides -operator, such as shop-operator\n' +
      "Name (my-operator) Kind (Shop) API group (example.com) ",
  );
  expect(await readFile(join(folder, "shop", "src", "kind.ts"), "utf8")).toContain('group: "shop.acme.io"');
});

test("with --yes, with --json and away from a terminal it asks nothing", async () => {
  const typing = () => recordingTerminal({ folder, typed: ["never-asked"] });
  expect(await create(typing(), "one", "--yes")).toBe(0);
  const terminal = typing();
  expect(await create(terminal, "two", "--json")).toBe(0);
  expect(JSON.parse(terminal.said())).toMatchObject({ folder: join(folder, "two"), kind: "Two" });
  expect(await create(recordingTerminal({ folder }))).toBe(0);
  expect((await readdir(folder)).toSorted()).toEqual(["my-operator", "one", "two"]);
});

test("it says what to do next", async () => {
  const terminal = recordingTerminal({ folder });
  await create(terminal, "shop");
  expect(terminal.said()).toMatch(/^\d+ files written to .*shop\n\nNext:\n {2}cd shop\n {2}npm install\n/);
});

test("a folder that is not empty is left alone", async () => {
  await mkdir(join(folder, "shop"));
  await writeFile(join(folder, "shop", "precious.txt"), "mine");
  const terminal = recordingTerminal({ folder });
  expect(await create(terminal, "shop")).toBe(1);
  expect(terminal.complained()).toContain("is not empty");
  expect(await readdir(join(folder, "shop"))).toEqual(["precious.txt"]);
});

test("a folder whose name a shell would take apart is quoted in what to do next", async () => {
  const terminal = recordingTerminal({ folder });
  await create(terminal, "shop", "--folder", "it's my shop");
  expect(terminal.said()).toContain(process.platform === "win32" ? 'cd "it' : "cd 'it'\\''s my shop'\n");
});

test("what could not be written whole is taken back, so that it can be tried again", async () => {
  await mkdir(join(folder, "shop"));
  const template = await templateFiles();
  const files = operatorFiles(template, operatorNames("shop", "Shop", "acme.io"), "1.0.0");
  const refusing = new Map([...files, ["src/kind.ts/below", "a file is no folder"]]);
  await expect(writeOperator(join(folder, "shop"), refusing)).rejects.toThrow("could not be written");
  expect(await readdir(join(folder, "shop"))).toEqual([]);
  await expect(writeOperator(join(folder, "new"), refusing)).rejects.toThrow("could not be written");
  expect(await readdir(folder)).toEqual(["shop"]);
});

test.for([
  [["Shop"], "lower-case letters"],
  [["shop", "--kind", "Map"], "means something else already"],
  [["shop", "--folder", "C:\\ops\\shop"], "with slashes"],
  [["shop", "--kind", "shop"], "CamelCase"],
  [["shop", "--kind", "Service"], "means something else already"],
  [["shop", "--group", "acme"], "domain name with a dot"],
  [["shop", "--group", "apps.k8s.io"], "belongs to Kubernetes"],
] as const)("names that a server would refuse are refused: %j", async ([args, words]) => {
  const terminal = recordingTerminal({ folder });
  expect(await create(terminal, ...args)).toBe(2);
  expect(terminal.complained()).toContain(words);
  expect(await readdir(folder)).toEqual([]);
});

test("the versions that a new operator installs are those that are tried here", async () => {
  const { dependencies, devDependencies } = JSON.parse(
    (await templateFiles()).get("package.json") ?? "",
  ) as Record<"dependencies" | "devDependencies", Record<string, string>>;
  const lock = JSON.parse(await readFile(join(root, "package-lock.json"), "utf8")) as {
    readonly packages: Readonly<Record<string, { readonly version?: string }>>;
  };
  for (const [name, wanted] of Object.entries({ ...dependencies, ...devDependencies }))
    if (!name.startsWith("@windlass/"))
      expect(`${name} ${wanted}`).toBe(`${name} ${lock.packages[`node_modules/${name}`]?.version}`);
});
