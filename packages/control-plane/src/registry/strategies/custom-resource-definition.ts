import { defaultCrd, initialCrdStatus, storedVersionsAfter } from "../../crd/defaults.ts";
import type { JsonObject } from "../../json.ts";
import type { Strategy } from "../strategy.ts";

/** Keeps a definition there until its objects are gone. */
export const cleanupFinalizer = "customresourcecleanup.apiextensions.k8s.io";

export const customResourceDefinition: Strategy = {
  setDefaults: defaultCrd,
  prepareCreate: (object) => {
    object.status = initialCrdStatus(object);
  },
  prepareUpdate: (next, live, { subresource }) => {
    if (subresource !== undefined) return;
    next.status = { ...(live.status as JsonObject), storedVersions: storedVersionsAfter(next, live) };
  },
  deletionFinalizers: () => [cleanupFinalizer],
};
