import type { Json, JsonObject } from "../../json.ts";
import { listAt, textAt, valueAt } from "../../json-fields.ts";
import { goString } from "../../table/go-string.ts";
import { age, name } from "../../table/metadata-cells.ts";

export function admissionPolicyCells(of: JsonObject, now: number): Json[] {
  const kind = valueAt(of, "spec", "paramKind");
  return [
    name(of),
    listAt(of, "spec", "validations").length,
    kind === undefined ? "<unset>" : `${textAt(kind, "apiVersion")}/${textAt(kind, "kind")}`,
    age(of, now),
  ];
}

export function admissionPolicyBindingCells(of: JsonObject, now: number): Json[] {
  return [
    name(of),
    textAt(of, "spec", "policyName"),
    parametersOf(valueAt(of, "spec", "paramRef")),
    age(of, now),
  ];
}

function parametersOf(reference: Json | undefined): string {
  const parameters = textAt(reference, "name");
  if (parameters !== "") return `${textAt(reference, "namespace") || "*"}/${parameters}`;
  const selector = valueAt(reference, "selector");
  return selector === undefined ? "<unset>" : goString(selector);
}
