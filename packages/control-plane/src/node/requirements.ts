import type { Container, Pod, Volume, VolumeProjection } from "@windlass/kinds/builtin";
import type { EventText } from "../controllers/events.ts";
import { namespaceOf, valueAt } from "../json-fields.ts";
import type { Store } from "../storage/store.ts";
import type { Stored } from "../storage/typed.ts";

/** The certificate bundle of the namespace comes with the namespace; a pod does not wait for it. */
const bundle = "kube-root-ca.crt";

/**
 * Why a pod's volumes cannot be mounted: a ConfigMap or Secret that is not there. Undefined if they
 * can.
 */
export function mountError(store: Store, pod: Stored<Pod>): EventText | undefined {
  for (const volume of pod.spec.volumes ?? []) {
    const parts = [volume, ...(volume.projected?.sources ?? [])];
    for (const part of parts) {
      const what = missingPart(store, pod, part);
      if (what === undefined) continue;
      return {
        type: "Warning",
        reason: "FailedMount",
        message: `MountVolume.SetUp failed for volume "${volume.name}" : ${what}`,
      };
    }
  }
  return undefined;
}

function missingPart(store: Store, pod: Stored<Pod>, part: Volume | VolumeProjection): string | undefined {
  const { configMap: map, secret } = part;
  if (map && map.optional !== true && map.name !== bundle && !has(store, pod, "configmaps", map.name)) {
    return `configmap "${map.name ?? ""}" not found`;
  }
  if (!secret || secret.optional === true) return undefined;
  const name = "secretName" in secret ? secret.secretName : "name" in secret ? secret.name : undefined;
  return has(store, pod, "secrets", name) ? undefined : `secret "${name ?? ""}" not found`;
}

/**
 * Why a container cannot be made: its environment names something that is not there. Undefined if
 * it can.
 */
export function configError(store: Store, pod: Stored<Pod>, container: Container): string | undefined {
  for (const source of container.envFrom ?? []) {
    const fault =
      missingSource(store, pod, "configmaps", "configmap", source.configMapRef) ??
      missingSource(store, pod, "secrets", "secret", source.secretRef);
    if (fault !== undefined) return fault;
  }
  for (const variable of container.env ?? []) {
    const fault =
      missingKey(store, pod, "configmaps", "ConfigMap", variable.valueFrom?.configMapKeyRef) ??
      missingKey(store, pod, "secrets", "Secret", variable.valueFrom?.secretKeyRef);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

/** A ConfigMap or Secret that is named, which may be allowed to be missing. */
interface Reference {
  readonly name?: string;
  readonly optional?: boolean;
}

function missingSource(
  store: Store,
  pod: Stored<Pod>,
  bucket: string,
  word: string,
  wanted: Reference | undefined,
): string | undefined {
  if (!wanted || wanted.optional === true || has(store, pod, bucket, wanted.name)) return undefined;
  return `${word} "${wanted.name ?? ""}" not found`;
}

function missingKey(
  store: Store,
  pod: Stored<Pod>,
  bucket: string,
  kind: string,
  wanted: (Reference & { readonly key: string }) | undefined,
): string | undefined {
  const missing = missingSource(store, pod, bucket, kind.toLowerCase(), wanted);
  if (missing !== undefined || !wanted || wanted.optional === true) return missing;
  const namespace = namespaceOf(pod);
  const { name = "", key } = wanted;
  const object = store.get(bucket, `${namespace}/${name}`)?.object;
  const found = valueAt(object, "data", key) ?? valueAt(object, "binaryData", key);
  return found === undefined ? `couldn't find key ${key} in ${kind} ${namespace}/${name}` : undefined;
}

function has(store: Store, pod: Stored<Pod>, bucket: string, name: string | undefined): boolean {
  return store.get(bucket, `${namespaceOf(pod)}/${name ?? ""}`) !== undefined;
}
