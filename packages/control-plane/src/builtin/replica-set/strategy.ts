import type { JsonObject } from "../../json.ts";
import { field, hasAt, metadataOf, objectAt, pairsAt, specOf } from "../../json-fields.ts";
import type { Strategy } from "../../registry/strategy.ts";
import type { Steps } from "../../steps.ts";
import { Faults } from "../../validation/faults.ts";
import { ensure, fill } from "../../validation/fill.ts";
import { prepareTemplate, warnOfTemplate } from "../deployment/strategy.ts";
import { podSpecDefaults } from "../pod/defaults.ts";
import {
  checkAvailable,
  checkCounts,
  checkEndlessTemplate,
  checkMatches,
  checkSame,
  checkScale,
  checkSelectedTemplate,
  templateDefaults,
} from "../pod/template.ts";

const counts = [
  "replicas",
  "fullyLabeledReplicas",
  "readyReplicas",
  "availableReplicas",
  "terminatingReplicas",
  "observedGeneration",
];
const bounded = ["fullyLabeledReplicas", "readyReplicas", "availableReplicas"];

function statusFaults(object: JsonObject): Faults {
  const faults = new Faults();
  checkCounts(faults, object, counts, bounded);
  checkAvailable(faults, object);
  return faults;
}

export const replicaSet: Strategy = {
  generation: true,
  podTemplate: (object) => field(specOf(object), "template"),
  setDefaults: (object) => {
    const spec = ensure(object, "spec");
    fill(spec, { replicas: 1 });
    templateDefaults(spec);
  },
  prepareCreate: (object) => {
    object.status = {};
    prepareTemplate(object);
  },
  warn: warnOfTemplate,
  validate: function* (object) {
    return (yield* replicaSetFaults(object)).causes;
  },
  validateUpdate: function* (next, live, { subresource }) {
    if (subresource === "status") return statusFaults(next).causes;
    checkScale(next, subresource);
    const faults = yield* replicaSetFaults(next);
    checkSame(faults, "spec.selector", specOf(next).selector, specOf(live).selector);
    return faults.causes;
  },
};

function* replicaSetFaults(object: JsonObject): Steps<Faults> {
  const faults = new Faults();
  const spec = specOf(object);
  faults.atLeast("spec.replicas", field(spec, "replicas"));
  faults.atLeast("spec.minReadySeconds", field(spec, "minReadySeconds"));
  yield* checkSelectedTemplate(faults, spec, {
    // The real server borrows the words.
    kind: "deployment",
    deadlineOwner: "ReplicaSet",
    required: true,
    unusable: "invalid label selector",
  });
  return faults;
}

/**
 * The ReplicaSet's ancestor. Its selector is a map, and comes from the template where it is not
 * given.
 */
export const replicationController: Strategy = {
  generation: true,
  dependents: "Orphan",
  selectableFields: ["status.replicas"],
  podTemplate: (object) => field(specOf(object), "template"),
  setDefaults: (object) => {
    const spec = ensure(object, "spec");
    fill(spec, { replicas: 1 });
    if (!hasAt(spec, "template")) return;
    const template = objectAt(spec, "template");
    podSpecDefaults(ensure(template, "spec"));
    const labels = objectAt(metadataOf(template), "labels");
    if (Object.keys(labels).length === 0) return;
    if (Object.keys(objectAt(spec, "selector")).length === 0) spec.selector = { ...labels };
    const metadata = ensure(object, "metadata");
    if (Object.keys(objectAt(metadata, "labels")).length === 0) metadata.labels = { ...labels };
  },
  prepareCreate: (object) => {
    object.status = {};
    prepareTemplate(object);
  },
  warn: warnOfTemplate,
  validate: function* (object) {
    return (yield* controllerFaults(object)).causes;
  },
  validateUpdate: function* (next, _live, { subresource }) {
    checkScale(next, subresource);
    return subresource === "status" ? statusFaults(next).causes : (yield* controllerFaults(next)).causes;
  },
};

function* controllerFaults(object: JsonObject): Steps<Faults> {
  const faults = new Faults();
  const spec = specOf(object);
  faults.atLeast("spec.minReadySeconds", field(spec, "minReadySeconds"));
  const selector = Object.fromEntries(pairsAt(spec, "selector"));
  if (Object.keys(selector).length === 0) faults.required("spec.selector");
  faults.atLeast("spec.replicas", field(spec, "replicas"));
  if (!hasAt(spec, "template")) {
    faults.required("spec.template");
    return faults;
  }
  if (Object.keys(selector).length > 0) checkMatches(faults, spec, { matchLabels: selector });
  yield* checkEndlessTemplate(faults, spec, "ReplicationController");
  return faults;
}
