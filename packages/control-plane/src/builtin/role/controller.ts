import { aggregatedRules } from "../../auth/index.ts";
import { type ControllerDependencies, type Running, startLoop } from "../../controllers/loop.ts";
import { builtin, controllerContext, edit } from "../../controllers/objects.ts";
import { clone, equal } from "../../json.ts";
import { valueAt } from "../../json-fields.ts";

/** Fills aggregated ClusterRoles, such as `admin`, `edit` and `view`. */
export function startClusterRoleAggregation(deps: ControllerDependencies): Running {
  const { registry } = deps;
  const roles = builtin(registry, "rbac.authorization.k8s.io", "v1", "clusterroles");
  const context = controllerContext("clusterrole-aggregation-controller");
  return startLoop(deps, {
    name: "clusterrole-aggregation-controller",
    // Any role may be part of any other, so one key stands for all of them.
    watches: { [roles.bucket]: () => ["all"] },
    reconcile: async () => {
      const all = registry.store.list(roles.bucket).entries.map(({ object }) => object);
      for (const role of all) {
        const rules = aggregatedRules(role, all);
        if (!rules || equal(rules, valueAt(role, "rules") ?? [])) continue;
        await edit(registry, roles, role, context, (next) => {
          next.rules = clone(rules);
        });
      }
      return undefined;
    },
  });
}
