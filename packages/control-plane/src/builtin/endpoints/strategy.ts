import type { JsonObject } from "../../json.ts";
import { hasAt, itemsAt, numberAt, textAt } from "../../json-fields.ts";
import type { ServiceNetwork } from "../../registry/service-network.ts";
import type { Strategy } from "../../registry/strategy.ts";
import { Faults } from "../../validation/faults.ts";
import { dnsLabel, dnsSubdomain, ipAddress, portNumber, qualifiedName } from "../../validation/names.ts";
import { checkOrdinaryAddress } from "../service/rules.ts";

export const endpoints: Strategy = {
  createOnUpdate: true,
  deprecation: "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice",
  setDefaults: (object) => {
    for (const subset of itemsAt(object, "subsets")) {
      for (const port of itemsAt(subset, "ports")) if (textAt(port, "protocol") === "") port.protocol = "TCP";
    }
  },
  validate: (object, { network }) => endpointsFaults(object, network).causes,
  validateUpdate: (next, _live, { network }) => endpointsFaults(next, network).causes,
};

function endpointsFaults(object: JsonObject, network: ServiceNetwork): Faults {
  const faults = new Faults();
  for (const [index, subset] of itemsAt(object, "subsets").entries()) {
    const at = `subsets[${index}]`;
    const [ready, waiting] = [itemsAt(subset, "addresses"), itemsAt(subset, "notReadyAddresses")];
    if (ready.length === 0 && waiting.length === 0) {
      faults.required(at, "must specify `addresses` or `notReadyAddresses`");
    }
    for (const [place, address] of ready.entries())
      checkAddress(faults, `${at}.addresses[${place}]`, address, network);
    for (const [place, address] of waiting.entries()) {
      checkAddress(faults, `${at}.notReadyAddresses[${place}]`, address, network);
    }
    const ports = itemsAt(subset, "ports");
    for (const [place, port] of ports.entries()) {
      checkEndpointPort(faults, `${at}.ports[${place}]`, port, ports.length > 1);
    }
  }
  return faults;
}

function checkAddress(faults: Faults, at: string, address: JsonObject, network: ServiceNetwork): void {
  const ip = textAt(address, "ip");
  const complaints = ipAddress(ip);
  faults.each(`${at}.ip`, ip, complaints);
  if (complaints.length > 0) faults.invalid(`${at}.ip`, ip, "must be a valid IP address");
  else checkOrdinaryAddress(faults, `${at}.ip`, ip, network);
  const host = textAt(address, "hostname");
  if (host !== "") faults.each(`${at}.hostname`, host, dnsLabel(host));
  if (hasAt(address, "nodeName"))
    faults.each(`${at}.nodeName`, textAt(address, "nodeName"), dnsSubdomain(textAt(address, "nodeName")));
}

function checkEndpointPort(faults: Faults, at: string, port: JsonObject, named: boolean): void {
  const name = textAt(port, "name");
  if (named && name === "") faults.required(`${at}.name`);
  else if (name !== "") faults.each(`${at}.name`, name, dnsLabel(name));
  const value = numberAt(port, "port") ?? 0;
  faults.each(`${at}.port`, value, portNumber(value));
  const protocol = textAt(port, "protocol");
  if (protocol === "") faults.required(`${at}.protocol`);
  else faults.oneOf(`${at}.protocol`, protocol, ["SCTP", "TCP", "UDP"]);
  const application = textAt(port, "appProtocol");
  if (application !== "") faults.each(`${at}.appProtocol`, application, qualifiedName(application));
}
