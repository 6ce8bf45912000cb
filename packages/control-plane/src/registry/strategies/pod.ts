import { field } from "../../storage/store.ts";
import type { Strategy } from "../strategy.ts";

/** Pods alone die slowly: whoever runs them is given time to stop them. */
export const pod: Strategy = {
  gracePeriod: (object) => {
    const phase = field(object, "status", "phase");
    if (!field(object, "spec", "nodeName") || phase === "Succeeded" || phase === "Failed") return 0;
    const seconds = Number(field(object, "spec", "terminationGracePeriodSeconds") ?? 30);
    return seconds < 0 ? 1 : seconds;
  },
};
