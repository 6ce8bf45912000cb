import type { Strategy } from "../strategy.ts";

/**
 * Kinds that differ from the default in nothing but these, and are otherwise validated by their
 * schema alone.
 */
export const plainKinds: { readonly [kind: string]: Strategy } = {
  "/ComponentStatus": { names: "path", deprecation: "v1 ComponentStatus is deprecated in v1.19+" },
  "/ServiceAccount": { returnsDeleted: true },
  "flowcontrol.apiserver.k8s.io/FlowSchema": { generation: true },
  "flowcontrol.apiserver.k8s.io/PriorityLevelConfiguration": { generation: true },
  "resource.k8s.io/DeviceClass": { returnsDeleted: true },
  "resource.k8s.io/ResourceSlice": { returnsDeleted: true },
  "storage.k8s.io/CSINode": { unconditionalUpdate: false, returnsDeleted: true },
  "storage.k8s.io/CSIStorageCapacity": { unconditionalUpdate: false, returnsDeleted: true },
  "storage.k8s.io/VolumeAttributesClass": { returnsDeleted: true },
};
