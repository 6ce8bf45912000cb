import type { $ZodType } from "zod/v4/core";
import type { Problems } from "./refusal.ts";
import type { StructuralSchema } from "./structural.ts";

/** Turns one zod schema into a node; composite kinds call back for their parts. */
export interface Walk {
  readonly problems: Problems;
  node(schema: $ZodType, path: string): StructuralSchema;
}
