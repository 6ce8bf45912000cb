import { defineOperator } from "@windlass/cli";
import { alerts, panels } from "./monitoring.ts";
import { ports } from "./src/configuration/ports.ts";
import { kinds } from "./src/kinds.ts";
import { controllers } from "./src/operator.ts";

export const operator = defineOperator({
  name: "buildbarn-operator",
  description: "Runs Buildbarn: a Bazel remote-execution cluster from a few short resources",
  namespace: "buildbarn-system",
  image: "windlass/buildbarn:dev",
  kinds: [...kinds],
  controllers: [...controllers],
  // It asks schedulers for their queues, and frontends whether an action runs.
  egress: [ports.schedulerState, ports.frontend, ports.frontendInternal],
  alerts,
  panels,
});
