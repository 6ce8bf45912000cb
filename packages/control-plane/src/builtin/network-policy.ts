import type { NetworkPolicy } from "@windlass/kinds/builtin";
import type { Json, JsonObject } from "../json.ts";
import { field, hasAt, itemsAt, numberAt, objectAt, specOf, textAt, textsAt } from "../json-fields.ts";
import type { Strategy } from "../registry/strategy.ts";
import { partAt } from "../table/fields.ts";
import { age, name } from "../table/metadata-cells.ts";
import { formatSelector } from "../table/selectors.ts";
import { Faults } from "../validation/faults.ts";
import { ensure, fill } from "../validation/fill.ts";
import { cidr, parseCidr } from "../validation/names.ts";
import { checkSelector } from "../validation/selectors.ts";
import { cellsOf, type KindDeclaration } from "./declaration.ts";
import { checkPort } from "./pod/probes.ts";

const types = ["Ingress", "Egress"];

const networkPolicy: Strategy = {
  generation: true,
  setDefaults: (object) => {
    const spec = ensure(object, "spec");
    for (const rule of [...itemsAt(spec, "ingress"), ...itemsAt(spec, "egress")]) {
      for (const port of itemsAt(rule, "ports")) fill(port, { protocol: "TCP" });
    }
    if (textsAt(spec, "policyTypes").length === 0) {
      spec.policyTypes = itemsAt(spec, "egress").length > 0 ? ["Ingress", "Egress"] : ["Ingress"];
    }
  },
  validate: (object) => specFaults(object).causes,
  validateUpdate: (next) => specFaults(next).causes,
};

function specFaults(object: JsonObject): Faults {
  const faults = new Faults();
  const spec = specOf(object);
  checkSelector(faults, "spec.podSelector", objectAt(spec, "podSelector"));
  for (const [list, peers] of [
    ["ingress", "from"],
    ["egress", "to"],
  ] as const) {
    for (const [index, rule] of itemsAt(spec, list).entries()) {
      const at = `spec.${list}[${index}]`;
      for (const [place, port] of itemsAt(rule, "ports").entries())
        checkRulePort(faults, `${at}.ports[${place}]`, port);
      for (const [place, peer] of itemsAt(rule, peers).entries())
        checkPeer(faults, `${at}.${peers}[${place}]`, peer);
    }
  }
  const wanted = textsAt(spec, "policyTypes");
  if (wanted.length > 2) {
    faults.invalid("spec.policyTypes", wanted, "may not specify more than two policyTypes");
    return faults;
  }
  for (const [index, type] of wanted.entries()) faults.oneOf(`spec.policyTypes[${index}]`, type, types);
  return faults;
}

function checkRulePort(faults: Faults, at: string, port: JsonObject): void {
  const protocol = field(port, "protocol");
  if (typeof protocol === "string") faults.oneOf(`${at}.protocol`, protocol, ["TCP", "UDP", "SCTP"]);
  const value = field(port, "port");
  const end = numberAt(port, "endPort");
  if (value !== undefined && value !== null) {
    checkPort(faults, `${at}.port`, value);
    if (end === undefined) return;
    if (typeof value === "string") {
      faults.invalid(`${at}.endPort`, end, "may not be specified when `port` is non-numeric");
    } else if (end < Number(value)) {
      // The real server shows the port it is compared with.
      faults.invalid(`${at}.endPort`, value, "must be greater than or equal to `port`");
    }
  } else if (end !== undefined) {
    faults.invalid(`${at}.endPort`, end, "may not be specified when `port` is not specified");
  }
}

function checkPeer(faults: Faults, at: string, peer: JsonObject): void {
  let count = 0;
  for (const part of ["podSelector", "namespaceSelector"]) {
    if (!hasAt(peer, part)) continue;
    count++;
    checkSelector(faults, `${at}.${part}`, objectAt(peer, part));
  }
  if (hasAt(peer, "ipBlock")) {
    count++;
    checkBlock(faults, `${at}.ipBlock`, objectAt(peer, "ipBlock"));
  }
  if (count === 0) faults.required(at, "must specify a peer");
  else if (count > 1 && hasAt(peer, "ipBlock")) {
    faults.forbidden(at, "may not specify both ipBlock and another peer");
  }
}

function checkBlock(faults: Faults, at: string, block: JsonObject): void {
  const range = textAt(block, "cidr");
  if (range === "") {
    faults.required(`${at}.cidr`);
    return;
  }
  faults.each(`${at}.cidr`, range, cidr(range));
  const whole = parseCidr(range);
  if (!whole) return;
  for (const [index, exception] of textsAt(block, "except").entries()) {
    const path = `${at}.except[${index}]`;
    faults.each(path, exception, cidr(exception));
    const part = parseCidr(exception);
    if (!part) continue;
    const width = BigInt((whole.version === 4 ? 32 : 128) - whole.bits);
    const inside = part.version === whole.version && part.address >> width === whole.address >> width;
    if (!inside || part.bits <= whole.bits) {
      faults.invalid(path, exception, "must be a strict subset of `cidr`");
    }
  }
}

function networkPolicyCells(of: NetworkPolicy, now: number): Json[] {
  return [name(of), formatSelector(partAt(of, "spec", "podSelector")), age(of, now)];
}

export const networkPolicyKind = {
  group: "networking.k8s.io",
  kind: "NetworkPolicy",
  strategy: networkPolicy,
  cells: cellsOf(networkPolicyCells),
} satisfies KindDeclaration;
