import { equal, type JsonObject } from "../../json.ts";
import { field, itemsAt, numberAt, objectAt, specOf, statusOf, textAt, textsAt } from "../../json-fields.ts";
import type { Strategy } from "../../registry/strategy.ts";
import type { Cause } from "../../status.ts";
import type { Faults } from "../../validation/faults.ts";
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
    if (textAt(spec, "sessionAffinity") === "") spec.sessionAffinity = "None";
    if (spec.sessionAffinity === "None") delete spec.sessionAffinityConfig;
    else if (spec.sessionAffinity === "ClientIP") {
      fill(ensure(ensure(spec, "sessionAffinityConfig"), "clientIP"), { timeoutSeconds: 10_800 });
    }
    if (textAt(spec, "type") === "") spec.type = "ClusterIP";
    for (const port of itemsAt(spec, "ports")) {
      if (textAt(port, "protocol") === "") port.protocol = "TCP";
      const target = field(port, "targetPort");
      if (target === undefined || target === 0 || target === "")
        port.targetPort = numberAt(port, "port") ?? 0;
    }
    if (externallyAccessible(spec) && textAt(spec, "externalTrafficPolicy") === "") {
      spec.externalTrafficPolicy = "Cluster";
    }
    if (spec.type !== "ExternalName") fill(spec, { internalTrafficPolicy: "Cluster" });
    if (spec.type !== "LoadBalancer") return;
    fill(spec, { allocateLoadBalancerNodePorts: true });
    for (const ingress of itemsAt(objectAt(statusOf(object), "loadBalancer"), "ingress")) {
      if (textAt(ingress, "ip") !== "") fill(ingress, { ipMode: "VIP" });
    }
  },
  prepareCreate: (object, { subresource, warn }) => {
    object.status = {};
    const spec = specOf(object);
    if (
      subresource === undefined &&
      textAt(spec, "clusterIP") !== "" &&
      textsAt(spec, "clusterIPs").length === 0
    ) {
      spec.clusterIPs = [textAt(spec, "clusterIP")];
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
  // That a type cannot be headless is a fault of the type, reported at the address.
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
    if (textAt(spec, "loadBalancerIP") !== "") ignored("loadBalancerIP");
    if (textsAt(spec, "externalIPs").length > 0) ignored("externalIPs");
    if (textAt(spec, "sessionAffinity") !== "None") ignored("SessionAffinity");
  }
  if (textAt(spec, "type") !== "ExternalName" && textAt(spec, "externalName") !== "") {
    warn('spec.externalName is ignored when spec.type is not "ExternalName"');
  }
  if (textAt(spec, "trafficDistribution") === "PreferClose") {
    warn('spec.trafficDistribution: "PreferClose" is deprecated; use "PreferSameZone"');
  }
}

/**
 * The one address and the list of them are the same field twice: whichever was changed is meant.
 */
function syncAddresses(now: JsonObject, before: JsonObject): void {
  const [wanted, had] = [textAt(now, "clusterIP"), textAt(before, "clusterIP")];
  if (wanted === had) return;
  if (textsAt(now, "clusterIPs").length === 0 && wanted !== "") now.clusterIPs = [wanted];
  if (!equal(textsAt(now, "clusterIPs"), textsAt(before, "clusterIPs"))) return;
  if (wanted === "") delete now.clusterIPs;
  else now.clusterIPs = [wanted, ...textsAt(before, "clusterIPs").slice(1)];
}

/** An update that leaves out what was allocated keeps it. */
function keepAllocated(now: JsonObject, before: JsonObject): void {
  if (needsClusterIP(now) && needsClusterIP(before)) {
    if (textAt(now, "clusterIP") === "") put(now, "clusterIP", before.clusterIP);
    if (textsAt(now, "clusterIPs").length === 0 && textAt(now, "clusterIP") === textAt(before, "clusterIP")) {
      put(now, "clusterIPs", before.clusterIPs);
    }
    if (textAt(now, "ipFamilyPolicy") === "") put(now, "ipFamilyPolicy", before.ipFamilyPolicy);
  }
  if (needsNodePort(now) && needsNodePort(before)) keepNodePorts(now, before);
  if (needsHealthPort(now) && needsHealthPort(before) && !numberAt(now, "healthCheckNodePort")) {
    put(now, "healthCheckNodePort", before.healthCheckNodePort);
  }
}

function keepNodePorts(now: JsonObject, before: JsonObject): void {
  const held = (spec: JsonObject) => itemsAt(spec, "ports").map((port) => numberAt(port, "nodePort") ?? 0);
  const wanted = new Set(held(now));
  const used = new Set(held(before).filter((port) => port !== 0 && wanted.has(port)));
  const byName = new Map(
    itemsAt(before, "ports").map((port) => [textAt(port, "name"), numberAt(port, "nodePort") ?? 0]),
  );
  for (const port of itemsAt(now, "ports")) {
    const old = byName.get(textAt(port, "name")) ?? 0;
    if (numberAt(port, "nodePort") || old === 0 || used.has(old)) continue;
    port.nodePort = old;
    used.add(old);
  }
}

/** What only the old type had, and the update merely repeats, goes with that type. */
function dropDependents(now: JsonObject, before: JsonObject): void {
  const drop = (part: string) => {
    if (equal(field(now, part) ?? null, field(before, part) ?? null)) delete now[part];
  };
  if (needsClusterIP(before) && !needsClusterIP(now)) {
    for (const part of ["clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy", "internalTrafficPolicy"])
      drop(part);
  }
  if (needsNodePort(before) && !needsNodePort(now)) {
    const old = new Set(itemsAt(before, "ports").map((port) => numberAt(port, "nodePort") ?? 0));
    for (const port of itemsAt(now, "ports")) {
      if (old.has(numberAt(port, "nodePort") ?? 0)) delete port.nodePort;
    }
  }
  if (needsHealthPort(before) && !needsHealthPort(now)) drop("healthCheckNodePort");
  const balanced = (spec: JsonObject) => textAt(spec, "type") === "LoadBalancer";
  if (balanced(before) && !balanced(now)) {
    drop("allocateLoadBalancerNodePorts");
    drop("loadBalancerClass");
  }
  if (externallyAccessible(before) && !externallyAccessible(now)) drop("externalTrafficPolicy");
}
