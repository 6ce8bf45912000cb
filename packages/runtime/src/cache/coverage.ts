import type { InformerScope } from "./contract.ts";

/** What a read asks for. */
export interface Ask {
  /** Undefined for all that are held. */
  readonly namespace: string | undefined;
  /** Undefined for any. */
  readonly name?: string | undefined;
  readonly labelSelector?: string | undefined;
  /** Whether objects without spec and status will do. */
  readonly metadataOnly: boolean;
}

/** Whether a namespace is among those of a scope. */
export function isInNamespace(scope: InformerScope, namespace: string): boolean {
  return scope.namespace === undefined || scope.namespace === namespace;
}

/**
 * Whether an informer of this scope, in the namespaces that it has, knows of every object that is
 * asked for: what it does not hold does not exist. One that was asked for to hold a part of the
 * kind answers no other reader about the rest.
 *
 * @param universe the scope that the whole cache is limited to
 */
export function isComplete(scope: InformerScope, ask: Ask, universe: InformerScope): boolean {
  if (scope.metadataOnly && !ask.metadataOnly) return false;
  const { labelSelector, fieldSelector } = scope;
  const hasLabels =
    labelSelector === undefined ||
    labelSelector === ask.labelSelector ||
    labelSelector === universe.labelSelector;
  const hasFields =
    fieldSelector === undefined ||
    fieldSelector === universe.fieldSelector ||
    (ask.name !== undefined && fieldSelector === `metadata.name=${ask.name}`);
  return hasLabels && hasFields;
}

/**
 * What an informer holds less than all of, in words: `labelSelector app=web`. Empty if it holds
 * all.
 */
export function partOf({ labelSelector, fieldSelector, metadataOnly }: InformerScope): string {
  return [
    ...(labelSelector === undefined ? [] : [`labelSelector ${labelSelector}`]),
    ...(fieldSelector === undefined ? [] : [`fieldSelector ${fieldSelector}`]),
    ...(metadataOnly ? ["metadataOnly"] : []),
  ].join(", ");
}
