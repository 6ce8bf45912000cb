import type { Pod, Service } from "@windlass/kinds/builtin";
import { type ControllerDependencies, ownKey, type Running, startLoop } from "../../controllers/loop.ts";
import {
  builtin,
  controllerContext,
  createObject,
  deleteIfPresent,
  edit,
  isDeleting,
  podBucket,
  serviceBucket,
  stored,
} from "../../controllers/objects.ts";
import {
  controlledBy,
  controllerKey,
  controllerReference,
  selected,
  selectorKeys,
} from "../../controllers/ownership.ts";
import { isFinished, isReady } from "../../controllers/pods.ts";
import { equal, type Json, type JsonObject, textOf } from "../../json.ts";
import { namespaceOf, objectAt, objectsAt, valueAt } from "../../json-fields.ts";
import type { Registry } from "../../registry/registry.ts";
import type { StoredObject } from "../../storage/store.ts";
import type { Stored } from "../../storage/typed.ts";
import { inEndpointsOrder, inSliceOrder } from "./ports.ts";
import { EndpointTriggers } from "./triggers.ts";

/** The annotation with the time of the change that led to a write. */
export const triggerKey = "endpoints.kubernetes.io/last-change-trigger-time";
const headlessLabel = "service.kubernetes.io/headless";
/** The label that says who keeps a slice. */
export const managedBy = "endpointslice.kubernetes.io/managed-by";
/** The label that names a slice's service. */
export const serviceLabel = "kubernetes.io/service-name";
const manager = "endpointslice-controller.k8s.io";
/** So many addresses fit in a slice. */
const sliceSize = 100;

/** A pod that a service may send traffic to, and where. */
interface Backend {
  readonly pod: Stored<Pod>;
  readonly ports: readonly JsonObject[];
}

function backendsOf(registry: Registry, service: Stored<Service>): Backend[] {
  return selected(registry, podBucket, service)
    .filter((pod) => !isFinished(pod) && addressesOf(pod).length > 0)
    .map((pod) => ({ pod, ports: portsOf(service, pod) }));
}

function addressesOf(pod: Stored<Pod>): string[] {
  return (pod.status?.podIPs ?? []).map(({ ip }) => ip);
}

/** A service's ports as this pod has them: named ones differ from pod to pod. */
function portsOf(service: Stored<Service>, pod: Stored<Pod>): JsonObject[] {
  return (service.spec.ports ?? []).flatMap((port) => {
    const protocol = port.protocol ?? "TCP";
    const target = port.targetPort ?? port.port;
    const number =
      typeof target === "number" && target !== 0
        ? target
        : target === 0
          ? port.port
          : pod.spec.containers
              .flatMap(({ ports = [] }) => ports)
              .find(({ name, protocol: own }) => name === target && (own ?? "TCP") === protocol)
              ?.containerPort;
    if (typeof number !== "number") return [];
    const appProtocol = port.appProtocol;
    return [
      {
        name: port.name ?? "",
        protocol,
        port: number,
        ...(appProtocol === undefined ? {} : { appProtocol }),
      },
    ];
  });
}

function isServed(service: Stored<Service> | undefined): service is Stored<Service> {
  return (
    service !== undefined &&
    !isDeleting(service) &&
    service.spec.type !== "ExternalName" &&
    Object.keys(service.spec.selector ?? {}).length > 0
  );
}

function labelsFor(service: Stored<Service>): JsonObject {
  const { [headlessLabel]: _headless, ...labels } = service.metadata.labels ?? {};
  return { ...labels, ...(service.spec.clusterIP === "None" ? { [headlessLabel]: "" } : {}) };
}

/**
 * Annotations with the time of the change that led to a write, or without any where none is known.
 */
function withTrigger(
  annotations: JsonObject | undefined,
  trigger: string | undefined,
): JsonObject | undefined {
  const { [triggerKey]: _before, ...others } = annotations ?? {};
  const next = { ...others, ...(trigger === undefined ? {} : { [triggerKey]: trigger }) };
  return Object.keys(next).length > 0 ? next : undefined;
}

function annotate(metadata: JsonObject, trigger: string | undefined): void {
  const next = withTrigger(objectAt(metadata, "annotations"), trigger);
  if (next) metadata.annotations = next;
  else delete metadata.annotations;
}

