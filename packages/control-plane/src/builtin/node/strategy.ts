import { clone, equal, identityText, type JsonObject } from "../../json.ts";
import type { Strategy } from "../../registry/strategy.ts";
import { Faults } from "../../validation/faults.ts";
import { child, has, items, own, specOf, statusOf, text, texts } from "../../validation/fields.ts";
import { cidr, labelText, qualifiedName } from "../../validation/names.ts";

const effects = ["NoSchedule", "PreferNoSchedule", "NoExecute"];

export const node: Strategy = {
  selectableFields: ["spec.unschedulable"],
  setDefaults: (object) => {
    const spec = specOf(object);
    const [single, list] = [text(spec, "podCIDR"), texts(spec, "podCIDRs")];
    if (single !== "" && list[0] !== single) spec.podCIDRs = [single];
    else if (single === "" && list[0] !== undefined) spec.podCIDR = list[0];
    const status = statusOf(object);
    if (has(status, "capacity") && !has(status, "allocatable")) {
      status.allocatable = clone(child(status, "capacity"));
    }
  },
  validate: (object) => nodeFaults(object).causes,
  validateUpdate: (next, live, { subresource }) => {
    if (subresource === "status") return statusFaults(next).causes;
    const faults = nodeFaults(next);
    const [now, before] = [specOf(next), specOf(live)];
    for (const [part, shown] of [
      ["podCIDRs", "podCIDR"],
      ["providerID", "providerID"],
    ] as const) {
      const had = own(before, part);
      if (had !== undefined && !equal(had, own(now, part))) {
        faults.forbidden(`spec.${part}`, `node updates may not change ${shown} except from "" to valid`);
      }
    }
    return faults.causes;
  },
};

function statusFaults(object: JsonObject): Faults {
  const faults = new Faults();
  const seen = new Set<string>();
  for (const [index, address] of items(statusOf(object), "addresses").entries()) {
    const identity = identityText(address);
    if (seen.has(identity)) {
      faults.duplicate(`status.addresses[${index}]`, {
        Type: text(address, "type"),
        Address: text(address, "address"),
      });
    }
    seen.add(identity);
  }
  return faults;
}

function nodeFaults(object: JsonObject): Faults {
  const faults = statusFaults(object);
  const spec = specOf(object);
  const pairsSeen = new Set<string>();
  for (const [index, taint] of items(spec, "taints").entries()) {
    // The real server looks for them under metadata.
    const at = `metadata.taints[${index}]`;
    const [key, value, effect] = [text(taint, "key"), text(taint, "value"), text(taint, "effect")];
    faults.each(`${at}.key`, key, qualifiedName(key));
    faults.each(`${at}.value`, value, labelText(value));
    if (effect === "") faults.required(`${at}.effect`);
    else faults.oneOf(`${at}.effect`, effect, effects);
    if (pairsSeen.has(`${key}/${effect}`)) {
      const shown = { Key: key, Value: value, Effect: effect, TimeAdded: own(taint, "timeAdded") ?? null };
      faults.duplicate(at, shown, "taints must be unique by key and effect pair");
    }
    pairsSeen.add(`${key}/${effect}`);
  }
  for (const [index, range] of texts(spec, "podCIDRs").entries()) {
    faults.each(`spec.podCIDRs[${index}]`, range, cidr(range));
  }
  return faults;
}
