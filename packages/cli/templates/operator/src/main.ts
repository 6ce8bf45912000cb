import { manager } from "@windlass/runtime";
import { gadgetController } from "./controller.ts";

await manager({ leaderElection: { name: "gadget-operator" } })
  .add(gadgetController)
  .run();
