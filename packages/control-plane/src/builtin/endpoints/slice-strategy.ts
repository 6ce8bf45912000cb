import { equal, type JsonObject } from "../../json.ts";
import { field, hasAt, itemsAt, metadataOf, numberAt, objectAt, textAt, textsAt } from "../../json-fields.ts";
import type { ServiceNetwork } from "../../registry/service-network.ts";
import type { Strategy } from "../../registry/strategy.ts";
import { Faults, immutable } from "../../validation/faults.ts";
import { fill } from "../../validation/fill.ts";
import {
  dnsLabel,
  dnsSubdomain,
  ipAddress,
  ipv4,
  ipv6,
  labelText,
  portNumber,
  qualifiedName,
} from "../../validation/names.ts";
import { checkOrdinaryAddress } from "../service/rules.ts";

const most = { endpoints: 1000, ports: 20_000, addresses: 100, zones: 8 } as const;

export const endpointSlice: Strategy = {
  generation: true,
  setDefaults: (object) => {
    for (const port of itemsAt(object, "ports")) fill(port, { name: "", protocol: "TCP" });
  },
  prepareCreate: (object, { warn }) => {
    if (textAt(object, "addressType") === "FQDN") warn("spec.addressType: FQDN endpoints are deprecated");
  },
  validate: (object, { network }) => sliceFaults(object, network).causes,
  validateUpdate: (next, live, { network }) => {
    // Endpoints that were there before are not validated again.
    const known = equal(field(next, "endpoints"), field(live, "endpoints"));
    const faults = sliceFaults(known ? { ...next, endpoints: [] } : next, network);
    if (textAt(next, "addressType") !== textAt(live, "addressType")) {
      faults.invalid("addressType", textAt(next, "addressType"), immutable);
    }
    return faults.causes;
  },
  specChanged: (next, live) => !equal(counted(next), counted(live)),
};

/**
 * Everything but metadata counts, and of metadata the labels do: they say whose endpoints these
 * are.
 */
function counted(object: JsonObject): JsonObject {
  const { metadata: _metadata, ...rest } = object;
  return { ...rest, labels: objectAt(metadataOf(object), "labels") };
}

function sliceFaults(object: JsonObject, network: ServiceNetwork): Faults {
  const faults = new Faults();
  const type = textAt(object, "addressType");
  if (type === "") faults.required("addressType");
  else faults.oneOf("addressType", type, ["FQDN", "IPv4", "IPv6"]);
  const entries = itemsAt(object, "endpoints");
  if (entries.length > most.endpoints) faults.tooMany("endpoints", entries.length, most.endpoints);
  for (const [index, endpoint] of entries.entries())
    checkEndpoint(faults, `endpoints[${index}]`, endpoint, type, network);
  const names = new Set<string>();
  for (const [index, port] of itemsAt(object, "ports").entries())
    checkPort(faults, `ports[${index}]`, port, names);
  return faults;
}

function checkEndpoint(
  faults: Faults,
  at: string,
  endpoint: JsonObject,
  type: string,
  network: ServiceNetwork,
): void {
  const addresses = textsAt(endpoint, "addresses");
  if (addresses.length === 0) faults.required(`${at}.addresses`, "must contain at least 1 address");
  else if (addresses.length > most.addresses)
    faults.tooMany(`${at}.addresses`, addresses.length, most.addresses);
  for (const [index, address] of addresses.entries()) {
    checkAddress(
      faults,
      { list: `${at}.addresses`, one: `${at}.addresses[${index}]` },
      address,
      type,
      network,
    );
  }
  const node = field(endpoint, "nodeName");
  if (typeof node === "string") faults.each(`${at}.nodeName`, node, dnsSubdomain(node));
  const zone = field(endpoint, "zone");
  if (typeof zone === "string") faults.each(`${at}.zone`, zone, labelText(zone));
  if (hasAt(endpoint, "hostname"))
    faults.each(`${at}.hostname`, textAt(endpoint, "hostname"), dnsLabel(textAt(endpoint, "hostname")));
  const zones = itemsAt(objectAt(endpoint, "hints"), "forZones");
  if (zones.length > most.zones) faults.tooMany(`${at}.hints.forZones`, zones.length, most.zones);
  const seen = new Set<string>();
  for (const [index, hint] of zones.entries()) {
    const name = textAt(hint, "name");
    if (seen.has(name)) faults.duplicate(`${at}.hints.forZones[${index}].name`, name);
    seen.add(name);
    faults.each(`${at}.hints.forZones[${index}].name`, name, labelText(name));
  }
}

/** The real server names the list in some complaints and the item in others. */
function checkAddress(
  faults: Faults,
  at: { readonly list: string; readonly one: string },
  address: string,
  type: string,
  network: ServiceNetwork,
): void {
  if (type === "FQDN") {
    faults.each(at.one, address, dnsSubdomain(address));
    return;
  }
  if (type !== "IPv4" && type !== "IPv6") return;
  const complaints = ipAddress(address);
  faults.each(at.one, address, complaints);
  if (complaints.length > 0) return;
  if (type === "IPv4" && !ipv4(address)) faults.invalid(at.list, address, "must be an IPv4 address");
  if (type === "IPv6" && !ipv6(address)) faults.invalid(at.list, address, "must be an IPv6 address");
  checkOrdinaryAddress(faults, at.one, address, network);
}

function checkPort(faults: Faults, at: string, port: JsonObject, names: Set<string>): void {
  const name = textAt(port, "name");
  if (names.has(name)) faults.duplicate(`${at}.name`, name);
  names.add(name);
  if (name !== "") faults.each(`${at}.name`, name, dnsLabel(name));
  if (!hasAt(port, "protocol")) faults.required(`${at}.protocol`);
  else faults.oneOf(`${at}.protocol`, textAt(port, "protocol"), ["SCTP", "TCP", "UDP"]);
  const value = numberAt(port, "port");
  if (value !== undefined) faults.each(`${at}.port`, value, portNumber(value));
  const application = textAt(port, "appProtocol");
  if (application !== "") faults.each(`${at}.appProtocol`, application, qualifiedName(application));
}
