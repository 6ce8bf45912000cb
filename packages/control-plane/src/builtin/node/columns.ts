import type { Json, JsonObject } from "../../json.ts";
import { at, conditionStatus, list, object, orNone, text } from "../../table/fields.ts";
import { age, name } from "../../table/metadata-cells.ts";

export function nodeCells(of: JsonObject, now: number): Json[] {
  const ready = conditionStatus(list(of, "status", "conditions"), "Ready");
  const status = ready === undefined ? "Unknown" : ready === "True" ? "Ready" : "NotReady";
  const info = (field: string) => text(of, "status", "nodeInfo", field);
  const address = (type: string) =>
    text(
      list(of, "status", "addresses").find((each) => text(each, "type") === type),
      "address",
    );
  return [
    name(of),
    at(of, "spec", "unschedulable") === true ? `${status},SchedulingDisabled` : status,
    orNone(nodeRoles(of).join(",")),
    age(of, now),
    info("kubeletVersion"),
    orNone(address("InternalIP")),
    orNone(address("ExternalIP")),
    info("osImage") || "<unknown>",
    info("kernelVersion") || "<unknown>",
    info("containerRuntimeVersion") || "<unknown>",
  ];
}

const roleLabel = "node-role.kubernetes.io/";

function nodeRoles(of: JsonObject): string[] {
  const labels = object(of, "metadata", "labels");
  const roles = Object.keys(labels)
    .filter((label) => label.startsWith(roleLabel))
    .map((label) => label.slice(roleLabel.length));
  roles.push(text(labels, "kubernetes.io/role"));
  return [...new Set(roles.filter((role) => role !== ""))].sort();
}
