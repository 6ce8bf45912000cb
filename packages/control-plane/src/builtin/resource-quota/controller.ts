import { bucketOf, inUse, type Usage } from "../../admission/quota-usage.ts";
import { type ControllerDependencies, type Running, startLoop } from "../../controllers/loop.ts";
import { builtin, controllerContext, isDeleting, writeStatus } from "../../controllers/objects.ts";
import { within } from "../../controllers/ownership.ts";
import { equal, type JsonObject } from "../../json.ts";
import { namespaceOf, objectAt } from "../../json-fields.ts";
import type { Registry } from "../../registry/registry.ts";
import type { StoredObject } from "../../storage/store.ts";

/** Keeps count of what a namespace uses of its quotas. */
export function startResourceQuotas(deps: ControllerDependencies): Running {
  const { registry } = deps;
  const quotas = builtin(registry, "", "v1", "resourcequotas");
  const context = controllerContext("resourcequota-controller");
  return startLoop(deps, {
    name: "resourcequota-controller",
    watchAll: ({ entry }) => {
      const namespace = namespaceOf(entry.object);
      if (namespace === "") return [];
      return [...within(registry, quotas, namespace)].map(({ metadata }) => `${namespace}/${metadata.name}`);
    },
    reconcile: async (key) => {
      const quota = registry.store.get(quotas.bucket, key)?.object;
      if (!quota || isDeleting(quota)) return undefined;
      const hard = objectAt(quota, "spec", "hard");
      const used = usedOf(registry, quota);
      const status = { hard, used };
      if (!equal(quota.status, status)) await writeStatus(registry, quotas, quota, status, context);
      return undefined;
    },
  });
}

/** What a namespace uses of each resource that a quota limits. */
function usedOf({ store }: Registry, quota: StoredObject): JsonObject {
  const namespace = namespaceOf(quota);
  const bounded = Object.keys(objectAt(quota, "spec", "hard"));
  const used: Usage = Object.create(null);
  for (const bucket of new Set(bounded.map(bucketOf))) {
    Object.assign(used, inUse(store, bucket, quota, namespace));
  }
  return Object.fromEntries(bounded.map((resource) => [resource, used[resource] ?? "0"]));
}
