import { group } from "./fields.ts";

/** What a component is, as the original's label `app` names it. */
export type Component = "storage" | "scheduler" | "worker" | "frontend" | "browser";

/** The set that an object belongs to. */
export const setLabel = `${group}/cluster`;
/** On pods that place blobs on shards, and on what makes them: `true`. */
export const shardClientLabel = `${group}/shard-client`;
/** Says on a client's pod, and on the template of it, which shard map it was started with. */
export const shardMapAnnotation = `${group}/shard-map`;
/** Says on a pod template which configuration its pods have. */
export const configHashAnnotation = `${group}/config-hash`;

/** On the template of a workload: stands for all of it. */
export const revisionAnnotation = `${group}/revision`;
/** On the template of a workload: stands for what its containers ask for and may use. */
export const resourcesAnnotation = `${group}/resources`;
/**
 * On a workload: stands for all that was asked of it, so that what it reports is not mistaken for
 * the answer to something newer.
 */
export const wantedAnnotation = `${group}/wanted`;
/** On a Job, and its pod, that only tries an image and a configuration: whose they are. */
export const trialLabel = `${group}/trial-of`;

/** On pods of mirrors: `b`. */
export const ringLabel = `${group}/ring`;

/** On Services that lead to metrics: `true`. */
export const metricsLabel = `${group}/metrics`;

/** Who made an object: on all objects that the operator makes. */
export const managedBy = { "app.kubernetes.io/managed-by": "buildbarn-operator" } as const;
/** Selects the objects that the operator makes. */
export const managedBySelector = "app.kubernetes.io/managed-by=buildbarn-operator";

/** Where every container finds its configuration. */
export const configDirectory = "/config";

/** The labels that select the pods of a resource. */
export function podSelector(app: Component, name: string, instance?: string): Record<string, string> {
  return { app, component: name, ...(instance !== undefined && { instance }) };
}

/** The labels of every object of a component. */
export function labelsOf(app: Component, name: string, set: string): Record<string, string> {
  return {
    ...managedBy,
    "app.kubernetes.io/name": `bb-${app}`,
    "app.kubernetes.io/instance": name,
    "app.kubernetes.io/part-of": "buildbarn",
    app,
    component: name,
    [setLabel]: set,
  };
}

/**
 * The name of a ConfigMap with a component's configuration. It never changes: another configuration
 * has another name.
 */
export function configMapName(component: string, hash: string): string {
  return `${component}-config-${hash}`;
}
