import type { Random } from "@windlass/clock";
import type { Json, JsonObject } from "../../json.ts";
import { hasAt, itemsAt, metadataOf, numberAt, specOf, textAt, textsAt } from "../../json-fields.ts";
import { type Allocations, addressAt, type ServiceNetwork } from "../../registry/service-network.ts";
import { Faults } from "../../validation/faults.ts";
import { addressNumber, ipv4 } from "../../validation/names.ts";

const nodePortRange = { least: 30_000, most: 32_767 } as const;

export const needsClusterIP = (spec: JsonObject): boolean => textAt(spec, "type") !== "ExternalName";
export const isHeadless = (spec: JsonObject): boolean => textsAt(spec, "clusterIPs")[0] === "None";
export const needsHealthPort = (spec: JsonObject): boolean =>
  textAt(spec, "type") === "LoadBalancer" && textAt(spec, "externalTrafficPolicy") === "Local";

/** Whether ports of the nodes are wanted for a Service's own. */
export function needsNodePort(spec: JsonObject): boolean {
  const type = textAt(spec, "type");
  return type === "NodePort" || (type === "LoadBalancer" && spec.allocateLoadBalancerNodePorts !== false);
}

/**
 * Gives a valid Service its address and its node ports, or says why it cannot have those it asks
 * for.
 *
 * @param live what is stored, whose own addresses and ports are not in the way
 */
export function allocate(
  faults: Faults,
  object: JsonObject,
  live: JsonObject | undefined,
  { network, random }: { readonly network: ServiceNetwork; readonly random: Random },
): void {
  const held = network.allocations;
  const spec = specOf(object);
  const before = live ? specOf(live) : {};
  if (needsClusterIP(spec)) {
    chooseFamilies(spec, before);
    // What came without an address, by way of its status, stays without.
    const lacksOne =
      live !== undefined && needsClusterIP(before) && textsAt(before, "clusterIPs").length === 0;
    if (!isHeadless(spec) && !lacksOne) chooseAddress(faults, object, before, held, random);
  }
  choosePorts(faults, spec, before, held, random);
}

function isSelectorless(spec: JsonObject): boolean {
  return isHeadless(spec) && Object.keys((spec.selector as JsonObject | undefined) ?? {}).length === 0;
}

/** The cluster has one family of addresses; only what needs no address may ask for two. */
export function familyFaults(spec: JsonObject): Faults {
  const faults = new Faults();
  if (!needsClusterIP(spec) || isSelectorless(spec)) return faults;
  const policy = textAt(spec, "ipFamilyPolicy");
  if (policy === "RequireDualStack") {
    faults.invalid("spec.ipFamilyPolicy", policy, "this cluster is not configured for dual-stack services");
  }
  for (const [index, family] of textsAt(spec, "ipFamilies").entries()) {
    if (family === "IPv4") continue;
    faults.invalid(`spec.ipFamilies[${index}]`, family, "not configured on this cluster");
  }
  return faults;
}

function chooseFamilies(spec: JsonObject, before: JsonObject): void {
  const selectorless = isSelectorless(spec);
  if (textsAt(spec, "ipFamilies").length === 0 && textsAt(before, "ipFamilies").length > 0) {
    spec.ipFamilies = textsAt(before, "ipFamilies");
  }
  const families = textsAt(spec, "ipFamilies");
  const policy = textAt(spec, "ipFamilyPolicy");
  if (selectorless) {
    if (policy === "") spec.ipFamilyPolicy = families.length === 1 ? "SingleStack" : "RequireDualStack";
    if (families.length === 0) {
      spec.ipFamilies = spec.ipFamilyPolicy === "SingleStack" ? ["IPv4"] : ["IPv4", "IPv6"];
    }
    return;
  }
  if (policy === "") spec.ipFamilyPolicy = "SingleStack";
  if (families.length === 0) spec.ipFamilies = ["IPv4"];
}

