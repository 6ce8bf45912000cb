import { child, type ObjectOf } from "@windlass/runtime";
import { EndpointSlice, Service } from "@windlass/runtime/kinds";
import type { ElastiServiceObject } from "./elasti-service.ts";
import { divertingLabel, privateServiceName, resolverSliceName, serviceLabel } from "./names.ts";

/** A Service as the server has it. */
export type ServiceObject = ObjectOf<typeof Service>;
/** An EndpointSlice as the server has it. */
export type EndpointSliceObject = ObjectOf<typeof EndpointSlice>;

/** The label with the Service that an EndpointSlice belongs to. */
export const serviceNameLabel = "kubernetes.io/service-name";
const managedByLabel = "endpointslice.kubernetes.io/managed-by";
const manager = "elasti-operator.windlass.dev";

/** A port of a Service, with the one that the resolver listens on for it. */
export interface PortPair {
  readonly name: string;
  readonly port: number;
  readonly listenPort: number;
  /** Set if the Service declares that HTTP is spoken, in any version. */
  readonly protocol?: "http" | undefined;
}

/** A replica of the resolver. */
export interface ResolverEndpoint {
  readonly address: string;
  readonly family: "IPv4" | "IPv6";
  readonly isReady: boolean;
  readonly nodeName?: string;
  readonly zone?: string;
}

/** What a Service selects, be the pods in it at the moment or not. */
export function selectorOf({ spec }: ServiceObject): Readonly<Record<string, string>> {
  const { [divertingLabel]: _diverted, ...selector } = spec?.selector ?? {};
  return selector;
}

/** Whether the pods are out of the Service. */
export function isDiverted({ spec }: ServiceObject): boolean {
  return spec?.selector?.[divertingLabel] !== undefined;
}

/**
 * The headless Service whose EndpointSlices list the target's pods, in and out of the public
 * Service. It has the name that the original gives its private Service, but no address, rules or
 * load balancer.
 */
export function privateServiceFor(elasti: ElastiServiceObject, service: ServiceObject) {
  const { ports = [], ipFamilies, ipFamilyPolicy, publishNotReadyAddresses } = service.spec ?? {};
  return child(
    Service,
    {
      metadata: {
        name: privateServiceName(elasti.spec.service),
        labels: { [serviceLabel]: elasti.metadata.name },
      },
      spec: {
        type: "ClusterIP",
        clusterIP: "None",
        selector: selectorOf(service),
        ports: ports
          .filter(({ protocol = "TCP" }) => protocol === "TCP")
          .map(({ name, port, targetPort, appProtocol }) => ({
            ...(name !== undefined && { name }),
            port,
            ...(targetPort !== undefined && { targetPort }),
            ...(appProtocol !== undefined && { appProtocol }),
            protocol: "TCP" as const,
          })),
        ...(ipFamilies && { ipFamilies }),
        ...(ipFamilyPolicy && { ipFamilyPolicy }),
        ...(publishNotReadyAddresses && { publishNotReadyAddresses }),
      },
    },
    { adopt: true, onImmutable: "replace" },
  );
}

/**
 * The replicas of the resolver that get connections: those that are ready. If none is, a Service
 * without pods leads to those that there are: a replica that is too busy to say that it is ready,
 * or about to end, still takes the connections sent to it. With no endpoint at all, every
 * connection is refused for certain.
 */
export function endpointsAmong(
  resolvers: readonly ResolverEndpoint[],
  isAlone: boolean,
): readonly ResolverEndpoint[] {
  const ready = resolvers.filter(({ isReady }) => isReady);
  return ready.length > 0 || !isAlone ? ready : resolvers;
}

/**
 * The EndpointSlices that lead the public Service to the resolver, one for each family that the
 * Service has.
 */
export function resolverSlicesFor(
  elasti: ElastiServiceObject,
  service: ServiceObject,
  ports: readonly PortPair[],
  resolvers: readonly ResolverEndpoint[],
) {
  const families = service.spec?.ipFamilies ?? ["IPv4"];
  return (["IPv4", "IPv6"] as const)
    .filter((family) => families.includes(family))
    .map((family) => {
      const appProtocols = new Map((service.spec?.ports ?? []).map((one) => [one.port, one.appProtocol]));
      return child(
        EndpointSlice,
        {
          metadata: {
            name: sliceName(elasti.spec.service, family),
            labels: {
              [serviceNameLabel]: elasti.spec.service,
              [managedByLabel]: manager,
              [serviceLabel]: elasti.metadata.name,
            },
          },
          addressType: family,
          ports: ports.map(({ name, port, listenPort }) => ({
            name,
            port: listenPort,
            protocol: "TCP" as const,
            ...(appProtocols.get(port) !== undefined && { appProtocol: appProtocols.get(port) as string }),
          })),
          endpoints: resolvers
            .filter((one) => one.family === family)
            .map(({ address, nodeName, zone }) => ({
              addresses: [address],
              // Some ingress controllers ignore endpoints that do not say so.
              conditions: { ready: true, serving: true, terminating: false },
              ...(nodeName !== undefined && { nodeName }),
              ...(zone !== undefined && { zone }),
            })),
        },
        { adopt: true, onImmutable: "replace" },
      );
    });
}

/** Whether an EndpointSlice leads to the resolver, be it ours or the original's. */
export function isResolverSlice(slice: EndpointSliceObject, service: string): boolean {
  return isMadeForResolver(slice) || slice.metadata.name === resolverSliceName(service);
}

/** Whether an EndpointSlice is one of ours that leads to the resolver. */
export function isMadeForResolver({ metadata }: EndpointSliceObject): boolean {
  return metadata.labels?.[managedByLabel] === manager;
}

function sliceName(service: string, family: "IPv4" | "IPv6"): string {
  return family === "IPv4" ? resolverSliceName(service) : `${resolverSliceName(service)}-ipv6`;
}
