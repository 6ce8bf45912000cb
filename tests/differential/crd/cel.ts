/**
 * A table of CEL expressions: compiled by both servers as the rule of a CRD, and evaluated on one
 * object, with messageExpression to read the result.
 *
 *   KUBECONFIG=… node tests/differential/crd/cel.ts [file to record the real server's results in]
 */
import { writeFileSync } from "node:fs";
import { defaultCrd, initialCrdStatus } from "../../../packages/control-plane/src/crd/defaults.ts";
import { prepareCrd } from "../../../packages/control-plane/src/crd/rule-review.ts";
import { servedKinds } from "../../../packages/control-plane/src/crd/served-kinds.ts";
import { validateCrd } from "../../../packages/control-plane/src/crd/validate.ts";
import type { JsonObject } from "../../../packages/control-plane/src/json.ts";
import { Patterns } from "../../../packages/control-plane/src/patterns/index.ts";
import type { Cause } from "../../../packages/control-plane/src/status.ts";
import { finish } from "../../../packages/control-plane/src/steps.ts";
import { conclude } from "../tally.ts";
import { Cluster, CRDS } from "./cluster.ts";
import { BROKEN, EXPRESSIONS, OBJECT, SCHEMA } from "./expressions.ts";

const GROUP = "cel.schema-check.dev";

function crdOf(name: string, rules: readonly JsonObject[]): JsonObject & { metadata: { name: string } } {
  const spec = { ...(SCHEMA as unknown as JsonObject), "x-kubernetes-validations": [...rules] };
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${name}s.${GROUP}` },
    spec: {
      group: GROUP,
      scope: "Cluster",
      names: { plural: `${name}s`, kind: name[0]?.toUpperCase() + name.slice(1) },
      versions: [
        {
          name: "v1",
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: "object", properties: { spec } } },
        },
      ],
    },
  };
}

const patterns = new Patterns();

async function ourVerdict(crd: JsonObject): Promise<readonly Cause[]> {
  const copy = JSON.parse(JSON.stringify(crd)) as JsonObject;
  defaultCrd(copy);
  copy.status = initialCrdStatus(copy);
  await prepareCrd(copy);
  return await finish(validateCrd(patterns.matcher(), copy));
}

function causesOf(body: Record<string, unknown>): readonly Cause[] {
  return (body.details as { causes?: Cause[] } | undefined)?.causes ?? [];
}

/** Type names that both servers make up are not compared. */
function normal(text: string | undefined): string {
  return (text ?? "").replace(/selfType\d+/g, "selfType");
}

const cluster = new Cluster();
const differences: string[] = [];
let compiled = 0;

/** A rule that is false whatever the expression gives, with the result as its message. */
function asRule(expression: string): JsonObject {
  return {
    rule: `'%s'.format([dyn(${expression})]) == 'never'`,
    messageExpression: `'%s'.format([dyn(${expression})])`,
  };
}

const working: string[] = [];
for (const [index, expression] of [...EXPRESSIONS, ...BROKEN].entries()) {
  const rule = index < EXPRESSIONS.length ? asRule(expression) : { rule: `dyn(${expression}) == dyn(1)` };
  const bare = index < EXPRESSIONS.length ? rule : { rule: expression };
  const crd = crdOf(`c${index}`, [bare]);
  const real = causesOf((await cluster.send("POST", `${CRDS}?dryRun=All`, crd)).body);
  const ours = await ourVerdict(crd);
  compiled++;
  const show = (causes: readonly Cause[]): string => causes.map((cause) => normal(cause.message)).join("\n");
  if (show(real) !== show(ours)) {
    differences.push(`compile ${expression}\n  ours: ${show(ours)}\n  real: ${show(real)}`);
  }
  if (real.length === 0 && ours.length === 0 && index < EXPRESSIONS.length) working.push(expression);
}

const crd = crdOf("table", working.map(asRule));
await cluster.remove(crd.metadata.name);
const collection = `/apis/${GROUP}/v1/tables`;
const created = await cluster.serve(crd, collection);
let evaluated = 0;
if (created.status >= 300) differences.push(`the table was refused: ${String(created.body.message)}`);
else {
  try {
    const object = { apiVersion: `${GROUP}/v1`, kind: "Table", metadata: { name: "x" }, spec: OBJECT };
    const real = causesOf((await cluster.send("POST", `${collection}?dryRun=All`, object)).body);
    await prepareCrd(created.body as JsonObject);
    const [kind] = servedKinds(created.body as JsonObject);
    const copy = JSON.parse(JSON.stringify(object)) as JsonObject;
    const ours = kind ? await finish(kind.validate(patterns.matcher(), copy)) : [];
    if (process.argv[2] !== undefined) {
      const results = working.map((expression, index) => [expression, real[index]?.message ?? ""]);
      writeFileSync(process.argv[2], JSON.stringify({ schema: SCHEMA, object: OBJECT, results }, null, 1));
    }
    for (const [index, expression] of working.entries()) {
      evaluated++;
      const a = ours[index]?.message;
      const b = real[index]?.message;
      if (a !== b) differences.push(`evaluate ${expression}\n  ours: ${a}\n  real: ${b}`);
    }
    if (real.length !== working.length) differences.push(`${real.length} causes for ${working.length} rules`);
  } finally {
    await cluster.remove(crd.metadata.name);
  }
}
await cluster.close();
for (const difference of differences) console.log(`${difference}\n`);
conclude({ name: "crd/cel", compared: compiled + evaluated, differing: differences.length });
