import { manager } from "@windlass/runtime";
import { greeting } from "./greeting.ts";
import { webhooks } from "./webhooks.ts";

await manager({ leaderElection: { name: "greeting-operator" } })
  .add(greeting)
  .add(webhooks())
  .run();
