import { manager } from "@windlass/runtime";
import { webapp } from "./webapp.ts";

await manager({ leaderElection: { name: "webapp-operator" } })
  .add(webapp)
  .run();
