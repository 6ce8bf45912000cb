import { clone, equal, type JsonObject } from "../../json.ts";
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
  valueAt,
} from "../../json-fields.ts";
import { timestamp } from "../../registry/metadata.ts";
import type { Strategy } from "../../registry/strategy.ts";
import type { Cause } from "../../status.ts";
import type { Steps } from "../../steps.ts";
import { Faults } from "../../validation/faults.ts";
import { ensure, fill, put } from "../../validation/fill.ts";
import { dropDisabled, podSpecDefaults, requestDefaults } from "./defaults.ts";
import { qosClass } from "./resources.ts";
import { checkPodSpec, checkPodTemplate } from "./spec.ts";
import { ephemeralFaults, podStatusFaults, podUpdateFaults, resizeFaults } from "./update.ts";
import { podWarnings } from "./warnings.ts";

/** Only pods have a grace period, in which the kubelet stops them. */
export const pod: Strategy = {
  generation: true,
  returnsDeleted: true,
  selectableFields: [
    "spec.nodeName",
    "spec.restartPolicy",
    "spec.schedulerName",
    "spec.serviceAccountName",
    "spec.hostNetwork",
    "status.phase",
    "status.podIP",
    "status.podIPs",
    "status.nominatedNodeName",
  ],
  setDefaults: (object) => {
    const spec = ensure(object, "spec");
    fill(spec, { enableServiceLinks: true });
    podSpecDefaults(spec);
    requestDefaults(spec);
    const status = statusOf(object);
    sameAddress(status);
  },
  prepareCreate: (object, { clock, warn }) => {
    const spec = specOf(object);
    dropDisabled(spec);
    const seconds = numberAt(spec, "terminationGracePeriodSeconds");
    if (seconds !== undefined && seconds < 0) spec.terminationGracePeriodSeconds = 1;
    const status: JsonObject = { phase: "Pending", qosClass: qosClass(object) };
    if (itemsAt(spec, "schedulingGates").length > 0) {
      status.conditions = [
        {
          type: "PodScheduled",
          status: "False",
          lastProbeTime: null,
          lastTransitionTime: timestamp(clock),
          reason: "SchedulingGated",
          message: "Scheduling is blocked due to non-empty scheduling gates",
        },
      ];
    }
    object.status = status;
    podWarnings(spec, "spec", metadataOf(object), warn);
  },
  validate: function* (object) {
    const faults = new Faults();
    const spec = specOf(object);
    checkPodAnnotations(faults, object);
    yield* checkPodSpec(faults, "spec", spec);
    if (itemsAt(spec, "ephemeralContainers").length > 0) {
      faults.forbidden("spec.ephemeralContainers", "cannot be set on create");
    }
    if (itemsAt(spec, "schedulingGates").length > 0 && textAt(spec, "nodeName") !== "") {
      faults.forbidden("spec.nodeName", "cannot be set until all schedulingGates have been cleared");
    }
    return faults.causes;
  },
  prepareUpdate: (next, live, { subresource }) => {
    if (subresource === "status") keepToStatus(next, live);
    else if (subresource === "ephemeralcontainers") {
      keepAllBut(next, live, (spec) => put(spec, "ephemeralContainers", specOf(next).ephemeralContainers));
    } else if (subresource === "resize") {
      const wanted = specOf(next);
      keepAllBut(next, live, (spec) => resize(spec, wanted));
    }
  },
  validateUpdate: function* (next, live, { subresource }) {
    switch (subresource) {
      case "status":
        return podStatusFaults(next, live).causes;
      case "ephemeralcontainers":
        return (yield* ephemeralFaults(next, live)).causes;
      case "resize":
        return (yield* resizeFaults(next, live)).causes;
      case "binding":
        return [];
      default:
        return (yield* podUpdateFaults(next, live)).causes;
    }
  },
  gracePeriod: (object) => {
    const phase = valueAt(object, "status", "phase");
    if (!valueAt(object, "spec", "nodeName") || phase === "Succeeded" || phase === "Failed") return 0;
    const seconds = (valueAt(object, "spec", "terminationGracePeriodSeconds") ?? 30) as number | bigint;
    return seconds < 0 ? 1 : seconds;
  },
};

/** `podIP` and the first of `podIPs` are one thing; the first wins. */
function sameAddress(status: JsonObject): void {
  const ip = textAt(status, "podIP");
  const [first] = itemsAt(status, "podIPs");
  if (ip !== "" && (first === undefined || textAt(first, "ip") !== ip)) status.podIPs = [{ ip }];
  else if (ip === "" && first !== undefined) status.podIP = textAt(first, "ip");
}

function keepToStatus(next: JsonObject, live: JsonObject): void {
  put(metadataOf(next), "ownerReferences", metadataOf(live).ownerReferences);
  const status = ensure(next, "status");
  if (textAt(status, "qosClass") === "") put(status, "qosClass", statusOf(live).qosClass);
}

/** A subresource that guards one part of the spec leaves the rest as it is. */
function keepAllBut(next: JsonObject, live: JsonObject, change: (spec: JsonObject) => void): void {
  const spec = clone(specOf(live));
  change(spec);
  next.spec = spec;
  put(next, "status", live.status);
}

function resize(spec: JsonObject, wanted: JsonObject): void {
  for (const list of ["containers", "initContainers"]) {
    const named = new Map(itemsAt(wanted, list).map((container) => [textAt(container, "name"), container]));
    for (const container of itemsAt(spec, list)) {
      const changed = named.get(textAt(container, "name"));
      if (!changed) continue;
      put(container, "resources", changed.resources);
      put(container, "resizePolicy", changed.resizePolicy);
    }
  }
}

const appArmor = "container.apparmor.security.beta.kubernetes.io/";

function checkPodAnnotations(faults: Faults, object: JsonObject): void {
  const keys = Object.keys(objectAt(metadataOf(object), "annotations")).filter((key) =>
    key.startsWith(appArmor),
  );
  if (keys.length === 0) return;
  const spec = specOf(object);
  const lists = ["containers", "initContainers", "ephemeralContainers"];
  const known = new Set(
    lists.flatMap((list) => itemsAt(spec, list).map((container) => textAt(container, "name"))),
  );
  for (const key of keys) {
    const name = key.slice(appArmor.length);
    if (!known.has(name)) faults.invalid(`metadata.annotations[${key}]`, name, "container not found");
  }
}

/** The template of pods on their own: kept for others to use. */
export const podTemplate: Strategy = {
  generation: true,
  returnsDeleted: true,
  podTemplate: (object) => field(object, "template"),
  setDefaults: (object) => {
    podSpecDefaults(ensure(ensure(object, "template"), "spec"));
  },
  specChanged: (next, live) => !equal(next.template, live.template),
  validate: (object) => templateFaults(object),
  validateUpdate: (next) => templateFaults(next),
};

function* templateFaults(object: JsonObject): Steps<Cause[]> {
  const faults = new Faults();
  if (hasAt(object, "template")) yield* checkPodTemplate(faults, "template", objectAt(object, "template"));
  return faults.causes;
}
