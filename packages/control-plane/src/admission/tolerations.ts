import { itemsAt, textAt } from "../json-fields.ts";
import type { Admission } from "../registry/admission.ts";
import { ensure } from "../validation/fill.ts";
import { creationOf } from "./plugin.ts";

const seconds = 300;
const keys = ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"];

/** Pods tolerate an unhealthy node for five minutes by default. */
export function defaultTolerationSeconds(): Admission {
  return {
    name: "DefaultTolerationSeconds",
    mutate: (request) => {
      const { operation, subresource, resource, object: pod } = request;
      const isPod =
        resource.info.group === "" && resource.info.plural === "pods" && subresource === undefined;
      if (!isPod || !pod || (operation !== "CREATE" && operation !== "UPDATE")) return;
      const spec = ensure(pod, "spec");
      const given = itemsAt(spec, "tolerations");
      const missing = keys.filter(
        (key) =>
          !given.some(
            (toleration) =>
              ["", key].includes(textAt(toleration, "key")) &&
              ["", "NoExecute"].includes(textAt(toleration, "effect")),
          ),
      );
      if (missing.length === 0) return;
      spec.tolerations = [
        ...given,
        ...missing.map((key) => ({
          key,
          operator: "Exists",
          effect: "NoExecute",
          tolerationSeconds: seconds,
        })),
      ];
    },
  };
}

const notReady = { key: "node.kubernetes.io/not-ready", effect: "NoSchedule" };

/** New nodes are tainted as not ready. */
export function taintNewNodes(): Admission {
  return {
    name: "TaintNodesByCondition",
    mutate: (request) => {
      const node = creationOf(request, "", "nodes");
      if (!node) return;
      const spec = ensure(node, "spec");
      const taints = itemsAt(spec, "taints");
      const there = taints.some(
        (taint) => textAt(taint, "key") === notReady.key && textAt(taint, "effect") === notReady.effect,
      );
      if (!there) spec.taints = [...taints, { ...notReady }];
    },
  };
}
