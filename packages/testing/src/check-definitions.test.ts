import { cel, defineResource, ResourceDefinitionError } from "@windlass/runtime";
import { expect, test } from "vitest";
import { z } from "zod";
import { checkDefinitions } from "./check-definitions.ts";

const names = { group: "check.example.com", version: "v1", kind: "Checked" };

test("a definition that a server takes passes", async () => {
  const spec = z.object({ size: z.int().min(0).default(1) });
  await checkDefinitions(defineResource({ ...names, spec }));
});

test("what only a server finds is refused with its place", async () => {
  const Checked = defineResource({
    ...names,
    spec: z.object({
      size: z.int().check(cel("self.startsWith('a')", "must begin with a")),
      name: z.string().optional(),
    }),
  });
  const refused = checkDefinitions(Checked);
  await expect(refused).rejects.toBeInstanceOf(ResourceDefinitionError);
  await expect(refused).rejects.toMatchObject({
    problems: [
      {
        path: "spec.validation.openAPIV3Schema.properties[spec].properties[size].x-kubernetes-validations[0].rule",
        message: expect.stringContaining("found no matching overload for 'startsWith'"),
      },
    ],
  });
});
