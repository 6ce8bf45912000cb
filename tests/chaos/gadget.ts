import { isNotFound } from "@windlass/client";
import { child, controller, defineResource } from "@windlass/runtime";
import { ConfigMap } from "@windlass/runtime/kinds";
import { z } from "zod";

/** A text that is to be in a ConfigMap of the same name. */
export const Gadget = defineResource({
  group: "chaos.windlass.dev",
  version: "v1",
  kind: "Gadget",
  spec: z.object({ text: z.string() }),
  status: z.object({ text: z.string().optional() }),
});

/**
 * Small, and with all that an operator has: a child, a status, a finalizer. A bare API server
 * collects no garbage, so it takes the child itself.
 */
export const gadgets = controller(Gadget, {
  owns: [ConfigMap],
  concurrency: 4,
  reconcile: ({ metadata: { name }, spec: { text } }) => ({
    children: [child(ConfigMap, { metadata: { name }, data: { text } })],
    status: { text },
  }),
  async finalize(_gadget, { client, key }) {
    try {
      await client.delete(ConfigMap, key);
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  },
});
