import { append } from "../../append.ts";
import { equal, type JsonObject } from "../../json.ts";
import {
  field,
  hasAt,
  itemsAt,
  numberAt,
  objectAt,
  specOf,
  statusOf,
  textAt,
  textsAt,
} from "../../json-fields.ts";
import type { ServiceNetwork } from "../../registry/service-network.ts";
import { Faults, immutable } from "../../validation/faults.ts";
import {
  checkLabels,
  cidr,
  dnsLabel,
  dnsSubdomain,
  ipAddress,
  ipv4,
  ipv6,
  portNumber,
  qualifiedName,
} from "../../validation/names.ts";
import { checkPort } from "../pod/probes.ts";
import { isHeadless, needsHealthPort } from "./allocation.ts";

const types = ["ClusterIP", "ExternalName", "LoadBalancer", "NodePort"];
const protocols = ["SCTP", "TCP", "UDP"];
const policies = ["Cluster", "Local"];
const distributions = ["PreferClose", "PreferSameZone", "PreferSameNode"];
const day = 86_400;

/** Whether traffic may come from outside the cluster. */
export function externallyAccessible(spec: JsonObject): boolean {
  const type = textAt(spec, "type");
  return (
    type === "LoadBalancer" ||
    type === "NodePort" ||
    (type === "ClusterIP" && textsAt(spec, "externalIPs").length > 0)
  );
}

export function serviceFaults(object: JsonObject, network: ServiceNetwork): Faults {
  const faults = new Faults();
  const spec = specOf(object);
  const type = textAt(spec, "type");
  const ports = itemsAt(spec, "ports");
  if (ports.length === 0 && !isHeadless(spec) && type !== "ExternalName") faults.required("spec.ports");
  checkType(faults, spec, type);
  const names = new Set<string>();
  for (const [index, port] of ports.entries()) {
    checkServicePort(faults, `spec.ports[${index}]`, port, { named: ports.length > 1, names });
  }
  checkLabels(faults, "spec.selector", spec, "selector");
  checkAffinity(faults, spec);
  checkAddresses(faults, spec, type);
  for (const [index, ip] of textsAt(spec, "externalIPs").entries()) {
    const complaints = ipAddress(ip);
    faults.each(`spec.externalIPs[${index}]`, ip, complaints);
    if (complaints.length === 0) checkOrdinaryAddress(faults, `spec.externalIPs[${index}]`, ip, network);
  }
  if (type === "") faults.required("spec.type");
  else faults.oneOf("spec.type", type, types);
  for (const [index, port] of ports.entries()) {
    if (type === "ClusterIP" && numberAt(port, "nodePort")) {
      faults.forbidden(`spec.ports[${index}].nodePort`, "may not be used when `type` is 'ClusterIP'");
    }
  }
  checkDuplicatePorts(faults, ports);
  checkBalancer(faults, spec, type);
  checkTraffic(faults, spec, type);
  return faults;
}

/** Headless services have no address that a node port or load balancer could lead to. */
export function isHeadlessOfWrongType(spec: JsonObject): boolean {
  return isHeadless(spec) && ["LoadBalancer", "NodePort"].includes(textAt(spec, "type"));
}

function checkType(faults: Faults, spec: JsonObject, type: string): void {
  if (isHeadlessOfWrongType(spec)) {
    faults.invalid("spec.clusterIPs[0]", "None", `may not be set to 'None' for ${type} services`);
  }
  if (type !== "ExternalName") return;
  if (textsAt(spec, "clusterIPs").length > 0) {
    faults.forbidden("spec.clusterIPs", "may not be set for ExternalName services");
  }
  for (const part of ["ipFamilies", "ipFamilyPolicy"]) {
    if (hasAt(spec, part)) faults.forbidden(`spec.${part}`, "may not be set for ExternalName services");
  }
  const name = textAt(spec, "externalName").replace(/\.$/, "");
  if (name === "") faults.required("spec.externalName");
  else faults.each("spec.externalName", name, dnsSubdomain(name));
}

function checkServicePort(
  faults: Faults,
  at: string,
  port: JsonObject,
  known: { readonly named: boolean; readonly names: Set<string> },
): void {
  const name = textAt(port, "name");
  if (name === "") {
    if (known.named) faults.required(`${at}.name`);
  } else {
    faults.each(`${at}.name`, name, dnsLabel(name));
    if (known.names.has(name)) faults.duplicate(`${at}.name`, name);
    known.names.add(name);
  }
  const outside = numberAt(port, "port") ?? 0;
  faults.each(`${at}.port`, outside, portNumber(outside));
  const protocol = textAt(port, "protocol");
  if (protocol === "") faults.required(`${at}.protocol`);
  else faults.oneOf(`${at}.protocol`, protocol, protocols);
  checkPort(faults, `${at}.targetPort`, field(port, "targetPort"));
  const application = textAt(port, "appProtocol");
  if (application !== "") faults.each(`${at}.appProtocol`, application, qualifiedName(application));
}

