import type { EventText } from "../controllers/events.ts";
import { listAt, namespaceOf } from "../controllers/objects.ts";
import { type JsonObject, textOf } from "../json.ts";
import { field, type Store, type StoredObject } from "../storage/store.ts";

/** The certificate bundle of the namespace comes with the namespace; a pod does not wait for it. */
const bundle = "kube-root-ca.crt";

/**
 * Why a pod's volumes cannot be mounted: a ConfigMap or Secret that is not there. Undefined if they
 * can.
 */
export function mountError(store: Store, pod: StoredObject): EventText | undefined {
  for (const volume of listAt(pod, "spec", "volumes")) {
    const parts = [volume, ...listAt(volume, "projected", "sources")];
    for (const part of parts) {
      const what = missingPart(store, pod, part);
      if (what === undefined) continue;
      return {
        type: "Warning",
        reason: "FailedMount",
        message: `MountVolume.SetUp failed for volume "${textOf(volume.name)}" : ${what}`,
      };
    }
  }
  return undefined;
}

function missingPart(store: Store, pod: StoredObject, part: JsonObject): string | undefined {
  const map = part.configMap as JsonObject | undefined;
  const secret = part.secret as JsonObject | undefined;
  if (map && map.optional !== true && map.name !== bundle && !has(store, pod, "configmaps", map.name)) {
    return `configmap "${textOf(map.name)}" not found`;
  }
  const name = secret?.secretName ?? secret?.name;
  if (secret && secret.optional !== true && !has(store, pod, "secrets", name))
    return `secret "${textOf(name)}" not found`;
  return undefined;
}

/**
 * Why a container cannot be made: its environment names something that is not there. Undefined if
 * it can.
 */
export function configError(store: Store, pod: StoredObject, container: JsonObject): string | undefined {
  for (const source of listAt(container, "envFrom")) {
    const fault =
      missingSource(store, pod, "configmaps", "configmap", source.configMapRef) ??
      missingSource(store, pod, "secrets", "secret", source.secretRef);
    if (fault !== undefined) return fault;
  }
  for (const variable of listAt(container, "env")) {
    const fault =
      missingKey(store, pod, "configmaps", "ConfigMap", field(variable, "valueFrom", "configMapKeyRef")) ??
      missingKey(store, pod, "secrets", "Secret", field(variable, "valueFrom", "secretKeyRef"));
    if (fault !== undefined) return fault;
  }
  return undefined;
}

function missingSource(
  store: Store,
  pod: StoredObject,
  bucket: string,
  word: string,
  reference: unknown,
): string | undefined {
  const wanted = reference as JsonObject | undefined;
  if (!wanted || wanted.optional === true || has(store, pod, bucket, wanted.name)) return undefined;
  return `${word} "${textOf(wanted.name)}" not found`;
}

function missingKey(
  store: Store,
  pod: StoredObject,
  bucket: string,
  kind: string,
  reference: unknown,
): string | undefined {
  const missing = missingSource(store, pod, bucket, kind.toLowerCase(), reference);
  const wanted = reference as JsonObject | undefined;
  if (missing !== undefined || !wanted || wanted.optional === true) return missing;
  const namespace = namespaceOf(pod);
  const object = store.get(bucket, `${namespace}/${textOf(wanted.name)}`)?.object;
  const key = textOf(wanted.key);
  const found = field(object, "data", key) ?? field(object, "binaryData", key);
  return found === undefined
    ? `couldn't find key ${key} in ${kind} ${namespace}/${textOf(wanted.name)}`
    : undefined;
}

function has(store: Store, pod: StoredObject, bucket: string, name: unknown): boolean {
  return store.get(bucket, `${namespaceOf(pod)}/${textOf(name as string)}`) !== undefined;
}
