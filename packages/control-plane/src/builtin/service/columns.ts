import type { Ingress, Service } from "@windlass/kinds/builtin";
import type { Json } from "../../json.ts";
import { orNone } from "../../table/cells.ts";
import { countAt, itemsAt, partAt, textAt, textsAt } from "../../table/fields.ts";
import { age, name } from "../../table/metadata-cells.ts";
import { formatLabels } from "../../table/selectors.ts";

export function serviceCells(of: Service, now: number): Json[] {
  const ports = itemsAt(of, "spec", "ports").map((port) => {
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
    formatLabels(partAt(of, "spec", "selector")),
  ];
}

function externalAddress(of: Service): string {
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

/** The addresses of a load balancer. */
export function balancerAddresses(of: Ingress | Service): string[] {
  const addresses = itemsAt(of, "status", "loadBalancer", "ingress").map(
    (ingress) => textAt(ingress, "ip") || textAt(ingress, "hostname"),
  );
  return [...new Set(addresses.filter((address) => address !== ""))].sort();
}
