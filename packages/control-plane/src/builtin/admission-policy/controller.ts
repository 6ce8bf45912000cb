import { type ControllerDependencies, ownKey, type Running, startLoop } from "../../controllers/loop.ts";
import { builtin, controllerContext, isDeleting, writeStatus } from "../../controllers/objects.ts";
import { statusOf, valueAt } from "../../json-fields.ts";
import { finish } from "../../steps.ts";

/**
 * Type-checks the expressions of admission policies against the kinds they match, and writes
 * warnings to their status.
 */
export function startAdmissionPolicyStatus(deps: ControllerDependencies): Running {
  const { registry } = deps;
  const policies = builtin(registry, "admissionregistration.k8s.io", "v1", "validatingadmissionpolicies");
  const context = controllerContext("validatingadmissionpolicy-status-controller");
  return startLoop(deps, {
    name: "validatingadmissionpolicy-status-controller",
    watches: { [policies.bucket]: ownKey },
    reconcile: async (key) => {
      const policy = registry.store.get(policies.bucket, key)?.object;
      if (!policy || isDeleting(policy)) return undefined;
      const { generation } = policy.metadata;
      if (valueAt(policy, "status", "observedGeneration") === generation) return undefined;
      // Loaded when first needed: most control planes never see a policy.
      const { typeWarnings } = await import("../../admission/policy/type-check.ts");
      const matcher = registry.patterns.matcher();
      const expressionWarnings = await finish(matcher.attempt(() => typeWarnings(policy, registry, matcher)));
      await writeStatus(
        registry,
        policies,
        policy,
        {
          ...statusOf(policy),
          observedGeneration: Number(generation ?? 0),
          typeChecking: expressionWarnings.length > 0 ? { expressionWarnings } : {},
        },
        context,
      );
      return undefined;
    },
  });
}
