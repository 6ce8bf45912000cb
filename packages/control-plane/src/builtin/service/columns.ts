import type { Json, JsonObject } from "../../json.ts";
import { at, list, number, orNone, text, texts } from "../../table/fields.ts";
import { age, name } from "../../table/metadata-cells.ts";
import { formatLabels } from "../../table/selectors.ts";

export function serviceCells(of: JsonObject, now: number): Json[] {
  const ports = list(of, "spec", "ports").map((port) => {
    const nodePort = number(port, "nodePort");
    return `${number(port, "port")}${nodePort > 0 ? `:${nodePort}` : ""}/${text(port, "protocol")}`;
  });
  return [
    name(of),
    text(of, "spec", "type"),
    texts(of, "spec", "clusterIPs")[0] ?? "<none>",
    externalAddress(of),
    orNone(ports.join(",")),
    age(of, now),
    formatLabels(at(of, "spec", "selector")),
  ];
}

function externalAddress(of: JsonObject): string {
  const external = texts(of, "spec", "externalIPs");
  switch (text(of, "spec", "type")) {
    case "ClusterIP":
    case "NodePort":
      return orNone(external.join(","));
    case "LoadBalancer":
      return [...balancerAddresses(of), ...external].join(",") || "<pending>";
    case "ExternalName":
      return text(of, "spec", "externalName");
    default:
      return "<unknown>";
  }
}

export function balancerAddresses(of: JsonObject): string[] {
  const addresses = list(of, "status", "loadBalancer", "ingress").map(
    (ingress) => text(ingress, "ip") || text(ingress, "hostname"),
  );
  return [...new Set(addresses.filter((address) => address !== ""))].sort();
}
