import { isDeepStrictEqual } from "node:util";
import {
  controller,
  controllerReference,
  type KubernetesObject,
  type MapContext,
  metadataOnly,
  type ObjectKey,
  type ResourceKind,
  watch,
} from "@windlass/runtime";
import { CustomResourceDefinition, Service } from "@windlass/runtime/kinds";
import { managedBySelector, metricsLabel } from "./names.ts";

/** What is read of a ServiceMonitor. */
interface Monitor extends KubernetesObject {
  readonly spec?: unknown;
}

/** The Prometheus operator's kind, which a cluster may not have. */
export const ServiceMonitor: ResourceKind<Monitor, Monitor, "Namespaced"> = {
  group: "monitoring.coreos.com",
  version: "v1",
  kind: "ServiceMonitor",
  plural: "servicemonitors",
  scope: "Namespaced",
};

const definition = `${ServiceMonitor.plural}.${ServiceMonitor.group}`;
const metricsSelector = `${managedBySelector},${metricsLabel}=true`;

/**
 * Makes a ServiceMonitor for each Service with metrics, where the cluster has that kind, as soon as
 * it has.
 */
export const monitoringController = controller(Service, {
  name: "buildbarn-monitoring",
  scope: { labelSelector: metricsSelector },
  watches: [
    watch(CustomResourceDefinition, toAll, {
      scope: { fieldSelector: `metadata.name=${definition}`, metadataOnly: true },
    }),
  ],
  follows: [ServiceMonitor],
  permissions: [{ kind: ServiceMonitor, verbs: ["create", "patch"] }],

  async reconcile(service, { cache, client, follow, key }) {
    if (service.metadata.deletionTimestamp !== undefined) return;
    if (
      !cache.list(metadataOnly(CustomResourceDefinition)).some(({ metadata }) => metadata.name === definition)
    )
      return;
    const { labels = {} } = service.metadata;
    const spec = {
      // By the Service's own labels: they are no others'.
      selector: { matchLabels: { [metricsLabel]: "true", component: labels.component, app: labels.app } },
      endpoints: [{ port: "metrics", path: "/metrics" }],
      targetLabels: ["app", "component"],
    };
    const found = await follow(ServiceMonitor, key);
    if (found && isDeepStrictEqual(found.spec, spec)) return;
    await client.apply(
      ServiceMonitor,
      {
        apiVersion: `${ServiceMonitor.group}/${ServiceMonitor.version}`,
        kind: ServiceMonitor.kind,
        metadata: { ...key, labels, ownerReferences: [controllerReference(Service, service)] },
        spec,
      },
      { force: true },
    );
  },
});

function toAll(_: KubernetesObject, { cache }: MapContext): readonly ObjectKey[] {
  return cache
    .list(Service)
    .filter(({ metadata }) => metadata.labels?.[metricsLabel] === "true")
    .map(({ metadata: { namespace, name } }) => ({ namespace, name }));
}
