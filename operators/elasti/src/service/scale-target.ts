import {
  type AnyKind,
  ignoreNotFound,
  type KubernetesObject,
  type ObjectKey,
  type ReconcileClient,
  type ResourceKind,
} from "@windlass/runtime";
import { Deployment, StatefulSet } from "@windlass/runtime/kinds";
import type { ElastiServiceObject } from "./elasti-service.ts";

/** A resource as discovery describes it, as far as scaling is concerned. */
export interface ScalableResource extends AnyKind {
  readonly subresources: readonly { readonly name: string }[];
}

/** Finds what the server serves. `Client.discovery` is one. */
export interface KindLookup {
  find(group: string, kind: string, version?: string): Promise<ScalableResource | undefined>;
  findResource(group: string, plural: string, version?: string): Promise<ScalableResource | undefined>;
}

/** The scale subresource, whatever it is of. */
export interface ScaleObject extends KubernetesObject {
  readonly spec?: { readonly replicas?: number };
  readonly status?: { readonly replicas?: number; readonly selector?: string };
}

type Reference = Pick<ElastiServiceObject["spec"]["scaleTargetRef"], "apiVersion" | "kind">;

/** Argo's Rollout, as far as it is watched. */
export const Rollout: ResourceKind<KubernetesObject, KubernetesObject> = {
  group: "argoproj.io",
  version: "v1alpha1",
  kind: "Rollout",
  plural: "rollouts",
  scope: "Namespaced",
};

/**
 * Targets of these kinds are watched. Others are asked for their scale now and then: that takes no
 * rights on the kind itself.
 */
export const watchedTargets: readonly AnyKind[] = [Deployment, StatefulSet, Rollout];

/** Whether the operator has the rights to watch targets of this kind. */
export function isWatched({ group, plural }: AnyKind): boolean {
  return watchedTargets.some((kind) => kind.group === group && kind.plural === plural);
}

/** The kind of a target; undefined if the server has no such kind, or none that can be scaled. */
export async function kindOfTarget(
  lookup: KindLookup,
  { apiVersion, kind }: Reference,
): Promise<ScalableResource | undefined> {
  const [version = "", group = ""] = apiVersion.split("/").toReversed();
  const found =
    (await lookup.find(group, kind, version)) ?? (await lookup.findResource(group, kind, version));
  return found?.subresources.some(({ name }) => name === "scale") ? found : undefined;
}

/** Reads and writes the scale of a target. */
export class TargetScale {
  readonly #kind: ResourceKind<ScaleObject, ScaleObject>;
  readonly #key: ObjectKey;
  readonly #client: ReconcileClient;

  constructor(target: AnyKind, key: ObjectKey, client: ReconcileClient) {
    const { group, version, plural, scope } = target;
    this.#kind = { group, version, kind: "Scale", plural, scope };
    this.#key = key;
    this.#client = client;
  }

  /**
   * Always from the server: a stale number could stop a target that was just woken.
   *
   * @returns undefined if there is no such target.
   */
  async replicas(): Promise<number | undefined> {
    const { live } = this.#client;
    const scale = await ignoreNotFound(live.get(this.#kind, this.#key, { subresource: "scale" }));
    return scale && (scale.spec?.replicas ?? 0);
  }

  async set(replicas: number): Promise<void> {
    const patch = { spec: { replicas } };
    await this.#client.patch(this.#kind, this.#key, { type: "merge", patch }, { subresource: "scale" });
  }
}