/** Keeps EndpointSlices with the addresses of a service's pods. */
export function startEndpointSlices(deps: ControllerDependencies): Running {
  const { registry } = deps;
  const context = controllerContext("endpointslice-controller");
  const slices = builtin(registry, "discovery.k8s.io", "v1", "endpointslices");
  const triggers = new EndpointTriggers();

  return startLoop(deps, {
    name: "endpointslice-controller",
    watches: {
      services: ownKey,
      pods: selectorKeys(registry, serviceBucket),
      [slices.bucket]: controllerKey("", "Service"),
    },
    reconcile: async (key) => {
      const service = stored(registry, serviceBucket, key);
      if (!service) triggers.forget(key);
      if (!isServed(service)) return undefined;
      const existing = controlledBy(registry, slices, service.metadata.uid).filter(
        (slice) => valueAt(slice, "metadata", "labels", managedBy) === manager,
      );
      const backends = backendsOf(registry, service);
      const trigger = triggers.next(key, service, selected(registry, podBucket, service));
      const wanted = slicesFor(registry, service, backends);
      const labels = { ...labelsFor(service), [managedBy]: manager, [serviceLabel]: service.metadata.name };
      for (const [index, content] of wanted.entries()) {
        const known = existing[index];
        if (known) {
          if (same(known, content) && equal(known.metadata.labels, labels)) continue;
          await edit(registry, slices, known, context, (next) => {
            Object.assign(next, content);
            const { metadata } = next;
            metadata.labels = labels;
            annotate(metadata, trigger);
          });
        } else {
          await createObject(
            registry,
            slices,
            namespaceOf(service),
            {
              metadata: {
                generateName: `${service.metadata.name}-`,
                labels,
                ...(trigger === undefined ? {} : { annotations: { [triggerKey]: trigger } }),
                ownerReferences: [controllerReference(service)],
              },
              ...content,
            },
            context,
          );
        }
      }
      for (const surplus of existing.slice(wanted.length))
        await deleteIfPresent(registry, slices, surplus, context);
      return undefined;
    },
  });
}

/** Whether a slice holds this already. */
export function same(slice: StoredObject, content: JsonObject): boolean {
  return Object.entries(content).every(([name, value]) => equal(slice[name] ?? null, value));
}

/**
 * What the slices of a service hold: one for each set of ports, cut where they grow too long; never
 * none.
 */
function slicesFor(registry: Registry, service: Stored<Service>, backends: readonly Backend[]): JsonObject[] {
  const families = (service.spec.ipFamilies ?? ["IPv4"]) as string[];
  const slices: JsonObject[] = [];
  for (const addressType of families) {
    const groups = new Map<string, { ports: readonly JsonObject[]; endpoints: JsonObject[] }>();
    for (const { pod, ports } of backends) {
      const addresses = addressesOf(pod).filter((ip) => ip.includes(":") === (addressType === "IPv6"));
      if (addresses.length === 0) continue;
      const name = JSON.stringify(ports);
      const group = groups.get(name) ?? { ports, endpoints: [] };
      groups.set(name, group);
      group.endpoints.push(endpointOf(registry, service, pod, addresses));
    }
    if (groups.size === 0) slices.push({ addressType, endpoints: null, ports: null });
    for (const { ports, endpoints } of groups.values()) {
      for (let from = 0; from < endpoints.length; from += sliceSize) {
        slices.push({
          addressType,
          endpoints: endpoints.slice(from, from + sliceSize),
          ports: ports.length > 0 ? inSliceOrder(ports) : null,
        });
      }
    }
  }
  return slices;
}

function endpointOf(
  registry: Registry,
  service: Stored<Service>,
  pod: Stored<Pod>,
  addresses: string[],
): JsonObject {
  const serving = isReady(pod);
  const terminating = isDeleting(pod);
  const anyway = service.spec.publishNotReadyAddresses === true;
  const nodeName = pod.spec.nodeName;
  const zone = valueAt(
    registry.store.get("nodes", textOf(nodeName))?.object,
    "metadata",
    "labels",
    "topology.kubernetes.io/zone",
  );
  return {
    addresses,
    conditions: { ready: anyway || (serving && !terminating), serving, terminating },
    ...hostnameOf(service, pod),
    targetRef: targetOf(pod),
    ...(nodeName === undefined ? {} : { nodeName }),
    ...(zone === undefined ? {} : { zone }),
  };
}

