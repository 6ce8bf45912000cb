import { atomic, cel, defineResource, immutable, listMap, listSet } from "@windlass/runtime";
import { quantity } from "@windlass/runtime/schemas";
import { z } from "zod";

/** A kind whose rules the API server enforces by itself: nothing of the operator has to run for that. */
export const Budget = defineResource({
  group: "example.com",
  version: "v1",
  kind: "Budget",
  spec: z
    .object({
      tier: z.enum(["gold", "silver"]).default("silver").check(immutable()),
      min: z.int32().min(0).default(0),
      max: z.int32().min(1).default(10),
      memory: quantity().default("256Mi"),
      limits: z
        .array(z.object({ name: z.string().min(1), cpu: quantity() }))
        .max(20)
        .check(listMap("name"))
        .optional(),
      zones: z.array(z.string()).max(10).check(listSet()).optional(),
      schedule: z.object({ from: z.string(), to: z.string() }).check(atomic()).optional(),
    })
    .check(cel("self.min <= self.max", "min must not exceed max"))
    .check(
      cel("self.max >= oldSelf.max || self.tier == 'gold'", {
        message: "only gold budgets may shrink",
        fieldPath: ".max",
      }),
    ),
});
