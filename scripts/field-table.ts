/**
 * `node scripts/field-table.ts OPERATOR…`: writes the tables of an operator's fields into its
 * README, between the comments `<!-- fields of KIND -->` and `<!-- end of fields -->`. They come
 * from the schemas that a server enforces. A test fails when they no longer fit.
 */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { loadOperator } from "../packages/cli/src/generate/load.ts";

/** What a table needs of a structural schema. */
interface Schema {
  readonly type?: string;
  readonly description?: string;
  readonly default?: unknown;
  readonly enum?: readonly unknown[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly format?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly additionalProperties?: Schema | boolean;
  readonly "x-kubernetes-int-or-string"?: boolean;
}

/** Fields deeper than this within an object of Kubernetes' own are documented by Kubernetes. */
const kubernetesOwn = /^(podTemplate\.spec|resources\.(buildkit|sidecar)|.*podTemplate\.spec)$/;

interface Row {
  readonly path: string;
  readonly type: string;
  readonly fallback: string;
  readonly about: string;
}

function rowsOf(schema: Schema, path: string, isRequired: boolean): readonly Row[] {
  const { properties, items, description = "" } = schema;
  const row = { path, type: typeOf(schema), fallback: fallbackOf(schema, isRequired), about: description };
  if (kubernetesOwn.test(path)) return [{ ...row, type: "as in a pod" }];
  const within = (inner: Schema, at: string) =>
    Object.entries(inner.properties ?? {}).flatMap(([name, one]) =>
      rowsOf(one, `${at}.${name}`, inner.required?.includes(name) ?? false),
    );
  if (properties !== undefined) {
    const own = description === "" ? [] : [{ ...row, fallback: "" }];
    return [...own, ...within(schema, path)];
  }
  if (items?.properties !== undefined) return [{ ...row, path: `${path}[]` }, ...within(items, `${path}[]`)];
  return [row];
}

function typeOf(schema: Schema): string {
  const { type, enum: values, minimum, maximum, format, items, additionalProperties } = schema;
  if (values !== undefined) return values.map((value) => `\`${String(value)}\``).join(", ");
  if (schema["x-kubernetes-int-or-string"]) return "quantity";
  if (type === "array") return items === undefined ? "list" : `list of ${plural(typeOf(items))}`;
  if (type === "object") return typeof additionalProperties === "object" ? "map" : "";
  if (type !== "integer") return format === "date-time" ? "time" : (type ?? "");
  // What a format says already is no bound of ours.
  const least = minimum !== undefined && minimum > -2_147_483_648 ? String(minimum) : "";
  const most = maximum !== undefined && maximum < 2_147_483_647 ? String(maximum) : "";
  return least === "" && most === "" ? "integer" : `integer, ${least} to ${most || "any"}`;
}

function plural(type: string): string {
  if (type === "") return "objects";
  return type.startsWith("`") ? type : `${type}s`;
}

function fallbackOf({ default: value, type }: Schema, isRequired: boolean): string {
  if (value !== undefined && (typeof value !== "object" || type !== "object")) {
    const text = typeof value === "string" ? value : JSON.stringify(value);
    return text === "" || text === "[]" || text === "{}" ? "" : `\`${text}\``;
  }
  return isRequired ? "required" : "";
}

function cell(text: string): string {
  return text.replaceAll("|", "\\|").replaceAll(/\s+/g, " ");
}

/** The fields of a kind's spec, as a table. */
export function fieldTable(schema: Schema): string {
  const spec = schema.properties?.spec ?? {};
  const rows = Object.entries(spec.properties ?? {}).flatMap(([name, one]) =>
    rowsOf(one, name, spec.required?.includes(name) ?? false),
  );
  const lines = rows.map(
    ({ path, type, fallback, about }) =>
      `| \`${path}\` | ${cell(type)} | ${cell(fallback)} | ${cell(about)} |`,
  );
  return ["| field of `spec` | type | default | |", "|---|---|---|---|", ...lines].join("\n");
}

/** A README with its tables as they should be. */
export async function withTables(operator: string, readme: string): Promise<string> {
  const config = join(import.meta.dirname, "..", "operators", operator, "windlass.config.ts");
  const { kinds } = await loadOperator(config);
  return readme.replaceAll(/<!-- fields of (\w+) -->[\s\S]*?<!-- end of fields -->/g, (_, kind: string) => {
    const crd = kinds.find((one) => one.kind === kind)?.crd();
    if (crd === undefined) throw new Error(`${operator} has no kind ${kind}`);
    const version = crd.spec.versions.find(({ storage }) => storage);
    const table = fieldTable(version?.schema?.openAPIV3Schema as Schema);
    return `<!-- fields of ${kind} -->\n${table}\n<!-- end of fields -->`;
  });
}

/** Where an operator's README is. */
export function readmeOf(operator: string): string {
  return join(import.meta.dirname, "..", "operators", operator, "README.md");
}

if (import.meta.main)
  for (const operator of process.argv.slice(2)) {
    const text = await readFile(readmeOf(operator), "utf8");
    await writeFile(readmeOf(operator), await withTables(operator, text));
  }
