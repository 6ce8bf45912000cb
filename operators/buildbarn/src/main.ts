import { manager } from "@windlass/runtime";
import { controllers } from "./operator.ts";

const operator = manager({ leaderElection: { name: "buildbarn-operator" } });
for (const one of controllers) operator.add(one);
await operator.run();
