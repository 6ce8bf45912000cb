import { child, condition, controller, defineResource } from "@windlass/runtime";
import { ConfigMap } from "@windlass/runtime/kinds";
import { z } from "zod";

export const Greeting = defineResource({
  group: "example.com",
  version: "v1",
  kind: "Greeting",
  spec: z.object({
    name: z.string().min(1).describe("Whom to greet"),
    language: z.enum(["en", "fr", "de"]).default("en").describe("In which language"),
  }),
  status: z.object({ text: z.string().optional().describe("The greeting as it was written") }),
  printerColumns: [{ name: "Text", jsonPath: ".status.text", type: "string" }],
});

const words = { en: "Hello", fr: "Bonjour", de: "Hallo" };

export const greeting = controller(Greeting, {
  owns: [ConfigMap],
  reconcile: ({ metadata, spec }) => {
    const text = `${words[spec.language]}, ${spec.name}!`;
    return {
      children: [child(ConfigMap, { metadata: { name: metadata.name }, data: { text } })],
      status: { text, conditions: [condition("Ready", true, "Written")] },
    };
  },
});
