import { manager } from "@windlass/runtime";
import { webapp } from "./controller.ts";

await manager({ leaderElection: { name: "webapp-operator" } })
  .add(webapp)
  .run();
