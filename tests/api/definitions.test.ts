import { isInvalid } from "@windlass/client";
import { defineResource } from "@windlass/runtime";
import { CustomResourceDefinition } from "@windlass/runtime/kinds";
import { startCluster, type TestCluster } from "@windlass/testing";
import { sample } from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { type Sample, specSamples } from "../../packages/runtime/src/resource/random-schema.fixture.ts";

/**
 * Schemas per definition, and objects per schema. A definition takes a real server a second, an
 * object a few milliseconds.
 */
const width = 12;
const objects = 4;
const seeds = [1, 2, 3, 4];

let cluster: TestCluster;
let namespace: string;

beforeAll(async () => {
  cluster = await startCluster();
  namespace = await cluster.createNamespace();
}, 90_000);
afterAll(() => cluster.close(), 60_000);

/** One kind with a field for each schema, none of which has to be there. */
function kindOf(seed: number, samples: readonly Sample[]) {
  const fields = samples.map(({ schema }, index) => [`field${index}`, schema.optional()] as const);
  return defineResource({
    group: "definitions.windlass.dev",
    version: "v1",
    kind: `Random${seed}`,
    plural: `random${seed}s`,
    spec: z.object(Object.fromEntries(fields)),
  });
}

/** As it goes over the wire: no `undefined`, no prototypes. */
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

test("random schemas are accepted, and what they take comes back as zod would give it", {
  timeout: 60_000,
}, async () => {
  const cases = seeds.map((seed) => {
    const samples = sample(specSamples, { seed, numRuns: width });
    return { seed, samples, kind: kindOf(seed, samples) };
  });
  await cluster.install(...cases.map(({ kind }) => kind));
  for (const { seed, samples, kind } of cases) {
    for (const [index, { schema, input }] of samples.entries()) {
      for (const [number, value] of sample(input, { seed, numRuns: objects }).entries()) {
        const field = `field${index}`;
        const stored = await cluster.client.create(
          kind,
          { metadata: { namespace, name: `f${index}-${number}` }, spec: { [field]: value } },
          { fieldValidation: "Strict" },
        );
        const { spec } = stored as { spec: Record<string, unknown> };
        expect(plain(spec[field]), `seed ${seed}, schema ${index}: ${JSON.stringify(value)}`).toEqual(
          plain(schema.parse(value)),
        );
      }
    }
  }
});

test("defaults are the server's as they are zod's, at every depth", async () => {
  const spec = z.object({
    replicas: z.int32().default(3),
    tls: z
      .object({ enabled: z.boolean().default(true), hosts: z.array(z.string()).default(["a", "b"]) })
      .prefault({}),
    ports: z.array(z.object({ port: z.int32(), protocol: z.enum(["TCP", "UDP"]).default("TCP") })).optional(),
    limits: z.record(z.string(), z.object({ soft: z.int32().default(1) })).optional(),
    note: z.string().nullable().optional(),
  });
  const Defaulted = defineResource({
    group: "definitions.windlass.dev",
    version: "v1",
    kind: "Defaulted",
    spec,
  });
  await cluster.install(Defaulted);
  const inputs = [
    {},
    { tls: {} },
    { tls: { hosts: [] }, note: null },
    {
      ports: [{ port: 80 }, { port: 53, protocol: "UDP" as const }],
      limits: { cpu: {}, memory: { soft: 5 } },
    },
  ];
  for (const [index, input] of inputs.entries()) {
    const stored = await cluster.client.create(Defaulted, {
      metadata: { namespace, name: `d-${index}` },
      spec: input,
    });
    expect(plain(stored.spec)).toEqual(plain(spec.parse(input)));
  }
});

test("a rule in CEL holds on create, and a transition rule on update", async () => {
  const { cel } = await import("@windlass/runtime");
  const Ruled = defineResource({
    group: "definitions.windlass.dev",
    version: "v1",
    kind: "Ruled",
    spec: z
      .object({ min: z.int32(), max: z.int32(), class: z.string().max(20) })
      .check(
        cel("self.min <= self.max", "min must not exceed max"),
        cel("self.class == oldSelf.class", "class is immutable"),
      ),
  });
  await cluster.install(Ruled);
  const key = { namespace, name: "ruled" };
  const refused = cluster.client.create(Ruled, { metadata: key, spec: { min: 5, max: 1, class: "a" } });
  await expect(refused).rejects.toSatisfy(isInvalid);
  await expect(refused).rejects.toThrow("spec: Invalid value: min must not exceed max");
  await cluster.client.create(Ruled, { metadata: key, spec: { min: 1, max: 5, class: "a" } });
  const changed = cluster.client.patch(Ruled, key, { type: "merge", patch: { spec: { class: "b" } } });
  await expect(changed).rejects.toThrow("class is immutable");
  const { spec } = await cluster.client.patch(Ruled, key, { type: "merge", patch: { spec: { max: 6 } } });
  expect(spec).toEqual({ min: 1, max: 6, class: "a" });
});

test("a schema that is not structural is refused before it is sent, with the field, as the server would", async () => {
  const NotStructural = defineResource({
    group: "definitions.windlass.dev",
    version: "v1",
    kind: "NotStructural",
    spec: z.object({ when: z.date() }),
  });
  expect(() => NotStructural.crd()).toThrow(/spec\.when/);
  const refused = cluster.client.create(CustomResourceDefinition, {
    metadata: { name: "notstructurals.definitions.windlass.dev" },
    spec: {
      group: "definitions.windlass.dev",
      scope: "Namespaced",
      names: { kind: "NotStructural", plural: "notstructurals" },
      versions: [
        {
          name: "v1",
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: "object", properties: { spec: { properties: { x: {} } } } } },
        },
      ],
    },
  });
  await expect(refused).rejects.toSatisfy(isInvalid);
  await expect(refused).rejects.toThrow(
    "spec.validation.openAPIV3Schema.properties[spec].type: Required value: must not be empty for specified object fields",
  );
});