function checkDuplicatePorts(faults: Faults, ports: readonly JsonObject[]): void {
  const seen = new Set<string>();
  for (const [index, port] of ports.entries()) {
    const [protocol, outside] = [textAt(port, "protocol"), numberAt(port, "port") ?? 0];
    const key = `${protocol}/${outside}`;
    if (seen.has(key)) {
      faults.duplicate(`spec.ports[${index}]`, {
        Name: "",
        Protocol: protocol,
        AppProtocol: null,
        Port: outside,
        TargetPort: 0,
        NodePort: 0,
      });
    }
    seen.add(key);
  }
}

function checkAffinity(faults: Faults, spec: JsonObject): void {
  const affinity = textAt(spec, "sessionAffinity");
  if (affinity === "") faults.required("spec.sessionAffinity");
  else faults.oneOf("spec.sessionAffinity", affinity, ["ClientIP", "None"]);
  const at = "spec.sessionAffinityConfig";
  if (affinity === "ClientIP") {
    const seconds = numberAt(objectAt(objectAt(spec, "sessionAffinityConfig"), "clientIP"), "timeoutSeconds");
    if (seconds === undefined) faults.required(`${at}.clientIP.timeoutSeconds`);
    else if (seconds <= 0 || seconds > day) {
      faults.invalid(`${at}.clientIP.timeoutSeconds`, seconds, `must be greater than 0 and less than ${day}`);
    }
  } else if (affinity === "None" && hasAt(spec, "sessionAffinityConfig")) {
    faults.forbidden(at, "must not be set when session affinity is None");
  }
}

function checkAddresses(faults: Faults, spec: JsonObject, type: string): void {
  if (type === "ExternalName") return;
  const families = textsAt(spec, "ipFamilies");
  for (const [index, family] of families.entries()) {
    faults.oneOf(`spec.ipFamilies[${index}]`, family, ["IPv4", "IPv6"]);
    if (families.indexOf(family) < index) faults.duplicate(`spec.ipFamilies[${index}]`, family);
  }
  if (hasAt(spec, "ipFamilyPolicy")) {
    faults.oneOf("spec.ipFamilyPolicy", textAt(spec, "ipFamilyPolicy"), [
      "PreferDualStack",
      "RequireDualStack",
      "SingleStack",
    ]);
  }
  const addresses = textsAt(spec, "clusterIPs");
  const single = textAt(spec, "clusterIP");
  if (single === "" && addresses.length > 0) {
    faults.invalid("spec.clusterIPs", addresses, "must be empty when `clusterIP` is not specified");
  } else if (single !== "" && addresses.length === 0) faults.required("spec.clusterIPs");
  else if (single !== "" && addresses[0] !== single) {
    faults.invalid("spec.clusterIPs", addresses, "first value must match `clusterIP`");
  }
  if (isHeadless(spec) && addresses.length > 1) {
    faults.invalid("spec.clusterIPs[1]", addresses[1], "no other value is allowed when 'None' is the first");
  }
  if (!faults.none) return;
  for (const [index, address] of addresses.entries()) {
    if (address === "None" && index === 0) continue;
    const complaints = ipAddress(address);
    faults.each(`spec.clusterIPs[${index}]`, address, complaints);
    const family = families[index];
    if (complaints.length > 0 || family === undefined) continue;
    if ((family === "IPv4" && !ipv4(address)) || (family === "IPv6" && !ipv6(address))) {
      faults.invalid(
        `spec.clusterIPs[${index}]`,
        address,
        `expected an ${family} value as indicated by \`ipFamilies[${index}]\``,
      );
    }
  }
  if (addresses.length > 2) {
    faults.invalid("spec.clusterIPs", addresses, "may only hold up to 2 values");
  }
}

/** Addresses that cannot be another machine's. */
export function checkOrdinaryAddress(faults: Faults, at: string, ip: string, network: ServiceNetwork): void {
  if (network.isLoopbackPod(ip)) return;
  if (ip === "0.0.0.0" || ip === "::") faults.invalid(at, ip, `may not be unspecified (${ip})`);
  if (ip.startsWith("127.") || ip === "::1") {
    faults.invalid(at, ip, "may not be in the loopback range (127.0.0.0/8, ::1/128)");
  }
  if (ip.startsWith("169.254.") || /^fe[89ab][0-9a-f]:/i.test(ip)) {
    faults.invalid(at, ip, "may not be in the link-local range (169.254.0.0/16, fe80::/10)");
  }
  if (ip.startsWith("224.0.0.") || /^ff02:/i.test(ip)) {
    faults.invalid(at, ip, "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)");
  }
}

