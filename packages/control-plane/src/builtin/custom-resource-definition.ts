import { defaultCrd, initialCrdStatus, storedVersionsAfter } from "../crd/defaults.ts";
import type { JsonObject } from "../json.ts";
import { metadataOf, objectsAt, presentObjectAt } from "../json-fields.ts";
import { timestamp } from "../registry/metadata.ts";
import type { Strategy } from "../registry/strategy.ts";
import type { KindDeclaration } from "./declaration.ts";

/** Keeps a definition until its objects are deleted. */
export const cleanupFinalizer = "customresourcecleanup.apiextensions.k8s.io";

/**
 * The status of a definition that is being deleted. The time moves only when the condition's status
 * does.
 */
export function withTerminating(
  definition: JsonObject,
  now: string,
  why: { readonly reason: string; readonly message: string },
): JsonObject {
  const conditions = objectsAt(presentObjectAt(definition, "status"), "conditions");
  const before = conditions.find(({ type }) => type === "Terminating");
  const isNew = before?.status !== "True";
  const terminating: JsonObject = {
    type: "Terminating",
    status: "True",
    lastTransitionTime: isNew ? now : (before.lastTransitionTime ?? now),
    ...why,
  };
  const others = conditions.filter((condition) => condition !== before);
  return { ...presentObjectAt(definition, "status"), conditions: [...others, terminating] };
}

const customResourceDefinition: Strategy = {
  generation: true,
  unconditionalUpdate: false,
  setDefaults: defaultCrd,
  prepareCreate: (object) => {
    object.status = initialCrdStatus(object);
  },
  prepareUpdate: (next, live, { subresource }) => {
    if (subresource !== undefined) return;
    next.status = { ...(live.status as JsonObject), storedVersions: storedVersionsAfter(next, live) };
  },
  deletionFinalizers: () => [cleanupFinalizer],
  onDeletion: (object, { clock }) => {
    // The real server marks definitions by code of their own, which counts no generation and gives
    // no grace.
    const metadata = metadataOf(object);
    delete metadata.deletionGracePeriodSeconds;
    metadata.generation = Number(metadata.generation) - 1;
    object.status = withTerminating(object, timestamp(clock), {
      reason: "InstanceDeletionPending",
      message: "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon",
    });
  },
};

export const customResourceDefinitionKind = {
  group: "apiextensions.k8s.io",
  kind: "CustomResourceDefinition",
  strategy: customResourceDefinition,
} satisfies KindDeclaration;
