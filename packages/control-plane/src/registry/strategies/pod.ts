import { field } from "../../storage/store.ts";
import type { Strategy } from "../strategy.ts";
import { ensure, fill } from "./fill.ts";
import { podSpecDefaults } from "./pod-defaults.ts";

/** Pods alone die slowly: whoever runs them is given time to stop them. */
export const pod: Strategy = {
  setDefaults: (object) => {
    const spec = ensure(object, "spec");
    fill(spec, { enableServiceLinks: true });
    podSpecDefaults(spec);
  },
  prepareCreate: (object) => {
    object.status = { phase: "Pending", qosClass: "BestEffort" };
    fill(ensure(object, "spec"), { priority: 0, preemptionPolicy: "PreemptLowerPriority" });
  },
  gracePeriod: (object) => {
    const phase = field(object, "status", "phase");
    if (!field(object, "spec", "nodeName") || phase === "Succeeded" || phase === "Failed") return 0;
    const seconds = Number(field(object, "spec", "terminationGracePeriodSeconds") ?? 30);
    return seconds < 0 ? 1 : seconds;
  },
};
