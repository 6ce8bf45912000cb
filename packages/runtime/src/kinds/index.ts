/**
 * Kubernetes' own kinds by their plain names, each both a value (to address it) and the type of its
 * objects: `Deployment` reads, `DeploymentInput` writes. Only generally available versions; of two,
 * the preferred one.
 *
 * @example
 * import { Deployment, type DeploymentInput } from "@windlass/runtime/kinds";
 */
export * from "@windlass/kinds/builtin";
