import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { specFields } from "./documented-fields.fixture.ts";

const folder = join(import.meta.dirname, "..");
const readme = readFileSync(join(folder, "README.md"), "utf8");

interface Row {
  readonly path: string;
  readonly default: string | undefined;
}

/** The rows of the table under a heading: the field, and its default. */
function rowsUnder(heading: string): readonly Row[] {
  const section = readme.split(`\n#### ${heading}\n`)[1]?.split(/\n##+ /)[0];
  if (section === undefined) throw new Error(`the README has no heading ${heading}`);
  return [...section.matchAll(/^\| `([^`]+)` \| (?:`([^`]+)`|`` (.+) ``)? ?\|/gm)].map(
    ([, path = "", plain, quoted]) => ({
      path,
      default: plain ?? quoted,
    }),
  );
}

const byPath = (rows: readonly Row[]) =>
  rows.map(({ path, default: value }) => `${path} = ${value ?? "none"}`).toSorted();
const common = rowsUnder("All components");

test.for([...specFields()])("the README has every field of %s, with its default", ([kind, fields]) => {
  const shared = kind === "BuildbarnCluster" ? common.filter(({ path }) => path === "version") : common;
  expect(byPath([...shared, ...rowsUnder(kind)])).toEqual(byPath(fields));
});

test("conditions and reasons in the README are in the code", () => {
  const sources = readdirSync(join(folder, "src"), { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts") && !/\.(test|fixture)\.ts$/.test(file))
    .map((file) => readFileSync(join(folder, "src", file), "utf8"));
  // What keeps a pod from running has the reasons of podFault.
  const runtime = join(folder, "..", "..", "packages", "runtime", "src");
  const text = [...sources, readFileSync(join(runtime, "reconcile", "pod-fault.ts"), "utf8")].join("\n");
  const section = readme.split("\n### Conditions\n")[1]?.split("\n## ")[0] ?? "";
  const names = [...section.matchAll(/^\| ((?:`\w+`(?:, )?)+)/gm)].flatMap(([, cell = ""]) =>
    [...cell.matchAll(/`(\w+)`/g)].map(([, name]) => name),
  );
  expect(names.length).toBeGreaterThan(15);
  expect(names.filter((name) => !text.includes(`"${name}"`))).toEqual([]);
});

test("the commands that the README shows name files that are there", () => {
  const paths = [...readme.matchAll(/(?:-k|-f|helm install \S+) (operators\/buildbarn\/\S+)/g)].map(
    ([, path = ""]) => path,
  );
  expect(paths.length).toBeGreaterThan(3);
  const root = join(folder, "..", "..");
  for (const path of paths) expect(() => readdirOrFile(join(root, path))).not.toThrow();
});

function readdirOrFile(path: string): unknown {
  return path.endsWith(".yaml") ? readFileSync(path) : readdirSync(path);
}
