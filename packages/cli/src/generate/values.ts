import { CommandError } from "../errors.ts";
import type { Component, Operator } from "./resolve.ts";
import { notice, yaml } from "./yaml.ts";

/** A value of the chart. */
interface Value {
  readonly path: readonly string[];
  readonly value: unknown;
  /** As JSON Schema. */
  readonly schema: Readonly<Record<string, unknown>>;
  readonly describe: string;
}

const texts = { type: "object", additionalProperties: { type: "string" } };
const objects = { type: "array", items: { type: "object" } };
const quantities = { type: "object", additionalProperties: { type: ["string", "number"] } };
const resourcesSchema = {
  type: "object",
  properties: { requests: quantities, limits: quantities, claims: objects },
  additionalProperties: false,
};
const levels = ["trace", "debug", "info", "warn", "error", "fatal"];

/**
 * What the installer of the chart may set.
 *
 * @throws CommandError if two of them have the same path
 */
export function chartValues(operator: Operator): readonly Value[] {
  const { image, manager, components } = operator;
  const text = { type: "string" };
  const flag = (path: string, value: boolean, describe: string): Value => ({
    path: path.split("."),
    value,
    schema: { type: "boolean" },
    describe,
  });
  const values: readonly Value[] = [
    {
      path: ["image", "repository"],
      value: image.repository,
      schema: { ...text, minLength: 1 },
      describe: "Image of the operator",
    },
    { path: ["image", "tag"], value: image.tag, schema: { ...text, minLength: 1 }, describe: "Its tag" },
    {
      path: ["image", "pullPolicy"],
      value: "IfNotPresent",
      schema: { enum: ["Always", "IfNotPresent", "Never"] },
      describe: "When it is pulled",
    },
    { path: ["imagePullSecrets"], value: [], schema: objects, describe: "Secrets to pull it with" },
    ...componentValues(manager),
    {
      path: ["logLevel"],
      value: "info",
      schema: { enum: levels },
      describe: "The least severe level that is logged",
    },
    { path: ["nodeSelector"], value: {}, schema: texts, describe: "Nodes that the pods may run on" },
    { path: ["tolerations"], value: [], schema: objects, describe: "Taints that they tolerate" },
    { path: ["affinity"], value: {}, schema: { type: "object" }, describe: "Their affinities" },
    { path: ["priorityClassName"], value: "", schema: text, describe: "Their priority class" },
    ...manager.commonSettings,
    ...manager.settings,
    ...components.flatMap((component) => [...componentValues(component), ...component.settings]),
    flag("networkPolicy.enabled", true, "Limit the traffic from and to the pods"),
    flag("serviceMonitor.enabled", false, "Have Prometheus' operator scrape the metrics"),
    flag("prometheusRule.enabled", false, "Give Prometheus' operator the alerts"),
    flag("dashboard.enabled", false, "Give Grafana's sidecar the dashboard"),
  ];
  checkPaths(values);
  return values;
}

function componentValues({ key, values: at, replicas, resources }: Component): readonly Value[] {
  const of = key === undefined ? "the operator" : `the ${key}`;
  return [
    {
      path: [...at, "replicas"],
      value: replicas,
      schema: { type: "integer", minimum: 0 },
      describe: `How many pods of ${of} run`,
    },
    {
      path: [...at, "resources"],
      value: resources,
      schema: resourcesSchema,
      describe: `Resources of each pod of ${of}`,
    },
  ];
}

function checkPaths(values: readonly Value[]): void {
  const paths = values.map(({ path }) => path.join("."));
  for (const [index, path] of paths.entries()) {
    const other = paths.find((one, at) => at !== index && (one === path || one.startsWith(`${path}.`)));
    if (other !== undefined)
      throw new CommandError(
        `defineOperator: the chart's values ${path} and ${other} stand in each other's way: rename one`,
      );
  }
}

/** values.yaml, each value with what it is for. */
export function valuesYaml(values: readonly Value[]): string {
  return notice + lines(treeOf(values), "").join("\n").concat("\n");
}

/** values.schema.json: Helm refuses values that do not fit, and names that mean nothing. */
export function valuesSchema(values: readonly Value[]): string {
  const schema = schemaOf(treeOf(values));
  const root = {
    $schema: "http://json-schema.org/draft-07/schema#",
    ...schema,
    // Helm hands these to every chart.
    properties: { ...schema.properties, global: { type: "object" } },
  };
  return `${JSON.stringify(root, null, 2)}\n`;
}

type Tree = Map<string, Value | Tree>;

function treeOf(values: readonly Value[]): Tree {
  const root: Tree = new Map();
  for (const value of values) {
    let at = root;
    for (const name of value.path.slice(0, -1)) {
      const next = at.get(name);
      const branch = next instanceof Map ? next : new Map<string, Value | Tree>();
      at.set(name, branch);
      at = branch;
    }
    at.set(value.path.at(-1) ?? "", value);
  }
  return root;
}

function lines(tree: Tree, indent: string): readonly string[] {
  return [...tree].flatMap(([name, node]) => {
    if (node instanceof Map) return [`${indent}${name}:`, ...lines(node, `${indent}  `)];
    const comment = node.describe === "" ? [] : [`${indent}# ${node.describe.replaceAll(/\s+/g, " ")}`];
    const text = yaml({ [name]: node.value }).trimEnd();
    return [...comment, ...text.split("\n").map((line) => indent + line)];
  });
}

function schemaOf(tree: Tree) {
  const properties: Record<string, object> = {};
  for (const [name, node] of tree)
    properties[name] =
      node instanceof Map
        ? schemaOf(node)
        : { ...(node.describe === "" ? {} : { description: node.describe }), ...node.schema };
  return { type: "object", properties, additionalProperties: false };
}
