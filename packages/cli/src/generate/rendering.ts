import type { Component, Operator, Setting } from "./resolve.ts";

/**
 * What differs between a kustomization and a chart: plain values in the one, expressions in the
 * other. A `unknown` is a value or an expression that stands for it.
 */
export interface Rendering {
  readonly namespace: string;
  readonly image: string;
  readonly logLevel: unknown;
  replicas(component: Component): unknown;
  resources(component: Component): unknown;
  setting(setting: Setting): unknown;
  /** Fields of every pod's spec and container that only those who install it can know. */
  readonly pod: Readonly<Record<string, unknown>>;
  readonly container: Readonly<Record<string, unknown>>;
}

/** With the values that the operator was declared with. */
export function plainRendering({ namespace, image: { repository, tag } }: Operator): Rendering {
  return {
    namespace,
    image: `${repository}:${tag}`,
    logLevel: "info",
    replicas: ({ replicas }) => replicas,
    resources: ({ resources }) => resources,
    setting: ({ value }) => String(value),
    pod: {},
    container: {},
  };
}
