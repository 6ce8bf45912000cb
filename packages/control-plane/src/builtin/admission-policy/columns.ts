import type { ValidatingAdmissionPolicy, ValidatingAdmissionPolicyBinding } from "@windlass/kinds/builtin";
import type { Json } from "../../json.ts";
import { lengthAt, partAt, textAt } from "../../table/fields.ts";
import { goString } from "../../table/go-string.ts";
import { age, name } from "../../table/metadata-cells.ts";

export function admissionPolicyCells(of: ValidatingAdmissionPolicy, now: number): Json[] {
  const kind = partAt(of, "spec", "paramKind");
  return [
    name(of),
    lengthAt(of, "spec", "validations"),
    kind === undefined ? "<unset>" : `${textAt(kind, "apiVersion")}/${textAt(kind, "kind")}`,
    age(of, now),
  ];
}

export function admissionPolicyBindingCells(of: ValidatingAdmissionPolicyBinding, now: number): Json[] {
  return [
    name(of),
    textAt(of, "spec", "policyName"),
    parametersOf(partAt(of, "spec", "paramRef")),
    age(of, now),
  ];
}

function parametersOf(reference: ValidatingAdmissionPolicyBinding["spec"]["paramRef"]): string {
  const parameters = textAt(reference, "name");
  if (parameters !== "") return `${textAt(reference, "namespace") || "*"}/${parameters}`;
  const selector = partAt(reference, "selector");
  return selector === undefined ? "<unset>" : goString(selector);
}
