import { manager } from "@windlass/runtime";
import { greeting } from "./greeting.ts";

await manager({ leaderElection: { name: "greeting-operator" } })
  .add(greeting)
  .run();
