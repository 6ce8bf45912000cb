import { manager } from "@windlass/runtime";
import { controllers } from "./operator.ts";
import { watchedNamespaces } from "./settings.ts";

const operator = manager({
  leaderElection: { name: "buildbarn-operator" },
  ...watchedNamespaces(process.env),
});
for (const one of controllers) operator.add(one);
await operator.run();
