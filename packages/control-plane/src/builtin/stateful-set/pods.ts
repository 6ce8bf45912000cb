import type { OwnerReference } from "@windlass/kinds";
import type { PersistentVolumeClaim, Pod, PodTemplateSpec, StatefulSet } from "@windlass/kinds/builtin";
import { controllerReference } from "../../controllers/ownership.ts";
import { type NewPod, podFromTemplate } from "../../controllers/pods.ts";
import { clone } from "../../json.ts";
import { namespaceOf } from "../../json-fields.ts";
import type { StoredObject } from "../../storage/store.ts";
import type { Stored } from "../../storage/typed.ts";

/** A pod's number in its set; undefined for a name that is not one of the set's. */
export function ordinalOf(set: Stored<StatefulSet>, pod: Stored<Pod>): number | undefined {
  const prefix = `${set.metadata.name}-`;
  const { name } = pod.metadata;
  const rest = name.startsWith(prefix) ? name.slice(prefix.length) : "";
  return /^(0|[1-9]\d*)$/.test(rest) ? Number(rest) : undefined;
}

/** The pod of an ordinal: its name, its address, its volumes. */
export function statefulPod(set: Stored<StatefulSet>, ordinal: number, template: PodTemplateSpec): NewPod {
  const name = `${set.metadata.name}-${ordinal}`;
  const pod = podFromTemplate(template, set);
  const { metadata, spec } = pod;
  metadata.name = name;
  metadata.labels = {
    ...metadata.labels,
    "statefulset.kubernetes.io/pod-name": name,
    "apps.kubernetes.io/pod-index": String(ordinal),
  };
  spec.hostname = name;
  const service = set.spec.serviceName;
  if (service) spec.subdomain = service;
  const claimed = claimsOf(set, ordinal).map(({ volume, name: claim }) => ({
    name: volume,
    persistentVolumeClaim: { claimName: claim },
  }));
  const others = (spec.volumes ?? []).filter(({ name: own }) => !claimed.some((one) => one.name === own));
  if (claimed.length + others.length > 0) spec.volumes = [...claimed, ...others];
  return pod;
}

export interface StatefulClaim {
  /** The volume of the pod that it is for. */
  readonly volume: string;
  readonly name: string;
  readonly claim: object;
}

/** The claims that the pod of an ordinal needs. */
export function claimsOf(set: Stored<StatefulSet>, ordinal: number): StatefulClaim[] {
  return (set.spec.volumeClaimTemplates ?? []).map((template) => {
    const volume = template.metadata.name;
    const name = `${volume}-${set.metadata.name}-${ordinal}`;
    const labels = {
      ...template.metadata.labels,
      ...set.spec.selector.matchLabels,
    };
    const annotations = template.metadata.annotations ?? {};
    return {
      volume,
      name,
      claim: {
        metadata: {
          name,
          namespace: namespaceOf(set),
          ...(Object.keys(labels).length > 0 ? { labels } : {}),
          ...(Object.keys(annotations).length > 0 ? { annotations: { ...annotations } } : {}),
        },
        spec: clone(template.spec),
      },
    };
  });
}

/**
 * The owners that a claim should have by its set's retention policy: the set if it goes with the
 * set, the pod if the pod is being scaled away and it goes with that. A claim that another owner
 * controls stays theirs.
 *
 * @returns undefined if it has them already
 */
export function claimOwners(
  set: Stored<StatefulSet>,
  pod: Stored<Pod>,
  claim: Stored<PersistentVolumeClaim>,
  place: "kept" | "condemned",
): OwnerReference[] | undefined {
  const policy = (part: "whenDeleted" | "whenScaled") =>
    set.spec.persistentVolumeClaimRetentionPolicy?.[part] === "Delete";
  const before = claim.metadata.ownerReferences ?? [];
  const others = before.filter(({ uid }) => uid !== set.metadata.uid && uid !== pod.metadata.uid);
  const isTaken = others.some(({ controller }) => controller === true);
  const withPod = place === "condemned" && policy("whenScaled") && !isTaken;
  const withSet = policy("whenDeleted") && !withPod && !isTaken;
  const wanted = [
    ...others,
    ...(withSet ? [controllerReference(set)] : []),
    ...(withPod ? [controllerReference({ ...(pod as StoredObject), apiVersion: "v1", kind: "Pod" })] : []),
  ];
  const same =
    wanted.length === before.length &&
    wanted.every(({ uid, controller }) =>
      before.some((reference) => reference.uid === uid && reference.controller === controller),
    );
  return same ? undefined : wanted;
}
