import { byLabel, type ContextOf, controller, declaration, watch } from "@windlass/runtime";
import { Deployment, HorizontalPodAutoscaler, Ingress, Pod, Service } from "@windlass/runtime/kinds";
import { childrenFor, deploymentFor, managedBy, nameLabel, scaledBy } from "./children.ts";
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
    const deployment = await context.apply(deploymentFor(app, await replicasFor(app, context)));
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
 *
 * A field that its last manager stops applying falls back to its default, here one replica. So
 * before it is left out, another manager takes hold of it, until the autoscaler writes.
 */
async function replicasFor(app: App, { cache, client, key, owned }: ContextOf<typeof declared>) {
  const live = owned(Deployment, key.name);
  const targets = cache.list(HorizontalPodAutoscaler, key).map(({ spec }) => spec?.scaleTargetRef);
  const isAutoscaled = targets.some((target) => target?.kind === "Deployment" && target.name === key.name);
  if (!isAutoscaled || !live) return app.spec.replicas;
  if (live.metadata.annotations?.[scaledBy] === "autoscaler") return undefined;
  const held = { metadata: { ...key, uid: live.metadata.uid }, spec: { replicas: live.spec.replicas } };
  await client.apply(Deployment, held, { fieldManager: "webapp-autoscaler" });
  return undefined;
}
