import { type ControllerDependencies, ownKey, type Running, startLoop } from "../../controllers/loop.ts";
import {
  builtin,
  controllerContext,
  createObject,
  deleteIfPresent,
  edit,
} from "../../controllers/objects.ts";
import { controlledBy, controllerKey, controllerReference } from "../../controllers/ownership.ts";
import { equal, type JsonObject, textOf } from "../../json.ts";
import { namespaceOf, objectAt, objectsAt, valueAt } from "../../json-fields.ts";
import { managedBy, same, serviceLabel, triggerKey } from "./controller.ts";
import { inSliceOrder } from "./ports.ts";

const mirrorer = "endpointslicemirroring-controller.k8s.io";

/** Annotations that are about the Endpoints alone. */
const unshared = new Set([triggerKey, "kubectl.kubernetes.io/last-applied-configuration"]);

/** Mirrors Endpoints that a user wrote by hand, for a service without selector, into slices. */
export function startEndpointSliceMirroring(deps: ControllerDependencies): Running {
  const { registry } = deps;
  const context = controllerContext("endpointslicemirroring-controller");
  const slices = builtin(registry, "discovery.k8s.io", "v1", "endpointslices");
  const resource = builtin(registry, "", "v1", "endpoints");

  return startLoop(deps, {
    name: "endpointslice-mirroring-controller",
    watches: { services: ownKey, [resource.bucket]: ownKey, [slices.bucket]: controllerKey("", "Endpoints") },
    reconcile: async (key) => {
      const service = registry.store.get("services", key)?.object;
      const endpoints = registry.store.get(resource.bucket, key)?.object;
      if (!endpoints) return undefined;
      const existing = controlledBy(registry, slices, endpoints.metadata.uid);
      const mirrored =
        service !== undefined &&
        Object.keys(objectAt(service, "spec", "selector")).length === 0 &&
        valueAt(endpoints, "metadata", "labels", "endpointslice.kubernetes.io/skip-mirror") !== "true" &&
        valueAt(endpoints, "metadata", "annotations", "control-plane.alpha.kubernetes.io/leader") ===
          undefined;
      const wanted = mirrored ? objectsAt(endpoints, "subsets").map(mirrorOf) : [];
      const labels: { [key: string]: string } = {
        ...endpoints.metadata.labels,
        [managedBy]: mirrorer,
        [serviceLabel]: endpoints.metadata.name,
      };
      const annotations = Object.fromEntries(
        Object.entries(endpoints.metadata.annotations ?? {}).filter(([name]) => !unshared.has(name)),
      );
      for (const [index, content] of wanted.entries()) {
        const known = existing[index];
        if (!known) {
          const metadata = {
            generateName: `${endpoints.metadata.name}-`,
            labels,
            ...(Object.keys(annotations).length > 0 ? { annotations } : {}),
            ownerReferences: [controllerReference(endpoints)],
          };
          await createObject(registry, slices, namespaceOf(endpoints), { metadata, ...content }, context);
        } else if (
          !same(known, content) ||
          !equal(known.metadata.labels, labels) ||
          !equal(known.metadata.annotations ?? {}, annotations)
        ) {
          await edit(registry, slices, known, context, (next) => {
            Object.assign(next, content);
            const { metadata } = next;
            metadata.labels = labels;
            if (Object.keys(annotations).length > 0) metadata.annotations = annotations;
            else delete metadata.annotations;
          });
        }
      }
      for (const surplus of existing.slice(wanted.length))
        await deleteIfPresent(registry, slices, surplus, context);
      return undefined;
    },
  });
}

function mirrorOf(subset: JsonObject): JsonObject {
  const endpoint =
    (ready: boolean) =>
    (address: JsonObject): JsonObject => ({
      addresses: [textOf(address.ip)],
      conditions: { ready },
      ...(address.hostname === undefined ? {} : { hostname: address.hostname }),
      ...(address.targetRef === undefined ? {} : { targetRef: address.targetRef }),
      ...(address.nodeName === undefined ? {} : { nodeName: address.nodeName }),
    });
  const all = [...objectsAt(subset, "addresses"), ...objectsAt(subset, "notReadyAddresses")];
  return {
    addressType: textOf(all[0]?.ip).includes(":") ? "IPv6" : "IPv4",
    endpoints: [
      ...objectsAt(subset, "addresses").map(endpoint(true)),
      ...objectsAt(subset, "notReadyAddresses").map(endpoint(false)),
    ],
    ports: inSliceOrder(objectsAt(subset, "ports").map((port) => ({ name: "", ...port }))),
  };
}
