import { recordedBootstrap } from "@windlass/kinds/recorded";
import type { JsonObject } from "../json.ts";

/** The namespaces every cluster has, in the order the real server makes them. */
export const systemNamespaces: readonly string[] = [
  "kube-system",
  "kube-public",
  "kube-node-lease",
  "default",
];

/** What the real server creates in an empty cluster, by kind. */
export interface Bootstrap {
  /** The server they were recorded from, such as `v1.35.4`. */
  readonly version: string;
  readonly clusterRoles: readonly JsonObject[];
  readonly clusterRoleBindings: readonly JsonObject[];
  readonly roles: readonly JsonObject[];
  readonly roleBindings: readonly JsonObject[];
  readonly priorityClasses: readonly JsonObject[];
  readonly priorityLevels: readonly JsonObject[];
  readonly flowSchemas: readonly JsonObject[];
}

/**
 * Reads what a new cluster starts with: RBAC's default roles and bindings, the system's priority
 * classes, and flow control's defaults. Each call gives objects of its own. They carry no uid,
 * resourceVersion, time or managedFields: those come with being stored. The real server stores RBAC
 * as manager `kube-apiserver` and flow control as `api-priority-and-fairness-config-producer-v1`.
 */
export function readBootstrap(): Bootstrap {
  return recordedBootstrap() as Bootstrap;
}
