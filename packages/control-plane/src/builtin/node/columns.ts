import type { Node } from "@windlass/kinds/builtin";
import type { Json } from "../../json.ts";
import { conditionStatus, orNone } from "../../table/cells.ts";
import { isTrueAt, itemsAt, namesAt, partAt, textAt } from "../../table/fields.ts";
import { age, name } from "../../table/metadata-cells.ts";

export function nodeCells(of: Node, now: number): Json[] {
  const ready = conditionStatus(itemsAt(of, "status", "conditions"), "Ready");
  const status = ready === undefined ? "Unknown" : ready === "True" ? "Ready" : "NotReady";
  const info = partAt(of, "status", "nodeInfo");
  const address = (type: string) =>
    textAt(
      itemsAt(of, "status", "addresses").find((each) => textAt(each, "type") === type),
      "address",
    );
  return [
    name(of),
    isTrueAt(of, "spec", "unschedulable") ? `${status},SchedulingDisabled` : status,
    orNone(nodeRoles(of).join(",")),
    age(of, now),
    textAt(info, "kubeletVersion"),
    orNone(address("InternalIP")),
    orNone(address("ExternalIP")),
    textAt(info, "osImage") || "<unknown>",
    textAt(info, "kernelVersion") || "<unknown>",
    textAt(info, "containerRuntimeVersion") || "<unknown>",
  ];
}

const roleLabel = "node-role.kubernetes.io/";

function nodeRoles(of: Node): string[] {
  const roles = namesAt(of, "metadata", "labels")
    .filter((label) => label.startsWith(roleLabel))
    .map((label) => label.slice(roleLabel.length));
  roles.push(textAt(of, "metadata", "labels", "kubernetes.io/role"));
  return [...new Set(roles.filter((role) => role !== ""))].sort();
}
