import type { JsonObject } from "../../json.ts";
import type { Strategy } from "../strategy.ts";
import { ensure, fill } from "./fill.ts";
import { podSpecDefaults } from "./pod-defaults.ts";

/** The pod template of a workload, filled in. */
export function templateDefaults(spec: JsonObject): void {
  podSpecDefaults(ensure(ensure(spec, "template"), "spec"));
}

export const deployment: Strategy = {
  setDefaults: (object) => {
    const spec = ensure(object, "spec");
    fill(spec, { replicas: 1, revisionHistoryLimit: 10, progressDeadlineSeconds: 600 });
    const strategy = ensure(spec, "strategy");
    fill(strategy, { type: "RollingUpdate" });
    if (strategy.type === "RollingUpdate")
      fill(ensure(strategy, "rollingUpdate"), { maxUnavailable: "25%", maxSurge: "25%" });
    templateDefaults(spec);
  },
  prepareCreate: (object) => {
    object.status = {};
  },
};

export const replicaSet: Strategy = {
  setDefaults: (object) => {
    const spec = ensure(object, "spec");
    fill(spec, { replicas: 1 });
    templateDefaults(spec);
  },
  prepareCreate: (object) => {
    object.status = { replicas: 0 };
  },
};
