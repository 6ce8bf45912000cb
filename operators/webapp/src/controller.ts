import { condition, controller } from "@windlass/runtime";
import { Deployment, Service } from "@windlass/runtime/kinds";
import { deploymentFor, selectorOf, serviceFor } from "./children.ts";
import { WebApp } from "./webapp.ts";

/** Keeps a Deployment and a Service in step with each WebApp, and says in its status how far they are. */
export const webapp = controller(WebApp, {
  owns: [Deployment, Service],
  reconcile: (app, { owned }) => {
    const deployment = owned(Deployment, app.metadata.name);
    const available = deployment?.status?.availableReplicas ?? 0;
    const ready = deployment !== undefined && available >= app.spec.replicas;
    return {
      children: [deploymentFor(app), serviceFor(app)],
      status: {
        replicas: deployment?.status?.replicas ?? 0,
        availableReplicas: available,
        selector: Object.entries(selectorOf(app))
          .map(([key, value]) => `${key}=${value}`)
          .join(","),
        conditions: [
          condition(
            "Ready",
            ready,
            ready ? "ReplicasAvailable" : "ReplicasUnavailable",
            `${available} of ${app.spec.replicas} replicas are available`,
          ),
        ],
      },
    };
  },
});
