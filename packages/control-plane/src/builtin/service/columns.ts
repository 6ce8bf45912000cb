import type { Json, JsonObject } from "../../json.ts";
import { countAt, listAt, textAt, textsAt, valueAt } from "../../json-fields.ts";
import { orNone } from "../../table/cells.ts";
import { age, name } from "../../table/metadata-cells.ts";
import { formatLabels } from "../../table/selectors.ts";

export function serviceCells(of: JsonObject, now: number): Json[] {
  const ports = listAt(of, "spec", "ports").map((port) => {
    const nodePort = countAt(port, "nodePort");
    return `${countAt(port, "port")}${nodePort > 0 ? `:${nodePort}` : ""}/${textAt(port, "protocol")}`;
  });
  return [
    name(of),
    textAt(of, "spec", "type"),
    textsAt(of, "spec", "clusterIPs")[0] ?? "<none>",
    externalAddress(of),
    orNone(ports.join(",")),
    age(of, now),
    formatLabels(valueAt(of, "spec", "selector")),
  ];
}

function externalAddress(of: JsonObject): string {
  const external = textsAt(of, "spec", "externalIPs");
  switch (textAt(of, "spec", "type")) {
    case "ClusterIP":
    case "NodePort":
      return orNone(external.join(","));
    case "LoadBalancer":
      return [...balancerAddresses(of), ...external].join(",") || "<pending>";
    case "ExternalName":
      return textAt(of, "spec", "externalName");
    default:
      return "<unknown>";
  }
}

export function balancerAddresses(of: JsonObject): string[] {
  const addresses = listAt(of, "status", "loadBalancer", "ingress").map(
    (ingress) => textAt(ingress, "ip") || textAt(ingress, "hostname"),
  );
  return [...new Set(addresses.filter((address) => address !== ""))].sort();
}
