import type { Component, Operator } from "../resolve.ts";

/** What finds the pods of a component. Never more: a Deployment cannot change it. */
export function selectorOf({ name }: Component): Readonly<Record<string, string>> {
  return { "app.kubernetes.io/name": name };
}

/** The labels of what belongs to a component. */
export function labelsOf(operator: Operator, component: Component): Readonly<Record<string, string>> {
  return { ...selectorOf(component), "app.kubernetes.io/part-of": operator.name };
}
