import { child, condition, controller } from "@windlass/runtime";
import { Deployment, Service } from "@windlass/runtime/kinds";
import { Gadget } from "./kind.ts";

/**
 * Called with the state of things whenever something changed. It returns the children that should
 * exist and the status it observed; the runtime applies what differs, and deletes children that are
 * no longer wanted.
 */
export const gadgetController = controller(Gadget, {
  owns: [Deployment, Service],
  reconcile: ({ metadata: { name }, spec: { image, replicas } }, { owned }) => {
    const available = owned(Deployment, name)?.status?.availableReplicas ?? 0;
    const labels = { "app.kubernetes.io/name": "gadget", "app.kubernetes.io/instance": name };
    return {
      children: [
        child(Deployment, {
          metadata: { name, labels },
          spec: {
            replicas,
            selector: { matchLabels: labels },
            template: { metadata: { labels }, spec: { containers: [{ name: "app", image }] } },
          },
        }),
        child(Service, { metadata: { name, labels }, spec: { selector: labels, ports: [{ port: 80 }] } }),
      ],
      status: {
        availableReplicas: available,
        conditions: [
          condition(
            "Ready",
            available === replicas,
            "ReplicasAvailable",
            `${available} of ${replicas} available`,
          ),
        ],
      },
    };
  },
});
