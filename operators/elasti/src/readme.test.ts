import { glob, readFile } from "node:fs/promises";
import { join } from "node:path";
import { load } from "js-yaml";
import { expect, test } from "vitest";
import { operator } from "../windlass.config.ts";
import { ElastiService } from "./service/elasti-service.ts";

const folder = join(import.meta.dirname, "..");
const readme = await readFile(join(folder, "README.md"), "utf8");

/** The cells of the table under a heading, without its first two lines. */
function tableUnder(heading: string): readonly (readonly string[])[] {
  const section = readme.split(`\n${heading}\n`)[1]?.split(/\n#+ /)[0] ?? "";
  return [...section.matchAll(/^\| (.*) \|$/gm)]
    .map(([, row = ""]) => row.split("|").map((cell) => cell.trim()))
    .filter(([first = ""]) => first.startsWith("`"));
}

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly default?: unknown;
}

/** All fields that hold a value, with their defaults. */
function fieldsOf(schema: Schema, path = ""): readonly (readonly [string, unknown])[] {
  if (schema.properties)
    return Object.entries(schema.properties).flatMap(([name, field]) =>
      fieldsOf(field, path === "" ? name : `${path}.${name}`),
    );
  return schema.items ? fieldsOf(schema.items, `${path}[]`) : [[path, schema.default]];
}

test("the table of fields has every field of the schema, with its default", () => {
  const [version] = ElastiService.crd().spec.versions;
  const schema = (version?.schema?.openAPIV3Schema as Schema | undefined)?.properties?.spec ?? {};
  const fields = fieldsOf(schema).map(
    ([path, value]) => `\`${path}\` ${value === undefined ? "" : `\`${JSON.stringify(value)}\``}`,
  );
  const shown = tableUnder("### Fields").map(([field, value]) => `${field} ${value}`);
  expect(shown.toSorted()).toEqual(fields.map((field) => field.replaceAll('"', "")).toSorted());
});

test("the runbook has every alert, and the values are those of the chart", async () => {
  for (const { name } of operator.alerts ?? []) expect(readme).toContain(`| \`${name}\` |`);
  const values = load(await readFile(join(folder, "chart", "values.yaml"), "utf8")) as object;
  const settings = [
    ...Object.keys(operator.settings ?? {}),
    ...Object.keys(operator.components?.resolver?.settings ?? {}).map((path) => `resolver.${path}`),
  ];
  for (const path of settings) {
    expect(readme).toContain(`\`${path}\``);
    expect(
      path.split(".").reduce((at: unknown, key) => (at as Record<string, unknown>)[key], values),
    ).not.toBe(undefined);
  }
});

test("alerts and graphs ask for metrics that there are, and all are described", async () => {
  const sources = await Array.fromAsync(glob("src/**/*metrics.ts", { cwd: folder }), (file) =>
    readFile(join(folder, file), "utf8"),
  );
  const known = sources.flatMap((text) =>
    [...text.matchAll(/name: "(elasti_\w+)"/g)].map(([, name = ""]) => name),
  );
  const expressions = [
    ...(operator.alerts ?? []),
    ...(operator.panels ?? []).flatMap(({ queries }) => queries),
  ].map(({ expr }) => expr(""));
  const asked = expressions.flatMap((text) => text.match(/elasti_\w+/g) ?? []);
  expect(asked.length).toBeGreaterThan(expressions.length - 1);
  const described = tableUnder("### Metrics").map(([name = ""]) => name.replaceAll("`", ""));
  expect(described.toSorted()).toEqual(known.toSorted());
  // A histogram has series of other names than its own.
  const series = known.flatMap((name) => [name, `${name}_bucket`, `${name}_count`, `${name}_sum`]);
  expect(asked.filter((name) => !series.includes(name))).toEqual([]);
});

test("the runbook has every reason, phase and condition", async () => {
  const texts = await Promise.all(
    ["fault.ts", "stage.ts", "story.ts"].map((file) =>
      readFile(join(folder, "src", "service", file), "utf8"),
    ),
  );
  const [faults = "", stages = "", story = ""] = texts;
  const names = [
    ...faults.matchAll(/^ {2}\| "(\w+)"/gm),
    ...stages.matchAll(/readonly at: "(\w+)"/g),
    ...story.matchAll(/condition\("(\w+)"/g),
  ].map(([, name = ""]) => name);
  expect(names.length).toBeGreaterThan(20);
  expect([...new Set(names)].filter((name) => !readme.includes(`\`${name}\``))).toEqual([]);
});
