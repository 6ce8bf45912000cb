import { type EndpointSliceObject, isResolverSlice, type ResolverEndpoint } from "./objects.ts";
import type { TargetPod } from "./stage.ts";

/**
 * The pods in the EndpointSlices of a private Service. A pod with two addresses is in two of them.
 */
export function podsIn(slices: readonly EndpointSliceObject[]): readonly TargetPod[] {
  const pods = new Map<string, TargetPod>();
  for (const { addresses, conditions = {}, targetRef } of slices.flatMap(
    ({ endpoints }) => endpoints ?? [],
  )) {
    const uid = targetRef?.uid ?? addresses[0] ?? "";
    const before = pods.get(uid);
    pods.set(uid, {
      uid,
      // Absent means ready, as for every reader of EndpointSlices.
      isReady: (conditions.ready ?? true) || (before?.isReady ?? false),
      isTerminating: (conditions.terminating ?? false) || (before?.isTerminating ?? false),
    });
  }
  return [...pods.values()];
}

/** Whether the Service's own EndpointSlices list what they should: ready pods, or none. */
export function haveFollowed(
  slices: readonly EndpointSliceObject[],
  service: string,
  podsInService: boolean,
): boolean {
  const own = slices.filter((slice) => !isResolverSlice(slice, service));
  const isListed = podsIn(own).some(({ isReady }) => isReady);
  return isListed === podsInService;
}

/** The replicas of the resolver, from the EndpointSlices of its own Service. */
export function resolversIn(slices: readonly EndpointSliceObject[]): readonly ResolverEndpoint[] {
  return slices.flatMap(({ addressType, endpoints }) => {
    if (addressType === "FQDN") return [];
    return (endpoints ?? []).flatMap(({ addresses, conditions = {}, nodeName, zone }) =>
      addresses.slice(0, 1).map((address) => ({
        address,
        family: addressType,
        isReady: conditions.ready ?? true,
        ...(nodeName !== undefined && { nodeName }),
        ...(zone !== undefined && { zone }),
      })),
    );
  });
}
