import type { Json, JsonObject } from "../../json.ts";
import { listAt, textAt } from "../../json-fields.ts";
import { age, name } from "../../table/metadata-cells.ts";

/** A RoleBinding's or ClusterRoleBinding's row. */
export function bindingCells(of: JsonObject, now: number): Json[] {
  const subjects = listAt(of, "subjects");
  const named = (kind: string) => subjects.filter((subject) => textAt(subject, "kind") === kind);
  const names = (kind: string) => named(kind).map((subject) => textAt(subject, "name"));
  const accounts = named("ServiceAccount").map(
    (subject) => `${textAt(subject, "namespace")}/${textAt(subject, "name")}`,
  );
  return [
    name(of),
    `${textAt(of, "roleRef", "kind")}/${textAt(of, "roleRef", "name")}`,
    age(of, now),
    names("User").join(", "),
    names("Group").join(", "),
    accounts.join(", "),
  ];
}
