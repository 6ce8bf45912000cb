import { ApiError } from "@windlass/client";
import { defineResource, ResourceDefinitionError } from "@windlass/runtime";
import { CustomResourceDefinition, type CustomResourceDefinitionInput } from "@windlass/runtime/kinds";
import { startCluster, type TestCluster } from "@windlass/testing";
import { sample } from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { anySpecs } from "../../packages/runtime/src/resource/random-definition.fixture.ts";

const definitions = 400;

let cluster: TestCluster;
beforeAll(async () => {
  cluster = await startCluster();
}, 90_000);
afterAll(() => cluster.close(), 60_000);

/**
 * Only running a rule shows that it does not hold for a default: the server does, the generator
 * does not.
 */
const isRuleOnDefault = ({ field = "", message = "" }) =>
  field.includes(".default") && message.endsWith("needs a name");

test("what is not refused when its definition is generated, the server takes", async () => {
  let taken = 0;
  let refused = 0;
  for (const spec of sample(anySpecs, { seed: 11, numRuns: definitions })) {
    const kind = defineResource({ group: "refusals.windlass.dev", version: "v1", kind: "Anything", spec });
    let crd: CustomResourceDefinitionInput;
    try {
      crd = kind.crd();
    } catch (error) {
      expect(error).toBeInstanceOf(ResourceDefinitionError);
      refused++;
      continue;
    }
    try {
      await cluster.client.create(CustomResourceDefinition, crd, { dryRun: true });
      taken++;
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      const faults = error.causes.filter((cause) => !isRuleOnDefault(cause));
      expect(faults, JSON.stringify(crd)).toEqual([]);
    }
  }
  expect(taken).toBeGreaterThan(definitions / 10);
  expect(refused).toBeGreaterThan(definitions / 10);
}, 60_000);