function checkBalancer(faults: Faults, spec: JsonObject, type: string): void {
  const only = "may only be used when `type` is 'LoadBalancer'";
  const ranges = textsAt(spec, "loadBalancerSourceRanges");
  if (ranges.length > 0) {
    if (type !== "LoadBalancer") faults.forbidden("spec.LoadBalancerSourceRanges", only);
    for (const [index, range] of ranges.entries()) {
      const trimmed = range.trim();
      faults.each(`spec.LoadBalancerSourceRanges[${index}]`, range, cidr(trimmed));
    }
  }
  if (type === "LoadBalancer") {
    if (!hasAt(spec, "allocateLoadBalancerNodePorts")) faults.required("spec.allocateLoadBalancerNodePorts");
  } else if (hasAt(spec, "allocateLoadBalancerNodePorts")) {
    faults.forbidden("spec.allocateLoadBalancerNodePorts", only);
  }
  if (hasAt(spec, "loadBalancerClass")) {
    const name = textAt(spec, "loadBalancerClass");
    if (type !== "LoadBalancer") faults.forbidden("spec.loadBalancerClass", only);
    else faults.each("spec.loadBalancerClass", name, qualifiedName(name));
  }
}

function checkTraffic(faults: Faults, spec: JsonObject, type: string): void {
  const external = textAt(spec, "externalTrafficPolicy");
  if (!externallyAccessible(spec)) {
    if (external !== "") {
      faults.invalid(
        "spec.externalTrafficPolicy",
        external,
        "may only be set for externally-accessible services",
      );
    }
  } else if (external === "") faults.required("spec.externalTrafficPolicy");
  else faults.oneOf("spec.externalTrafficPolicy", external, policies);
  const health = numberAt(spec, "healthCheckNodePort") ?? 0;
  if (!needsHealthPort(spec)) {
    if (health !== 0) {
      faults.invalid(
        "spec.healthCheckNodePort",
        health,
        "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'",
      );
    }
  } else if (health !== 0) faults.each("spec.healthCheckNodePort", health, portNumber(health));
  if (type !== "ExternalName") {
    if (!hasAt(spec, "internalTrafficPolicy")) faults.required("spec.internalTrafficPolicy");
    else faults.oneOf("spec.internalTrafficPolicy", textAt(spec, "internalTrafficPolicy"), policies);
  }
  if (hasAt(spec, "trafficDistribution")) {
    faults.oneOf("spec.trafficDistribution", textAt(spec, "trafficDistribution"), distributions);
  }
}

export function serviceUpdateFaults(next: JsonObject, live: JsonObject, network: ServiceNetwork): Faults {
  const faults = new Faults();
  const [now, before] = [specOf(next), specOf(live)];
  const stays = textAt(now, "type") !== "ExternalName" && textAt(before, "type") !== "ExternalName";
  const [address, had] = [textsAt(now, "clusterIPs")[0], textsAt(before, "clusterIPs")[0]];
  if (stays && had !== undefined && had !== "None" && address !== had) {
    faults.invalid("spec.clusterIPs[0]", textsAt(now, "clusterIPs"), "may not change once set");
  }
  if (textAt(now, "type") === "LoadBalancer" && textAt(before, "type") === "LoadBalancer") {
    if (!equal(field(now, "loadBalancerClass"), field(before, "loadBalancerClass"))) {
      faults.invalid(
        "spec.loadBalancerClass",
        field(now, "loadBalancerClass") ?? null,
        "may not change once set",
      );
    }
  }
  if (needsHealthPort(now) && needsHealthPort(before)) {
    if (numberAt(now, "healthCheckNodePort") !== numberAt(before, "healthCheckNodePort")) {
      faults.forbidden("spec.healthCheckNodePort", immutable);
    }
  }
  append(faults.causes, serviceFaults(next, network).causes);
  return faults;
}

/** What a load balancer reports. */
export function loadBalancerFaults(object: JsonObject): Faults {
  const faults = new Faults();
  const at = "status.loadBalancer.ingress";
  const entries = itemsAt(objectAt(statusOf(object), "loadBalancer"), "ingress");
  if (entries.length > 0 && textAt(specOf(object), "type") !== "LoadBalancer") {
    faults.forbidden(at, "may only be used when `spec.type` is 'LoadBalancer'");
    return faults;
  }
  checkIngressPoints(faults, at, entries);
  for (const [index, entry] of entries.entries()) {
    if (hasAt(entry, "ipMode") && textAt(entry, "ip") === "") {
      faults.forbidden(`${at}[${index}].ipMode`, "may not be specified when `ip` is not set");
    } else if (hasAt(entry, "ipMode")) {
      faults.oneOf(`${at}[${index}].ipMode`, textAt(entry, "ipMode"), ["Proxy", "VIP"]);
    } else if (textAt(entry, "ip") !== "") {
      faults.required(`${at}[${index}].ipMode`, "must be specified when `ip` is set");
    }
  }
  return faults;
}

/** Addresses and names that something listens at, of Services and Ingresses alike. */
export function checkIngressPoints(faults: Faults, at: string, entries: readonly JsonObject[]): void {
  for (const [index, entry] of entries.entries()) {
    const ip = textAt(entry, "ip");
    if (ip !== "") faults.each(`${at}[${index}].ip`, ip, ipAddress(ip));
    const host = textAt(entry, "hostname");
    if (host === "") continue;
    faults.each(`${at}[${index}].hostname`, host, dnsSubdomain(host));
    if (ipAddress(host).length === 0) {
      faults.invalid(`${at}[${index}].hostname`, host, "must be a DNS name, not an IP address");
    }
  }
}
