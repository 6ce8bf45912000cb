import type { Json, JsonObject } from "../json.ts";
import { since } from "./duration.ts";
import { at, list, number, orNone, shown, text, texts } from "./fields.ts";
import { formatLabels, formatSelector } from "./selectors.ts";

const name = (of: JsonObject) => text(of, "metadata", "name");
const age = (of: JsonObject, now: number) => since(text(of, "metadata", "creationTimestamp"), now);

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

function balancerAddresses(of: JsonObject): string[] {
  const addresses = list(of, "status", "loadBalancer", "ingress").map(
    (ingress) => text(ingress, "ip") || text(ingress, "hostname"),
  );
  return [...new Set(addresses.filter((address) => address !== ""))].sort();
}

export function ingressCells(of: JsonObject, now: number): Json[] {
  return [
    name(of),
    shown("<none>", of, "spec", "ingressClassName"),
    hosts(list(of, "spec", "rules")),
    balancerAddresses(of).join(","),
    list(of, "spec", "tls").length === 0 ? "80" : "80, 443",
    age(of, now),
  ];
}

function hosts(rules: readonly Json[]): string {
  const most = 3;
  const named = rules.map((rule) => text(rule, "host"));
  const shownHosts: string[] = [];
  let more = false;
  for (const host of named) {
    if (shownHosts.length === most) more = true;
    else if (host !== "") shownHosts.push(host);
  }
  if (shownHosts.length === 0) return "*";
  return shownHosts.join(",") + (more ? ` + ${rules.length - most} more...` : "");
}

export function ingressClassCells(of: JsonObject, now: number): Json[] {
  const parameters = at(of, "spec", "parameters");
  const group = shown("", parameters, "apiGroup");
  const reference = `${text(parameters, "kind")}${group === "" ? "" : `.${group}`}/${text(parameters, "name")}`;
  return [
    name(of),
    text(of, "spec", "controller"),
    parameters === undefined ? "<none>" : reference,
    age(of, now),
  ];
}

export function networkPolicyCells(of: JsonObject, now: number): Json[] {
  return [name(of), formatSelector(at(of, "spec", "podSelector") ?? {}), age(of, now)];
}

export function serviceCidrCells(of: JsonObject, now: number): Json[] {
  return [name(of), texts(of, "spec", "cidrs").join(","), age(of, now)];
}

export function ipAddressCells(of: JsonObject, now: number): Json[] {
  const parent = at(of, "spec", "parentRef");
  const group = text(parent, "group");
  const resource = `${text(parent, "resource")}${group === "" ? "" : `.${group}`}`.toLowerCase();
  const path = [resource, text(parent, "namespace"), text(parent, "name")].filter((part) => part !== "");
  // One cell more than there are columns, as the real server has it.
  return [name(of), parent === undefined ? "<none>" : path.join("/"), age(of, now)];
}

export function endpointSliceCells(of: JsonObject, now: number): Json[] {
  const ports = list(of, "ports").map((port) => shown(shown("*", port, "name"), port, "port"));
  const addresses = list(of, "endpoints").flatMap((endpoint) => texts(endpoint, "addresses"));
  return [
    name(of),
    text(of, "addressType"),
    withMore(ports) || "<unset>",
    withMore(addresses) || "<unset>",
    age(of, now),
  ];
}

export function endpointsCells(of: JsonObject, now: number): Json[] {
  const pairs = list(of, "subsets").flatMap((subset) => {
    const addresses = list(subset, "addresses").map((address) => text(address, "ip"));
    const ports = list(subset, "ports");
    if (ports.length === 0) return addresses;
    return ports.flatMap((port) => addresses.map((ip) => hostPort(ip, number(port, "port"))));
  });
  return [name(of), list(of, "subsets").length === 0 ? "<none>" : withMore(pairs), age(of, now)];
}

function hostPort(ip: string, port: number): string {
  return ip.includes(":") ? `[${ip}]:${port}` : `${ip}:${port}`;
}

function withMore(values: readonly string[]): string {
  const most = 3;
  const shownValues = values.slice(0, most).join(",");
  return values.length > most ? `${shownValues} + ${values.length - most} more...` : shownValues;
}
