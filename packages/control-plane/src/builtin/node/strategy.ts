import { clone, equal, identityText, type JsonObject } from "../../json.ts";
import { field, hasAt, itemsAt, objectAt, specOf, statusOf, textAt, textsAt } from "../../json-fields.ts";
import type { Strategy } from "../../registry/strategy.ts";
import { Faults } from "../../validation/faults.ts";
import { cidr, labelText, qualifiedName } from "../../validation/names.ts";

const effects = ["NoSchedule", "PreferNoSchedule", "NoExecute"];

export const node: Strategy = {
  selectableFields: ["spec.unschedulable"],
  setDefaults: (object) => {
    const spec = specOf(object);
    const [single, list] = [textAt(spec, "podCIDR"), textsAt(spec, "podCIDRs")];
    if (single !== "" && list[0] !== single) spec.podCIDRs = [single];
    else if (single === "" && list[0] !== undefined) spec.podCIDR = list[0];
    const status = statusOf(object);
    if (hasAt(status, "capacity") && !hasAt(status, "allocatable")) {
      status.allocatable = clone(objectAt(status, "capacity"));
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
      const had = field(before, part);
      if (had !== undefined && !equal(had, field(now, part))) {
        faults.forbidden(`spec.${part}`, `node updates may not change ${shown} except from "" to valid`);
      }
    }
    return faults.causes;
  },
};

function statusFaults(object: JsonObject): Faults {
  const faults = new Faults();
  const seen = new Set<string>();
  for (const [index, address] of itemsAt(statusOf(object), "addresses").entries()) {
    const identity = identityText(address);
    if (seen.has(identity)) {
      faults.duplicate(`status.addresses[${index}]`, {
        Type: textAt(address, "type"),
        Address: textAt(address, "address"),
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
  for (const [index, taint] of itemsAt(spec, "taints").entries()) {
    // The real server looks for them under metadata.
    const at = `metadata.taints[${index}]`;
    const [key, value, effect] = [textAt(taint, "key"), textAt(taint, "value"), textAt(taint, "effect")];
    faults.each(`${at}.key`, key, qualifiedName(key));
    faults.each(`${at}.value`, value, labelText(value));
    if (effect === "") faults.required(`${at}.effect`);
    else faults.oneOf(`${at}.effect`, effect, effects);
    if (pairsSeen.has(`${key}/${effect}`)) {
      const shown = { Key: key, Value: value, Effect: effect, TimeAdded: field(taint, "timeAdded") ?? null };
      faults.duplicate(at, shown, "taints must be unique by key and effect pair");
    }
    pairsSeen.add(`${key}/${effect}`);
  }
  for (const [index, range] of textsAt(spec, "podCIDRs").entries()) {
    faults.each(`spec.podCIDRs[${index}]`, range, cidr(range));
  }
  return faults;
}
