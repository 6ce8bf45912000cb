import type { KindInfo } from "../../kinds/index.ts";
import { type Strategy, tableStrategy } from "../strategy.ts";
import { customResourceDefinition } from "./custom-resource-definition.ts";
import { namespace } from "./namespace.ts";
import { pod } from "./pod.ts";
import { deployment, replicaSet } from "./workloads.ts";

/** What is particular to built-in kinds, beyond the tables. */
const particular: { readonly [kind: string]: Strategy } = {
  "/Namespace": namespace,
  "/Pod": pod,
  "apps/Deployment": deployment,
  "apps/ReplicaSet": replicaSet,
  "apiextensions.k8s.io/CustomResourceDefinition": customResourceDefinition,
};

export function strategyOf(info: KindInfo): Strategy {
  return { ...tableStrategy(info), ...particular[`${info.group}/${info.kind}`] };
}
