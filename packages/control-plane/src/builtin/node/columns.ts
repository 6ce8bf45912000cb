import type { Json, JsonObject } from "../../json.ts";
import { listAt, objectAt, textAt, valueAt } from "../../json-fields.ts";
import { conditionStatus, orNone } from "../../table/cells.ts";
import { age, name } from "../../table/metadata-cells.ts";

export function nodeCells(of: JsonObject, now: number): Json[] {
  const ready = conditionStatus(listAt(of, "status", "conditions"), "Ready");
  const status = ready === undefined ? "Unknown" : ready === "True" ? "Ready" : "NotReady";
  const info = (field: string) => textAt(of, "status", "nodeInfo", field);
  const address = (type: string) =>
    textAt(
      listAt(of, "status", "addresses").find((each) => textAt(each, "type") === type),
      "address",
    );
  return [
    name(of),
    valueAt(of, "spec", "unschedulable") === true ? `${status},SchedulingDisabled` : status,
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
  const labels = objectAt(of, "metadata", "labels");
  const roles = Object.keys(labels)
    .filter((label) => label.startsWith(roleLabel))
    .map((label) => label.slice(roleLabel.length));
  roles.push(textAt(labels, "kubernetes.io/role"));
  return [...new Set(roles.filter((role) => role !== ""))].sort();
}