function targetOf(pod: Stored<Pod>): JsonObject {
  return { kind: "Pod", namespace: namespaceOf(pod), name: pod.metadata.name, uid: pod.metadata.uid };
}

function hostnameOf(service: Stored<Service>, pod: Stored<Pod>): JsonObject {
  const hostname = pod.spec.hostname;
  return hostname && pod.spec.subdomain === service.metadata.name ? { hostname } : {};
}

/** Keeps the Endpoints object of a service with a selector, for those who still read it. */
export function startEndpoints(deps: ControllerDependencies): Running {
  const { registry } = deps;
  const context = controllerContext("endpoint-controller");
  const resource = builtin(registry, "", "v1", "endpoints");
  const triggers = new EndpointTriggers();
  /** Services that were deleted. Their Endpoints are deleted too, no matter who wrote them. */
  const gone = new Set<string>();

  return startLoop(deps, {
    name: "endpoints-controller",
    watches: {
      services: ({ key, type }) => {
        if (type === "DELETED") gone.add(key);
        else gone.delete(key);
        return [key];
      },
      pods: selectorKeys(registry, serviceBucket),
      [resource.bucket]: ownKey,
    },
    reconcile: async (key) => {
      const service = stored(registry, serviceBucket, key);
      const known = registry.store.get(resource.bucket, key)?.object;
      if (!service) {
        triggers.forget(key);
        const goes = gone.delete(key) || (known && isManaged(known));
        if (known && goes) await deleteIfPresent(registry, resource, known, context);
        return undefined;
      }
      if (!isServed(service)) return undefined;
      const backends = backendsOf(registry, service);
      const subsets = subsetsOf(service, backends);
      const labels = { ...labelsFor(service), "endpoints.kubernetes.io/managed-by": "endpoint-controller" };
      const trigger = triggers.next(key, service, selected(registry, podBucket, service));
      if (!known) {
        const annotations = withTrigger(undefined, trigger);
        const metadata = { name: service.metadata.name, labels, ...(annotations ? { annotations } : {}) };
        const object = { metadata, ...(subsets.length > 0 ? { subsets } : {}) };
        await createObject(registry, resource, namespaceOf(service), object, context);
      } else if (!equal(objectsAt(known, "subsets"), subsets) || !equal(known.metadata.labels, labels)) {
        await edit(registry, resource, known, context, (next) => {
          const { metadata } = next;
          metadata.labels = labels;
          annotate(metadata, trigger);
          if (subsets.length > 0) next.subsets = subsets;
          else delete next.subsets;
        });
      }
      return undefined;
    },
  });
}

function isManaged(endpoints: StoredObject): boolean {
  return (
    valueAt(endpoints, "metadata", "labels", "endpoints.kubernetes.io/managed-by") === "endpoint-controller"
  );
}

function subsetsOf(service: Stored<Service>, backends: readonly Backend[]): JsonObject[] {
  const anyway = service.spec.publishNotReadyAddresses === true;
  const groups = new Map<
    string,
    { ports: readonly JsonObject[]; ready: JsonObject[]; unready: JsonObject[] }
  >();
  const wantsPorts = (service.spec.ports ?? []).length > 0;
  for (const { pod, ports } of backends) {
    if ((isDeleting(pod) && !anyway) || (wantsPorts && ports.length === 0)) continue;
    const [ip] = addressesOf(pod);
    const nodeName = pod.spec.nodeName;
    const address: JsonObject = {
      ip: ip as string,
      ...hostnameOf(service, pod),
      ...(nodeName === undefined ? {} : { nodeName }),
      targetRef: targetOf(pod),
    };
    const name = JSON.stringify(ports);
    const group = groups.get(name) ?? { ports, ready: [], unready: [] };
    groups.set(name, group);
    (isReady(pod) || anyway ? group.ready : group.unready).push(address);
  }
  const byAddress = (a: JsonObject, b: JsonObject) => (textOf(a.ip) < textOf(b.ip) ? -1 : 1);
  return [...groups.values()].map(({ ports, ready, unready }) => ({
    ...(ready.length > 0 ? { addresses: ready.sort(byAddress) } : {}),
    ...(unready.length > 0 ? { notReadyAddresses: unready.sort(byAddress) } : {}),
    ...(ports.length > 0
      ? {
          ports: inEndpointsOrder(ports).map(
            ({ name, ...port }): JsonObject => (name === "" ? port : { name: name as Json, ...port }),
          ),
        }
      : {}),
  }));
}
