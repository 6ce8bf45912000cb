import type { ClusterRoleBinding, RoleBinding } from "@windlass/kinds/builtin";
import type { Json } from "../../json.ts";
import { itemsAt, textAt } from "../../table/fields.ts";
import { age, name } from "../../table/metadata-cells.ts";

/** A RoleBinding's or ClusterRoleBinding's row. */
export function bindingCells(of: ClusterRoleBinding | RoleBinding, now: number): Json[] {
  const subjects = itemsAt(of, "subjects");
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
