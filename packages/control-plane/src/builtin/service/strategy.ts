import { equal, type JsonObject } from "../../json.ts";
import type { Strategy } from "../../registry/strategy.ts";
import type { Cause } from "../../status.ts";
import type { Faults } from "../../validation/faults.ts";
import { child, items, number, own, specOf, statusOf, text, texts } from "../../validation/fields.ts";
import { ensure, fill, put } from "../../validation/fill.ts";
import {
  allocate,
  familyFaults,
  isHeadless,
  needsClusterIP,
  needsHealthPort,
  needsNodePort,
} from "./allocation.ts";
import {
  externallyAccessible,
  isHeadlessOfWrongType,
  loadBalancerFaults,
  serviceFaults,
  serviceUpdateFaults,
} from "./rules.ts";

export const service: Strategy = {
  names: "label1035",
  createOnUpdate: true,
  returnsDeleted: true,
  selectableFields: ["spec.clusterIP", "spec.type"],
  setDefaults: (object) => {
    const spec = ensure(object, "spec");
    if (text(spec, "sessionAffinity") === "") spec.sessionAffinity = "None";
    if (spec.sessionAffinity === "None") delete spec.sessionAffinityConfig;
    else if (spec.sessionAffinity === "ClientIP") {
      fill(ensure(ensure(spec, "sessionAffinityConfig"), "clientIP"), { timeoutSeconds: 10_800 });
    }
    if (text(spec, "type") === "") spec.type = "ClusterIP";
    for (const port of items(spec, "ports")) {
      if (text(port, "protocol") === "") port.protocol = "TCP";
      const target = own(port, "targetPort");
      if (target === undefined || target === 0 || target === "") port.targetPort = number(port, "port") ?? 0;
    }
    if (externallyAccessible(spec) && text(spec, "externalTrafficPolicy") === "") {
      spec.externalTrafficPolicy = "Cluster";
    }
    if (spec.type !== "ExternalName") fill(spec, { internalTrafficPolicy: "Cluster" });
    if (spec.type !== "LoadBalancer") return;
    fill(spec, { allocateLoadBalancerNodePorts: true });
    for (const ingress of items(child(statusOf(object), "loadBalancer"), "ingress")) {
      if (text(ingress, "ip") !== "") fill(ingress, { ipMode: "VIP" });
    }
  },
  prepareCreate: (object, { subresource, warn }) => {
    object.status = {};
    const spec = specOf(object);
    if (
      subresource === undefined &&
      text(spec, "clusterIP") !== "" &&
      texts(spec, "clusterIPs").length === 0
    ) {
      spec.clusterIPs = [text(spec, "clusterIP")];
    }
    warnings(spec, warn);
  },
  prepareUpdate: (next, live, { subresource, warn }) => {
    if (subresource === "status") return;
    const [now, before] = [specOf(next), specOf(live)];
    keepAllocated(now, before);
    syncAddresses(now, before);
    dropDependents(now, before);
    warnings(now, warn);
  },
  // Addresses are handed out last, as the real server does: what is refused for another reason
  // takes none.
  validate: (object, context) => {
    // A Service that is created through its status gets no allocations.
    if (context.subresource !== undefined) return serviceFaults(object, context.network).causes;
    const faults = familiesFirst(serviceFaults(object, context.network), specOf(object));
    if (faults.none) allocate(faults, object, undefined, context);
    return faults.causes;
  },
  validateUpdate: (next, live, context) => {
    if (context.subresource === "status") return loadBalancerFaults(next).causes;
    const faults = familiesFirst(serviceUpdateFaults(next, live, context.network), specOf(next));
    if (faults.none) allocate(faults, next, live, context);
    return faults.causes;
  },
};

/** Addresses are validated first, and their families once the addresses are valid. */
function familiesFirst(faults: Faults, spec: JsonObject): Faults {
  // That a type cannot be headless is said of the address, and is a fault of the type.
  const aboutType = isHeadlessOfWrongType(spec) ? "spec.clusterIPs[0]" : undefined;
  const isAboutAddresses = ({ field }: Cause) =>
    field !== aboutType && /^spec\.(clusterIP|ipFamil)/.test(field ?? "");
  if (faults.causes.some(isAboutAddresses)) return faults;
  const families = familyFaults(spec);
  return families.none ? faults : families;
}

