import type { ReconcileContext } from "@windlass/runtime";
import { ConfigMap } from "@windlass/runtime/kinds";
import type { InternalTls } from "../configuration/index.ts";
import type { Storage } from "../storage/storage.ts";
import type { BuildbarnSet } from "./buildbarn-set.ts";
import { SetFault } from "./fault.ts";

/** The key of the authorities in the ConfigMap that has them. */
export const authoritiesKey = "ca.crt";

/** How the components of a set use TLS among themselves. */
export interface SetTls extends InternalTls {
  /** The Secret with what they show. Pods mount it; the operator never reads it. */
  readonly secretName: string;
}

/** The set with the authorities that its components trust, if they use TLS. */
export async function withAuthorities(
  set: BuildbarnSet,
  { follow }: Pick<ReconcileContext, "follow">,
): Promise<BuildbarnSet> {
  const [storage] = set.storages;
  return { ...set, authorities: storage && (await authoritiesOfStorage(storage, { follow })) };
}

/** The authorities that the components of a storage's set trust. */
export async function authoritiesOfStorage(
  { metadata: { namespace }, spec: { internalTls } }: Storage,
  { follow }: Pick<ReconcileContext, "follow">,
): Promise<string | undefined> {
  if (!internalTls) return undefined;
  const found = await follow(ConfigMap, { namespace, name: internalTls.configMapName });
  return found?.data?.[authoritiesKey];
}

/** The Secret that the pods of a set mount, if they use TLS among themselves. */
export function certificateOf({ storages: [storage] }: BuildbarnSet): string | undefined {
  return storage?.spec.internalTls?.secretName;
}

/**
 * How the components of a set use TLS among themselves; undefined if they do not.
 *
 * @throws SetFault
 */
export function tlsOf({ storages: [storage], authorities }: BuildbarnSet): SetTls | undefined {
  return storage && tlsOfStorage(storage, authorities);
}

/**
 * How the components of a storage's set use TLS among themselves; undefined if they do not.
 *
 * @throws SetFault
 */
export function tlsOfStorage(
  { metadata, spec }: Storage,
  authorities: string | undefined,
): SetTls | undefined {
  const { internalTls, cluster } = spec;
  if (!internalTls) return undefined;
  const { secretName, configMapName } = internalTls;
  if (authorities === undefined)
    throw new SetFault(
      "ConfigMapMissing",
      `spec.internalTls.configMapName of BuildbarnStorage ${metadata.name}: there is no ConfigMap ${JSON.stringify(configMapName)} with ${authoritiesKey}`,
    );
  return { authorities, secretName, serverName: `${cluster}.${metadata.namespace}.svc` };
}
