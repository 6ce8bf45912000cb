import { seededRandom } from "../../../packages/clock/src/index.ts";
import { clone, type JsonObject } from "../../../packages/control-plane/src/json.ts";
import { normalizeAs } from "../../../packages/control-plane/src/kinds/index.ts";
import { applySchemaDefaults } from "../../../packages/control-plane/src/schema/defaults.ts";
import { normaliseEmbedded } from "../../../packages/control-plane/src/schema/embedded.ts";
import { nodeOf } from "../../../packages/control-plane/src/schema/node.ts";
import { pruneNulls, pruneUnknown } from "../../../packages/control-plane/src/schema/prune.ts";
import type { Schema } from "../../../packages/control-plane/src/schema/schema.ts";
import { Draw, randomSchema, randomValue } from "./generate.ts";
import { wait } from "./judge.ts";
import type { Send } from "./real-server.ts";
import type { Scenario } from "./scenario.ts";

const GROUP = "merge.windlass.example";
const CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

/**
 * A CRD whose schema comes from the seed, with the status subresource on. Resolves once it is
 * served.
 */
export async function createCustom(send: Send, namespace: string, seed: number): Promise<Scenario> {
  const draw = new Draw(seededRandom(seed));
  const kind = `Seed${seed}`;
  const plural = `seed${seed}s`;
  const spec = randomSchema(draw);
  const status = randomSchema(draw, 1);
  const schema: Schema = { type: "object", properties: { spec, status } };
  const answer = await send("POST", CRDS, {
    metadata: { name: `${plural}.${GROUP}` },
    spec: {
      group: GROUP,
      scope: "Namespaced",
      names: { plural, kind },
      versions: [
        {
          name: "v1",
          served: true,
          storage: true,
          schema: { openAPIV3Schema: schema },
          subresources: { status: {} },
        },
      ],
    },
  });
  if (answer.status !== 201) throw new Error(`CRD of seed ${seed}: ${JSON.stringify(answer.body.message)}`);
  const collection = `/apis/${GROUP}/v1/namespaces/${namespace}/${plural}`;
  await untilServed(send, collection);
  return {
    apiVersion: `${GROUP}/v1`,
    kind,
    collection,
    schema,
    empty: {},
    builtin: false,
    status: true,
    paths: ["/spec/a", "/spec/b", "/spec/c", "/spec/d/0", "/spec/e/-", "/spec/a/-1"],
    body: (source) => {
      const density = source.pick([0.3, 0.5, 0.8]);
      return source.chance(0.9) ? { spec: randomValue(source, spec, density) ?? {} } : {};
    },
    statusBody: (source) => ({ status: randomValue(source, status, 0.5) ?? {} }),
    tracked: (answered) => answered,
    stored: (object) => storedCustom(object, schema),
  };
}

export async function deleteCustom(send: Send, seed: number): Promise<void> {
  await send("DELETE", `${CRDS}/seed${seed}s.${GROUP}`);
}

async function untilServed(send: Send, collection: string): Promise<void> {
  for (let attempt = 0; attempt < 100; attempt++) {
    const { status } = await send("GET", collection);
    if (status === 200) return;
    await wait(100);
  }
  throw new Error(`${collection} was not served`);
}

/**
 * Storing a custom resource prunes unknown fields, fills in defaults, drops nulls that are not
 * allowed, and leaves no empty metadata.
 */
function storedCustom(object: JsonObject, schema: Schema): JsonObject {
  const result = clone(object);
  const metadata = normalizeAs("meta.v1.ObjectMeta", result.metadata ?? {}) as JsonObject;
  const entries = (object.metadata as JsonObject).managedFields;
  result.metadata = { ...metadata, ...(entries === undefined ? {} : { managedFields: entries }) };
  normaliseEmbedded(result, schema);
  pruneUnknown(result, nodeOf(schema));
  pruneNulls(result, nodeOf(schema));
  applySchemaDefaults(result, schema);
  return result;
}
