import { equal, type Json, type JsonObject } from "../json.ts";
import { field, hasAt, itemsAt, pairsAt, textAt, textsAt, valueAt } from "../json-fields.ts";
import type { Strategy } from "../registry/strategy.ts";
import { age, name } from "../table/metadata-cells.ts";
import { shown } from "../table/text.ts";
import { Faults, immutable } from "../validation/faults.ts";
import { fill } from "../validation/fill.ts";
import { labelText, qualifiedName } from "../validation/names.ts";
import type { KindDeclaration } from "./declaration.ts";

const storageClass: Strategy = {
  returnsDeleted: true,
  setDefaults: (object) => fill(object, { reclaimPolicy: "Delete", volumeBindingMode: "Immediate" }),
  validate: (object) => classFaults(object).causes,
  validateUpdate: (next, live) => {
    const faults = classFaults(next);
    for (const part of ["parameters", "provisioner", "reclaimPolicy"]) {
      if (!equal(field(next, part) ?? null, field(live, part) ?? null)) {
        faults.forbidden(part, `updates to ${part} are forbidden.`);
      }
    }
    if (textAt(next, "volumeBindingMode") !== textAt(live, "volumeBindingMode")) {
      faults.invalid("volumeBindingMode", textAt(next, "volumeBindingMode"), immutable);
    }
    return faults.causes;
  },
};

function classFaults(object: JsonObject): Faults {
  const faults = new Faults();
  const provisioner = textAt(object, "provisioner");
  if (provisioner === "") faults.required("provisioner");
  else faults.each("provisioner", provisioner, qualifiedName(provisioner.toLowerCase()));
  for (const [key] of pairsAt(object, "parameters")) {
    if (key === "") faults.invalid("parameters", key, "field can not be empty.");
  }
  if (hasAt(object, "reclaimPolicy")) {
    faults.oneOf("reclaimPolicy", textAt(object, "reclaimPolicy"), ["Delete", "Retain"]);
  }
  if (hasAt(object, "volumeBindingMode")) {
    faults.oneOf("volumeBindingMode", textAt(object, "volumeBindingMode"), [
      "Immediate",
      "WaitForFirstConsumer",
    ]);
  } else faults.required("volumeBindingMode");
  for (const [index, topology] of itemsAt(object, "allowedTopologies").entries()) {
    for (const [place, expression] of itemsAt(topology, "matchLabelExpressions").entries()) {
      checkTopology(faults, `allowedTopologies[${index}].matchLabelExpressions[${place}]`, expression);
    }
  }
  return faults;
}

function checkTopology(faults: Faults, at: string, expression: JsonObject): void {
  const values = textsAt(expression, "values");
  if (values.length === 0) faults.required(`${at}.values`);
  for (const [index, value] of values.entries()) {
    if (values.indexOf(value) < index) faults.duplicate(`${at}.values[${index}]`, value);
    faults.each(`${at}.values[${index}]`, value, labelText(value));
  }
  const key = textAt(expression, "key");
  faults.each(`${at}.key`, key, qualifiedName(key));
}

const defaultAnnotations = [
  "storageclass.kubernetes.io/is-default-class",
  "storageclass.beta.kubernetes.io/is-default-class",
];

function storageClassCells(of: JsonObject, now: number): Json[] {
  const isDefault = defaultAnnotations.some((key) => valueAt(of, "metadata", "annotations", key) === "true");
  return [
    `${name(of)}${isDefault ? " (default)" : ""}`,
    textAt(of, "provisioner"),
    shown("Delete", of, "reclaimPolicy"),
    shown("Immediate", of, "volumeBindingMode"),
    valueAt(of, "allowVolumeExpansion") === true,
    age(of, now),
  ];
}

export const storageClassKind = {
  group: "storage.k8s.io",
  kind: "StorageClass",
  strategy: storageClass,
  cells: storageClassCells,
} satisfies KindDeclaration;
