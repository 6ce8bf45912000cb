import type { AnyKind, AnyObject, Manifest, ResourceKind } from "@windlass/kinds";
import type { Client } from "./client.ts";
import type { ApplyOptions } from "./verbs.ts";

/** A manifest names a kind that the server does not serve. */
export class UnknownKindError extends Error {
  override readonly name = "UnknownKindError";

  constructor(manifest: Manifest) {
    const { apiVersion, kind, metadata } = manifest;
    super(
      `${apiVersion} ${kind} ${metadata.name}: the server does not serve this kind; install its CustomResourceDefinition first, or correct apiVersion and kind`,
    );
  }
}

/** The kind of a manifest, as the server serves it. @throws UnknownKindError */
export async function kindOfManifest(client: Client, manifest: Manifest): Promise<ResourceKind> {
  const { apiVersion, kind } = manifest;
  const slash = apiVersion.indexOf("/");
  const group = slash < 0 ? "" : apiVersion.slice(0, slash);
  const served = await client.discovery.find(group, kind, apiVersion.slice(slash + 1));
  if (!served) throw new UnknownKindError(manifest);
  return served;
}

/**
 * Applies an object of whatever kind, as `kubectl apply --server-side -f` does.
 *
 * @throws UnknownKindError if the server does not serve the kind.
 * @example
 * for (const role of rbacFor([webapp], { name: "webapp-operator" })) await applyManifest(client, role);
 */
export async function applyManifest<M extends Manifest>(
  client: Client,
  manifest: M,
  options?: ApplyOptions,
): Promise<AnyObject> {
  const kind: AnyKind = await kindOfManifest(client, manifest);
  return (await client.apply(kind, manifest, options)) as AnyObject;
}
