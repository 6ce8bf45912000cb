import type { JsonObject } from "../../json.ts";
import {
  field,
  hasAt,
  itemsAt,
  metadataOf,
  numberAt,
  objectAt,
  specOf,
  statusOf,
  textAt,
  textsAt,
} from "../../json-fields.ts";
import type { Strategy } from "../../registry/strategy.ts";
import { Faults, immutable } from "../../validation/faults.ts";
import { ensure } from "../../validation/fill.ts";
import {
  dnsLabel,
  dnsLabel1035,
  dnsSubdomain,
  domainPrefixedPath,
  ipAddress,
  pathSegment,
  portName,
  portNumber,
  wildcardHost,
} from "../../validation/names.ts";
import { checkIngressPoints } from "../service/rules.ts";

const classAnnotation = "kubernetes.io/ingress.class";

export const ingress: Strategy = {
  generation: true,
  prepareCreate: (object, { warn }) => {
    object.status = {};
    if (hasAt(objectAt(metadataOf(object), "annotations"), classAnnotation)) {
      warn(`annotation "${classAnnotation}" is deprecated, please use 'spec.ingressClassName' instead`);
    }
  },
  validate: (object) => {
    const faults = specFaults(object);
    const annotation = textAt(objectAt(metadataOf(object), "annotations"), classAnnotation);
    const named = textAt(specOf(object), "ingressClassName");
    if (annotation !== "" && named !== "" && annotation !== named) {
      faults.invalid(
        `annotations.${classAnnotation}`,
        annotation,
        "must match `ingressClassName` when both are specified",
      );
    }
    return faults.causes;
  },
  validateUpdate: (next, _live, { subresource }) => {
    if (subresource !== "status") return specFaults(next).causes;
    const faults = new Faults();
    const entries = itemsAt(objectAt(statusOf(next), "loadBalancer"), "ingress");
    checkIngressPoints(faults, "status.loadBalancer.ingress", entries);
    return faults.causes;
  },
};

function specFaults(object: JsonObject): Faults {
  const faults = new Faults();
  const spec = specOf(object);
  const rules = itemsAt(spec, "rules");
  if (rules.length === 0 && !hasAt(spec, "defaultBackend")) {
    faults.invalid("spec", null, "either `defaultBackend` or `rules` must be specified");
  }
  if (hasAt(spec, "defaultBackend"))
    checkBackend(faults, "spec.defaultBackend", objectAt(spec, "defaultBackend"));
  for (const [index, rule] of rules.entries()) checkRule(faults, `spec.rules[${index}]`, rule);
  for (const [index, tls] of itemsAt(spec, "tls").entries()) checkTls(faults, `spec.tls[${index}]`, tls);
  if (hasAt(spec, "ingressClassName")) {
    const name = textAt(spec, "ingressClassName");
    faults.each("spec.ingressClassName", name, dnsSubdomain(name));
  }
  return faults;
}

function checkRule(faults: Faults, at: string, rule: JsonObject): void {
  const host = textAt(rule, "host");
  if (host !== "") {
    if (ipAddress(host).length === 0) {
      faults.invalid(`${at}.host`, host, "must be a DNS name, not an IP address");
    }
    faults.each(`${at}.host`, host, host.includes("*") ? wildcardHost(host) : dnsSubdomain(host));
  }
  if (!hasAt(rule, "http")) return;
  const paths = itemsAt(objectAt(rule, "http"), "paths");
  if (paths.length === 0) faults.required(`${at}.http.paths`);
  for (const [index, path] of paths.entries()) checkPath(faults, `${at}.http.paths[${index}]`, path);
}

const invalidSequences = ["//", "/./", "/../", "%2f", "%2F"];

const invalidSuffixes = ["/..", "/."];

const pathTypes = ["Exact", "ImplementationSpecific", "Prefix"];

