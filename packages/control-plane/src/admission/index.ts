import type { Clock, Random } from "@windlass/clock";
import type { Authorizer } from "../auth/index.ts";
import type { Admission } from "../registry/admission.ts";
import type { Registry } from "../registry/registry.ts";
import type { Store } from "../storage/store.ts";
import { certificateRequesters, certificateSigners, certificateSubjects } from "./certificates.ts";
import { defaultIngressClass, defaultStorageClass } from "./default-classes.ts";
import { noEscalation } from "./escalation.ts";
import { limitRanger } from "./limit-ranger.ts";
import { podSecurity } from "./pod-security/index.ts";
import { priorities } from "./priority.ts";
import { resourceQuotas } from "./resource-quota.ts";
import { runtimeClasses } from "./runtime-class.ts";
import { serviceAccounts } from "./service-account.ts";
import { claimResize, inUseProtection } from "./storage-protection.ts";
import { defaultTolerationSeconds, taintNewNodes } from "./tolerations.ts";

export interface BuiltinAdmissionDependencies {
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
  readonly authorizer: Authorizer;
  /** How long a pod waits for the account of a namespace that was made a moment ago. @default 0 */
  readonly accountPatienceMs?: number;
}

/**
 * The admission that is part of the real server, in its order. It runs after namespaces were looked
 * at and before webhooks; quotas come after those, by `quotaAdmission`.
 */
export function builtinAdmission(deps: BuiltinAdmissionDependencies): Admission[] {
  const { store, authorizer } = deps;
  return [
    noEscalation(authorizer),
    certificateRequesters(),
    limitRanger(store),
    serviceAccounts(deps),
    taintNewNodes(),
    podSecurity(store),
    priorities(store),
    defaultTolerationSeconds(),
    defaultStorageClass(store),
    inUseProtection(),
    claimResize(store),
    runtimeClasses(store),
    certificateSigners(authorizer),
    certificateSubjects(),
    defaultIngressClass(store),
  ];
}

/** Quotas come last, when nothing else can refuse the request any more. */
export function quotaAdmission(registry: Registry): Admission[] {
  return [resourceQuotas(registry)];
}
