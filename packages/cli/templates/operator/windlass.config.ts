import { defineOperator } from "@windlass/cli";
import { Gadget, gadgetController } from "./src/index.ts";

// What `npm run generate` makes config/ and chart/ from, together with the kinds, controllers and webhooks themselves.
export const operator = defineOperator({
  name: "gadget-operator",
  description: "Runs a Deployment and a Service for each Gadget",
  kinds: [Gadget],
  controllers: [gadgetController],
});
