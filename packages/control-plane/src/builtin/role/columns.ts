import type { Json, JsonObject } from "../../json.ts";
import { list, text } from "../../table/fields.ts";
import { age, name } from "../../table/metadata-cells.ts";

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
