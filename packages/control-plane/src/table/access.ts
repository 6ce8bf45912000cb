import type { Json, JsonObject } from "../json.ts";
import { since } from "./duration.ts";
import { at, list, number, object, shown, text, texts } from "./fields.ts";

const name = (of: JsonObject) => text(of, "metadata", "name");
const age = (of: JsonObject, now: number) => since(text(of, "metadata", "creationTimestamp"), now);

/** A RoleBinding's or ClusterRoleBinding's row. */
export function bindingCells(of: JsonObject, now: number): Json[] {
  const subjects = list(of, "subjects");
  const named = (kind: string) => subjects.filter((subject) => text(subject, "kind") === kind);
  const names = (kind: string) => named(kind).map((subject) => text(subject, "name"));
  const accounts = named("ServiceAccount").map(
    (subject) => `${text(subject, "namespace")}/${text(subject, "name")}`,
  );
  return [
    name(of),
    `${text(of, "roleRef", "kind")}/${text(of, "roleRef", "name")}`,
    age(of, now),
    names("User").join(", "),
    names("Group").join(", "),
    accounts.join(", "),
  ];
}

/** A row of either kind of webhook configuration. */
export function webhookConfigurationCells(of: JsonObject, now: number): Json[] {
  return [name(of), list(of, "webhooks").length, age(of, now)];
}

export function admissionPolicyCells(of: JsonObject, now: number): Json[] {
  const kind = at(of, "spec", "paramKind");
  return [
    name(of),
    list(of, "spec", "validations").length,
    kind === undefined ? "<unset>" : `${text(kind, "apiVersion")}/${text(kind, "kind")}`,
    age(of, now),
  ];
}

export function admissionPolicyBindingCells(of: JsonObject, now: number): Json[] {
  return [name(of), text(of, "spec", "policyName"), parametersOf(at(of, "spec", "paramRef")), age(of, now)];
}

function parametersOf(reference: Json | undefined): string {
  const parameters = text(reference, "name");
  if (parameters !== "") return `${text(reference, "namespace") || "*"}/${parameters}`;
  const selector = at(reference, "selector");
  return selector === undefined ? "<unset>" : goString(selector);
}

/**
 * A label selector as Go's generated code prints it, which is what one column and one event show.
 */
export function goString(selector: Json): string {
  const labels = object(selector, "matchLabels");
  const pairs = Object.keys(labels)
    .sort()
    .map((key) => `${key}: ${text(labels, key)},`);
  const expressions = list(selector, "matchExpressions").map((each) => {
    const values = texts(each, "values").join(" ");
    return `LabelSelectorRequirement{Key:${text(each, "key")},Operator:${text(each, "operator")},Values:[${values}],},`;
  });
  return `&LabelSelector{MatchLabels:map[string]string{${pairs.join("")}},MatchExpressions:[]LabelSelectorRequirement{${expressions.join("")}},}`;
}

export function flowSchemaCells(of: JsonObject, now: number): Json[] {
  const dangling = list(of, "status", "conditions").find((each) => text(each, "type") === "Dangling");
  return [
    name(of),
    text(of, "spec", "priorityLevelConfiguration", "name"),
    number(of, "spec", "matchingPrecedence"),
    shown("<none>", of, "spec", "distinguisherMethod", "type"),
    age(of, now),
    dangling === undefined ? "?" : text(dangling, "status"),
  ];
}

export function priorityLevelCells(of: JsonObject, now: number): Json[] {
  const limited = at(of, "spec", "limited");
  const queuing = at(limited, "limitResponse", "queuing");
  const field = (from: Json | undefined, key: string): Json =>
    from === undefined ? "<none>" : number(from, key);
  return [
    name(of),
    text(of, "spec", "type"),
    field(limited, "nominalConcurrencyShares"),
    field(queuing, "queues"),
    field(queuing, "handSize"),
    field(queuing, "queueLengthLimit"),
    age(of, now),
  ];
}
