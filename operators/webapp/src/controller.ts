import { byLabel, type ContextOf, controller, declaration, watch } from "@windlass/runtime";
import { Deployment, HorizontalPodAutoscaler, Ingress, Pod, Service } from "@windlass/runtime/kinds";
import { childrenFor, deploymentFor, managedBy, nameLabel } from "./children.ts";
import { observe } from "./status.ts";
import { type App, WebApp } from "./webapp.ts";

const declared = declaration(WebApp, {
  owns: [Deployment, Service, Ingress, HorizontalPodAutoscaler],
  watches: [
    // Why a pod does not start is said on the pod alone.
    watch(Pod, byLabel(nameLabel), { scope: { labelSelector: managedBy } }),
  ],
});

/**
 * Keeps a Deployment, a Service, an Ingress and an autoscaler in step with each WebApp, and says
 * how far they are.
 */
export const webapp = controller(WebApp, {
  ...declared,
  concurrency: 8,

  async reconcile(app, context) {
    if (app.status?.phase === undefined) return { ...observe(app), requeueAfter: 0 };
    const { namespace, name } = context.key;
    const deployment = await context.apply(deploymentFor(app, replicasFor(app, context)));
    const pods = () => context.cache.list(Pod, { namespace, labelSelector: `${nameLabel}=${name}` });
    return { ...observe(app, deployment, pods), children: childrenFor(app) };
  },

  /** Holds the WebApp until its pods have stopped, unless it is deleted with --cascade=orphan. */
  async finalize(app, context) {
    const deployment = context.owned(Deployment, context.key.name);
    if (deployment === undefined || app.metadata.finalizers?.includes("orphan")) return undefined;
    if (deployment.metadata.deletionTimestamp === undefined)
      await context.delete(Deployment, deployment, { propagationPolicy: "Foreground" });
    return { ...observe(app, deployment), requeueAfter: 60_000 };
  },
});

/**
 * The replicas to apply; none where an autoscaler decides, be it the app's own or one that someone
 * made for its Deployment.
 */
function replicasFor(app: App, { cache, key, owned }: ContextOf<typeof declared>) {
  const targets = cache.list(HorizontalPodAutoscaler, key).map(({ spec }) => spec?.scaleTargetRef);
  const isAutoscaled = targets.some((target) => target?.kind === "Deployment" && target.name === key.name);
  return isAutoscaled && owned(Deployment, key.name) ? undefined : app.spec.replicas;
}
