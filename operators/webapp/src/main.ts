import { manager } from "@windlass/runtime";
import { webapp } from "./controller.ts";
import { Policy, webhooks } from "./webhooks.ts";

await manager({ leaderElection: { name: "webapp-operator" } })
  .add(webapp)
  .add(webhooks(Policy.parse(process.env)))
  .run();
