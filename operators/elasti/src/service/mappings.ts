import type { MapContext } from "@windlass/runtime";
import { ElastiService, type ElastiServiceObject } from "./elasti-service.ts";
import { type EndpointSliceObject, serviceNameLabel } from "./objects.ts";
import type { ResolverService } from "./sight.ts";

/** Which ElastiServices a changed EndpointSlice is about. The resolver's own are about all. */
export function ownersOf(
  { metadata }: EndpointSliceObject,
  { cache }: MapContext,
  resolver: ResolverService,
) {
  const { namespace, labels } = metadata;
  const name = labels?.[serviceNameLabel] ?? "";
  if (namespace === resolver.namespace && name === resolver.name)
    return cache.list(ElastiService).map(({ metadata: { namespace: where, name: who } }) => ({
      namespace: where,
      name: who,
    }));
  return ["service", "privateService"]
    .flatMap((index) => cache.byIndex(ElastiService, index, `${namespace}/${name}`))
    .map((elasti) => ({ namespace, name: elasti.metadata.name }));
}

/** Those that a service depends on, and those that depend on it. */
export function neighboursOf(elasti: ElastiServiceObject, { cache }: MapContext) {
  const { namespace, name } = elasti.metadata;
  const dependents = cache.byIndex(ElastiService, "dependency", `${namespace}/${name}`);
  return [...(elasti.spec.dependsOn ?? []), ...dependents.map(({ metadata }) => metadata.name)].map(
    (other) => ({
      namespace,
      name: other,
    }),
  );
}
