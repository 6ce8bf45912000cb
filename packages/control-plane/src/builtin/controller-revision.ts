import type { Json, JsonObject } from "../json.ts";
import { countAt, field, hasAt, listAt, objectAt, textAt, valueAt } from "../json-fields.ts";
import type { Strategy } from "../registry/strategy.ts";
import { age, name } from "../table/metadata-cells.ts";
import { Faults } from "../validation/faults.ts";
import type { KindDeclaration } from "./declaration.ts";
import { checkSame } from "./pod/template.ts";

/** A snapshot that others compare with: what it holds never changes. */
const controllerRevision: Strategy = {
  validate: (object) => revisionFaults(object).causes,
  validateUpdate: (next, live) => {
    const faults = revisionFaults(next);
    checkSame(faults, "data", next.data, live.data);
    return faults.causes;
  },
};

function revisionFaults(object: JsonObject): Faults {
  const faults = new Faults();
  if (!hasAt(object, "data")) faults.required("data", "data is mandatory");
  faults.atLeast("revision", field(object, "revision"));
  return faults;
}

function controllerRevisionCells(of: JsonObject, now: number): Json[] {
  const owner = listAt(of, "metadata", "ownerReferences").find(
    (each) => valueAt(each, "controller") === true,
  );
  return [
    name(of),
    owner === undefined ? "<none>" : ownerName(objectAt(owner)),
    countAt(of, "revision"),
    age(of, now),
  ];
}

function ownerName(owner: JsonObject): string {
  const [group = "", version] = textAt(owner, "apiVersion").split("/");
  const kind = textAt(owner, "kind");
  const qualified = version === undefined ? kind : `${kind}.${group}`;
  return `${qualified.toLowerCase()}/${textAt(owner, "name")}`;
}

export const controllerRevisionKind = {
  group: "apps",
  kind: "ControllerRevision",
  strategy: controllerRevision,
  cells: controllerRevisionCells,
} satisfies KindDeclaration;