function chooseAddress(
  faults: Faults,
  object: JsonObject,
  before: JsonObject,
  held: Allocations,
  random: Random,
): void {
  const spec = specOf(object);
  const [asked] = textsAt(spec, "clusterIPs");
  if (asked === undefined || asked === "") {
    const chosen = freeAddress(held, random);
    spec.clusterIP = chosen;
    spec.clusterIPs = [chosen];
    return;
  }
  if (textsAt(before, "clusterIPs").includes(asked)) return;
  const why = !inRange(asked, held)
    ? "the provided network does not match the current range"
    : held.holdsAddress(asked) || (asked === held.range.first && !isApiServer(object))
      ? "provided IP is already allocated"
      : undefined;
  if (why !== undefined) {
    faults.invalid("spec.clusterIPs", textsAt(spec, "clusterIPs"), `failed to allocate IP ${asked}: ${why}`);
  }
}

/** The Service that the first address is kept for. */
function isApiServer(object: JsonObject): boolean {
  const { namespace, name } = metadataOf(object);
  return namespace === "default" && name === "kubernetes";
}

function inRange(address: string, { range }: Allocations): boolean {
  if (!ipv4(address)) return false;
  const value = addressNumber(address);
  return value >= addressNumber(range.first) && value <= addressNumber(range.last);
}

function freeAddress(held: Allocations, random: Random): string {
  const { first, size } = held.range;
  const lowest = Number(addressNumber(first));
  const start = Math.floor(random.next() * size);
  for (let step = 0; step < size; step++) {
    const address = addressAt(lowest + ((start + step) % size));
    if (address !== first && !held.holdsAddress(address)) return address;
  }
  throw new Error("every address of the service range is taken");
}

function choosePorts(
  faults: Faults,
  spec: JsonObject,
  before: JsonObject,
  held: Allocations,
  random: Random,
): void {
  const own = new Set(
    itemsAt(before, "ports").map((port) => `${textAt(port, "protocol")}/${numberAt(port, "nodePort") ?? 0}`),
  );
  const taken = new Set<string>();
  const takenAtAll = new Set<number>();
  const take = (port: number, protocol: string) => {
    taken.add(`${protocol}/${port}`);
    takenAtAll.add(port);
  };
  const free = (port: number, protocol: string) => {
    const key = `${protocol}/${port}`;
    return !taken.has(key) && (own.has(key) || !held.holdsPort(port, protocol));
  };
  const wanted = needsNodePort(spec);
  // One number serves both protocols of a port such as DNS: the first that has one.
  const shared = new Map<Json | undefined, JsonObject>();
  const numbered = (port: JsonObject) => {
    if (!shared.has(port.port)) shared.set(port.port, port);
  };
  for (const port of itemsAt(spec, "ports")) if (hasAt(port, "nodePort")) numbered(port);
  for (const [index, port] of itemsAt(spec, "ports").entries()) {
    const protocol = textAt(port, "protocol");
    const asked = numberAt(port, "nodePort") ?? 0;
    if (asked !== 0) {
      checkPort(faults, `spec.ports[${index}].nodePort`, asked, free(asked, protocol));
      take(asked, protocol);
    } else if (wanted) {
      const twin = shared.get(port.port);
      const twins = twin && twin !== port ? (numberAt(twin, "nodePort") ?? 0) : 0;
      const chosen = twins !== 0 && free(twins, protocol) ? twins : freePort(held, random, takenAtAll);
      port.nodePort = chosen;
      numbered(port);
      take(chosen, protocol);
    }
  }
  if (!needsHealthPort(spec)) return;
  const health = numberAt(spec, "healthCheckNodePort") ?? 0;
  if (health === 0) spec.healthCheckNodePort = freePort(held, random, takenAtAll);
  else if (health !== numberAt(before, "healthCheckNodePort")) {
    checkPort(faults, "spec.healthCheckNodePort", health, free(health, "TCP"));
  }
}

function checkPort(faults: Faults, at: string, port: number, free: boolean): void {
  const { least, most } = nodePortRange;
  if (port < least || port > most) {
    faults.invalid(
      at,
      port,
      `provided port is not in the valid range. The range of valid ports is ${least}-${most}`,
    );
  } else if (!free) faults.invalid(at, port, "provided port is already allocated");
}

function freePort(held: Allocations, random: Random, taken: ReadonlySet<number>): number {
  const { least, most } = nodePortRange;
  const size = most - least + 1;
  const start = Math.floor(random.next() * size);
  for (let step = 0; step < size; step++) {
    const port = least + ((start + step) % size);
    if (!taken.has(port) && !held.holdsPortAtAll(port)) return port;
  }
  throw new Error("every node port is taken");
}