function warnings(spec: JsonObject, warn: (text: string) => void): void {
  if (isHeadless(spec)) {
    const ignored = (part: string) => warn(`spec.${part} is ignored for headless services`);
    if (text(spec, "loadBalancerIP") !== "") ignored("loadBalancerIP");
    if (texts(spec, "externalIPs").length > 0) ignored("externalIPs");
    if (text(spec, "sessionAffinity") !== "None") ignored("SessionAffinity");
  }
  if (text(spec, "type") !== "ExternalName" && text(spec, "externalName") !== "") {
    warn('spec.externalName is ignored when spec.type is not "ExternalName"');
  }
  if (text(spec, "trafficDistribution") === "PreferClose") {
    warn('spec.trafficDistribution: "PreferClose" is deprecated; use "PreferSameZone"');
  }
}

/**
 * The one address and the list of them are the same field twice: whichever was changed is meant.
 */
function syncAddresses(now: JsonObject, before: JsonObject): void {
  const [wanted, had] = [text(now, "clusterIP"), text(before, "clusterIP")];
  if (wanted === had) return;
  if (texts(now, "clusterIPs").length === 0 && wanted !== "") now.clusterIPs = [wanted];
  if (!equal(texts(now, "clusterIPs"), texts(before, "clusterIPs"))) return;
  if (wanted === "") delete now.clusterIPs;
  else now.clusterIPs = [wanted, ...texts(before, "clusterIPs").slice(1)];
}

/** An update that leaves out what was allocated keeps it. */
function keepAllocated(now: JsonObject, before: JsonObject): void {
  if (needsClusterIP(now) && needsClusterIP(before)) {
    if (text(now, "clusterIP") === "") put(now, "clusterIP", before.clusterIP);
    if (texts(now, "clusterIPs").length === 0 && text(now, "clusterIP") === text(before, "clusterIP")) {
      put(now, "clusterIPs", before.clusterIPs);
    }
    if (text(now, "ipFamilyPolicy") === "") put(now, "ipFamilyPolicy", before.ipFamilyPolicy);
  }
  if (needsNodePort(now) && needsNodePort(before)) keepNodePorts(now, before);
  if (needsHealthPort(now) && needsHealthPort(before) && !number(now, "healthCheckNodePort")) {
    put(now, "healthCheckNodePort", before.healthCheckNodePort);
  }
}

function keepNodePorts(now: JsonObject, before: JsonObject): void {
  const held = (spec: JsonObject) => items(spec, "ports").map((port) => number(port, "nodePort") ?? 0);
  const wanted = new Set(held(now));
  const used = new Set(held(before).filter((port) => port !== 0 && wanted.has(port)));
  const byName = new Map(
    items(before, "ports").map((port) => [text(port, "name"), number(port, "nodePort") ?? 0]),
  );
  for (const port of items(now, "ports")) {
    const old = byName.get(text(port, "name")) ?? 0;
    if (number(port, "nodePort") || old === 0 || used.has(old)) continue;
    port.nodePort = old;
    used.add(old);
  }
}

/** What only the old type had, and the update merely repeats, goes with that type. */
function dropDependents(now: JsonObject, before: JsonObject): void {
  const drop = (part: string) => {
    if (equal(own(now, part) ?? null, own(before, part) ?? null)) delete now[part];
  };
  if (needsClusterIP(before) && !needsClusterIP(now)) {
    for (const part of ["clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy", "internalTrafficPolicy"])
      drop(part);
  }
  if (needsNodePort(before) && !needsNodePort(now)) {
    const old = new Set(items(before, "ports").map((port) => number(port, "nodePort") ?? 0));
    for (const port of items(now, "ports")) {
      if (old.has(number(port, "nodePort") ?? 0)) delete port.nodePort;
    }
  }
  if (needsHealthPort(before) && !needsHealthPort(now)) drop("healthCheckNodePort");
  const balanced = (spec: JsonObject) => text(spec, "type") === "LoadBalancer";
  if (balanced(before) && !balanced(now)) {
    drop("allocateLoadBalancerNodePorts");
    drop("loadBalancerClass");
  }
  if (externallyAccessible(before) && !externallyAccessible(now)) drop("externalTrafficPolicy");
}
