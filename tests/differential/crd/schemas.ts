/**
 * Generated structural schemas, and objects that follow them more or less: both servers are asked
 * to create (dry run) and to update each, and their causes, warnings and resulting objects are
 * compared.
 *
 *   KUBECONFIG=… node tests/differential/crd/schemas.ts [schemas] [objects per schema] [seed]
 */
import fc from "fast-check";
import { servedKinds } from "../../../packages/control-plane/src/crd/served-kinds.ts";
import { equal, type JsonObject } from "../../../packages/control-plane/src/json.ts";
import { Patterns } from "../../../packages/control-plane/src/patterns/index.ts";
import { type Cause, StatusError } from "../../../packages/control-plane/src/status.ts";
import { finish } from "../../../packages/control-plane/src/steps.ts";
import { conclude } from "../tally.ts";
import { Cluster } from "./cluster.ts";
import { specSchema, valueFor } from "./generate.ts";

const [schemas = "20", objects = "40", seed = "1"] = process.argv.slice(2);
const GROUP = "generated.schema-check.dev";

const cluster = new Cluster();
const patterns = new Patterns();
let compared = 0;
const differences = new Map<string, string>();

function causeKey(cause: Cause): string {
  return `${cause.field} | ${cause.reason} | ${cause.message}`;
}

function sorted(causes: readonly Cause[]): string[] {
  return causes.map(causeKey).sort();
}

const generated = fc.sample(specSchema, { numRuns: Number(schemas), seed: Number(seed) });
for (const [index, spec] of generated.entries()) {
  const plural = `g${seed}x${index}s`;
  const crd = {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.${GROUP}` },
    spec: {
      group: GROUP,
      scope: "Cluster",
      names: { plural, kind: `G${seed}x${index}` },
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
  const collection = `/apis/${GROUP}/v1/${plural}`;
  const created = await cluster.serve(crd, collection);
  if (created.status >= 300) {
    console.log(`schema ${index} refused by the real server: ${String(created.body.message)}`);
    continue;
  }
  try {
    const [kind] = servedKinds(created.body as JsonObject);
    if (kind === undefined) throw new Error("no kind");
    const values = fc.sample(valueFor(spec), { numRuns: Number(objects), seed: Number(seed) + index });
    for (const value of values) {
      const object: JsonObject = {
        apiVersion: `${GROUP}/v1`,
        kind: `G${seed}x${index}`,
        metadata: { name: "x" },
        spec: value,
      };
      const real = await cluster.send("POST", `${collection}?dryRun=All`, object);
      // By way of JSON: values the generator shares must not be shared here.
      const ours = JSON.parse(JSON.stringify(object)) as JsonObject;
      let causes: Cause[] = [];
      let dropped: string[] = [];
      let refused: StatusError | undefined;
      try {
        dropped = kind.schema.prune(ours);
        kind.schema.applyDefaults(ours);
        causes = await finish(kind.validate(patterns.matcher(), ours));
      } catch (error) {
        if (!(error instanceof StatusError)) throw error;
        refused = error;
      }
      compared++;
      const report = (what: string, a: unknown, b: unknown): void => {
        const key = `${what}: ours ${JSON.stringify(a)} real ${JSON.stringify(b)}`;
        if (differences.size < 400) {
          differences.set(key, `${JSON.stringify(spec)}\n    ${JSON.stringify(value)}`);
        }
      };
      if (refused !== undefined) {
        if (real.status !== refused.code) report("refusal", refused.message, real.body.message);
        continue;
      }
      const details = real.body.details as { causes?: Cause[] } | undefined;
      const expected = real.status === 422 ? sorted(details?.causes ?? []) : [];
      if (real.status >= 300 && real.status !== 422) report("status", causes, real.body.message);
      else if (!equal(sorted(causes), expected)) {
        const mine = sorted(causes);
        report(
          "causes",
          mine.filter((cause) => !expected.includes(cause)),
          expected.filter((cause) => !mine.includes(cause)),
        );
      }
      if (real.status === 201) {
        if (!equal(ours.spec ?? null, real.body.spec ?? null)) report("object", ours.spec, real.body.spec);
      }
      if (real.status === 201 || real.status === 422) {
        const unknown = dropped.map((path) => `unknown field "${path}"`);
        if (!equal([...unknown].sort(), [...real.warnings].sort()))
          report("warnings", unknown, real.warnings);
      }
    }
  } finally {
    await cluster.remove(crd.metadata.name);
  }
}
await cluster.close();
for (const [difference, example] of differences) console.log(`${difference}\n    ${example}\n`);
conclude({ name: "crd/schemas", compared, differing: differences.size });