function checkPath(faults: Faults, at: string, entry: JsonObject): void {
  const path = textAt(entry, "path");
  const type = field(entry, "pathType");
  if (type === undefined || type === null) {
    faults.required(`${at}.pathType`, "pathType must be specified");
    return;
  }
  switch (type) {
    case "Exact":
    case "Prefix":
      if (!path.startsWith("/")) faults.invalid(`${at}.path`, path, "must be an absolute path");
      if (path !== "") {
        for (const sequence of invalidSequences) {
          if (path.includes(sequence)) faults.invalid(`${at}.path`, path, `must not contain '${sequence}'`);
        }
        for (const suffix of invalidSuffixes) {
          if (path.endsWith(suffix)) faults.invalid(`${at}.path`, path, `cannot end with '${suffix}'`);
        }
      }
      break;
    case "ImplementationSpecific":
      if (path !== "" && !path.startsWith("/"))
        faults.invalid(`${at}.path`, path, "must be an absolute path");
      break;
    default:
      faults.unsupported(`${at}.pathType`, type, pathTypes);
  }
  checkBackend(faults, `${at}.backend`, objectAt(entry, "backend"));
}

function checkBackend(faults: Faults, at: string, backend: JsonObject): void {
  const [byService, byResource] = [hasAt(backend, "service"), hasAt(backend, "resource")];
  if (byService && byResource) {
    faults.invalid(at, "", "cannot set both resource and service backends");
    return;
  }
  if (byResource) {
    const resource = objectAt(backend, "resource");
    for (const part of ["kind", "name"]) {
      const value = textAt(resource, part);
      if (value === "") faults.required(`${at}.resource.${part}`);
      else faults.each(`${at}.resource.${part}`, value, pathSegment(value));
    }
    return;
  }
  if (!byService) {
    faults.invalid(at, "", "resource or service backend is required");
    return;
  }
  const service = objectAt(backend, "service");
  const name = textAt(service, "name");
  if (name === "") faults.required(`${at}.service.name`);
  else faults.each(`${at}.service.name`, name, dnsLabel1035(name));
  const port = objectAt(service, "port");
  const [portNamed, portNumbered] = [textAt(port, "name"), numberAt(port, "number") ?? 0];
  if (portNamed !== "" && portNumbered !== 0)
    faults.invalid(at, "", "cannot set both port name & port number");
  else if (portNamed !== "") faults.each(`${at}.service.port.name`, portNamed, portName(portNamed));
  else if (portNumbered !== 0)
    faults.each(`${at}.service.port.number`, portNumbered, portNumber(portNumbered));
  else faults.required(at, "port name or number is required");
}

function checkTls(faults: Faults, at: string, tls: JsonObject): void {
  for (const [index, host] of textsAt(tls, "hosts").entries()) {
    faults.each(`${at}.hosts[${index}]`, host, host.includes("*") ? wildcardHost(host) : dnsSubdomain(host));
  }
  const secret = textAt(tls, "secretName");
  if (secret !== "") faults.each(`${at}.secretName`, secret, dnsSubdomain(secret));
}

export const ingressClass: Strategy = {
  generation: true,
  setDefaults: (object) => {
    const spec = ensure(object, "spec");
    const parameters = objectAt(spec, "parameters");
    if (hasAt(spec, "parameters") && !hasAt(parameters, "scope")) parameters.scope = "Cluster";
  },
  validate: (object) => classFaults(object).causes,
  validateUpdate: (next, live) => {
    const faults = classFaults(next);
    const controller = textAt(specOf(next), "controller");
    if (controller !== textAt(specOf(live), "controller"))
      faults.invalid("spec.controller", controller, immutable);
    return faults.causes;
  },
};

function classFaults(object: JsonObject): Faults {
  const faults = new Faults();
  const spec = specOf(object);
  const controller = textAt(spec, "controller");
  if (controller.length > 250) faults.tooLong("spec.controller", 250);
  domainPrefixedPath(faults, "spec.controller", controller);
  if (!hasAt(spec, "parameters")) return faults;
  const parameters = objectAt(spec, "parameters");
  const at = "spec.parameters";
  for (const part of ["kind", "name"]) {
    const value = textAt(parameters, part);
    if (value === "") faults.required(`${at}.${part}`);
    else faults.each(`${at}.${part}`, value, pathSegment(value));
  }
  const scope = textAt(parameters, "scope");
  faults.oneOf(`${at}.scope`, scope, ["Cluster", "Namespace"]);
  const namespace = textAt(parameters, "namespace");
  if (scope === "Namespace") {
    if (namespace === "") faults.required(`${at}.namespace`, "`parameters.scope` is set to 'Namespace'");
    else faults.each(`${at}.namespace`, namespace, dnsLabel(namespace));
  } else if (scope === "Cluster" && hasAt(parameters, "namespace")) {
    faults.forbidden(`${at}.namespace`, "`parameters.scope` is set to 'Cluster'");
  }
  return faults;
}
