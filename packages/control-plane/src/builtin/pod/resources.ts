import type { JsonObject } from "../../json.ts";
import { hasAt, itemsAt, objectAt, textAt } from "../../json-fields.ts";
import { addAmounts, amount, compareAmounts } from "../../validation/amounts.ts";

const qosResources = ["cpu", "memory"];

/** The QoS class of a pod, from the resources of its containers. */
export function qosClass(pod: JsonObject): "Guaranteed" | "Burstable" | "BestEffort" {
  const spec = objectAt(pod, "spec");
  const asked: JsonObject = {};
  const limited: JsonObject = {};
  let guaranteed = true;
  const count = (resources: JsonObject) => {
    for (const [from, into] of [
      [objectAt(resources, "requests"), asked],
      [objectAt(resources, "limits"), limited],
    ] as const) {
      for (const [name, value] of Object.entries(from)) {
        if (!qosResources.includes(name) || amount(value).nanos <= 0n) continue;
        into[name] = into[name] === undefined ? value : addAmounts(into[name], value);
      }
    }
    const limits = objectAt(resources, "limits");
    if (!qosResources.every((name) => limits[name] !== undefined && amount(limits[name]).nanos > 0n)) {
      guaranteed = false;
    }
  };
  if (hasAt(spec, "resources")) count(objectAt(spec, "resources"));
  else {
    for (const container of [...itemsAt(spec, "containers"), ...itemsAt(spec, "initContainers")]) {
      count(objectAt(container, "resources"));
    }
  }
  if (Object.keys(asked).length === 0 && Object.keys(limited).length === 0) return "BestEffort";
  const same =
    Object.keys(asked).length === Object.keys(limited).length &&
    Object.entries(asked).every(
      ([name, value]) => limited[name] !== undefined && compareAmounts(limited[name], value) === 0,
    );
  return guaranteed && same ? "Guaranteed" : "Burstable";
}

/**
 * What a pod asks of its node: the sum of its containers and of the sidecars that stay, or the most
 * that one of its init containers takes while it runs.
 *
 * @param of which of the two lists of a container counts
 */
export function podTotals(spec: JsonObject, of: "requests" | "limits"): JsonObject {
  const totals: JsonObject = {};
  const add = (from: JsonObject) => {
    for (const [name, value] of Object.entries(from)) totals[name] = addAmounts(totals[name] ?? "0", value);
  };
  for (const container of itemsAt(spec, "containers")) add(objectAt(objectAt(container, "resources"), of));
  const stay: JsonObject = {};
  const peaks: JsonObject[] = [];
  for (const container of itemsAt(spec, "initContainers")) {
    const own = objectAt(objectAt(container, "resources"), of);
    if (textAt(container, "restartPolicy") === "Always") {
      add(own);
      for (const [name, value] of Object.entries(own)) stay[name] = addAmounts(stay[name] ?? "0", value);
      peaks.push({ ...stay });
    } else {
      const peak = { ...stay };
      for (const [name, value] of Object.entries(own)) peak[name] = addAmounts(peak[name] ?? "0", value);
      peaks.push(peak);
    }
  }
  for (const peak of peaks) {
    for (const [name, value] of Object.entries(peak)) {
      if (totals[name] === undefined || compareAmounts(value, totals[name]) > 0) totals[name] = value;
    }
  }
  for (const [name, value] of Object.entries(objectAt(objectAt(spec, "resources"), of))) totals[name] = value;
  if (of === "requests") add(objectAt(spec, "overhead"));
  else {
    for (const [name, value] of Object.entries(objectAt(spec, "overhead"))) {
      if (totals[name] !== undefined) totals[name] = addAmounts(totals[name], value);
    }
  }
  return totals;
}
