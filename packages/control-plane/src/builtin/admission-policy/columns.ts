import type { Json, JsonObject } from "../../json.ts";
import { at, list, text } from "../../table/fields.ts";
import { goString } from "../../table/go-string.ts";
import { age, name } from "../../table/metadata-cells.ts";

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
