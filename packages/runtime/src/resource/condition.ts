import { z } from "zod";
import { listMap } from "./markers.ts";

/** The longest message a condition may carry. */
const messageLimit = 32_768;

/**
 * One condition, with the constraints that Kubernetes puts on its own (`metav1.Condition`).
 *
 * A status schema given to `defineResource` gets `conditions` by itself; this is for schemas that
 * want them elsewhere.
 */
export const conditionSchema = z.object({
  type: z
    .string()
    .max(316)
    .regex(
      /^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*\/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$/,
    )
    .describe("What the condition is about, in CamelCase"),
  status: z.enum(["True", "False", "Unknown"]).describe("Whether it holds"),
  reason: z
    .string()
    .min(1)
    .max(1024)
    .regex(/^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$/)
    .describe("Why, as one CamelCase word for programs"),
  message: z.string().max(messageLimit).describe("Why, for people; may be empty"),
  lastTransitionTime: z.iso.datetime({ offset: true }).describe("When the status last changed"),
  observedGeneration: z.int().min(0).optional().describe("The generation of the object that this is about"),
});

/** The state of one aspect of an object, as `kubectl wait --for=condition=…` reads it. */
export interface Condition {
  readonly type: string;
  readonly status: "True" | "False" | "Unknown";
  readonly reason: string;
  readonly message: string;
  readonly lastTransitionTime: string;
  readonly observedGeneration?: number;
}

/** The fields that every status has beside its own. */
export const commonStatus = {
  observedGeneration: z.int().optional().describe("The generation that this status was computed from"),
  conditions: z
    .array(conditionSchema)
    .check(listMap("type"))
    .optional()
    .describe("What is known about the object, one entry for each type"),
};
