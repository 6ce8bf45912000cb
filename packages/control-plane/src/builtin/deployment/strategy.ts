import { equal, type JsonObject } from "../../json.ts";
import { field, hasAt, metadataOf, numberAt, objectAt, specOf, textAt } from "../../json-fields.ts";
import type { Strategy } from "../../registry/strategy.ts";
import type { Steps } from "../../steps.ts";
import { checkCountOrPercent, countOrPercent, notAboveAll } from "../../validation/amounts.ts";
import { Faults } from "../../validation/faults.ts";
import { ensure, fill } from "../../validation/fill.ts";
import { internal } from "../../validation/go-value.ts";
import { dropDisabled } from "../pod/defaults.ts";
import {
  checkAvailable,
  checkCollisions,
  checkCounts,
  checkSame,
  checkScale,
  checkSelectedTemplate,
  templateDefaults,
} from "../pod/template.ts";
import { podWarnings } from "../pod/warnings.ts";

const counts = [
  "observedGeneration",
  "replicas",
  "updatedReplicas",
  "readyReplicas",
  "availableReplicas",
  "unavailableReplicas",
  "terminatingReplicas",
  "collisionCount",
];
const bounded = ["updatedReplicas", "readyReplicas", "availableReplicas"];

export const deployment: Strategy = {
  generation: true,
  podTemplate: (object) => field(specOf(object), "template"),
  setDefaults: (object) => {
    const spec = ensure(object, "spec");
    fill(spec, { replicas: 1, revisionHistoryLimit: 10, progressDeadlineSeconds: 600 });
    const strategy = ensure(spec, "strategy");
    if (textAt(strategy, "type") === "") strategy.type = "RollingUpdate";
    if (strategy.type === "RollingUpdate") {
      fill(ensure(strategy, "rollingUpdate"), { maxUnavailable: "25%", maxSurge: "25%" });
    }
    templateDefaults(spec);
  },
  prepareCreate: (object) => {
    object.status = {};
    prepareTemplate(object);
  },
  prepareUpdate: (next, _live, { subresource }) => {
    if (subresource === undefined) prepareTemplate(next);
  },
  warn: warnOfTemplate,
  validate: function* (object) {
    return (yield* specFaults(object)).causes;
  },
  validateUpdate: function* (next, live, { subresource }) {
    if (subresource === "status") {
      const faults = new Faults();
      checkCounts(faults, next, counts, bounded);
      checkAvailable(faults, next);
      checkCollisions(faults, next, live);
      return faults.causes;
    }
    checkScale(next, subresource);
    const faults = yield* specFaults(next);
    checkSame(faults, "spec.selector", specOf(next).selector, specOf(live).selector);
    return faults.causes;
  },
  specChanged: (next, live) =>
    !equal(next.spec, live.spec) ||
    !equal(objectAt(metadataOf(next), "annotations"), objectAt(metadataOf(live), "annotations")),
};

/** Drops from a workload's template what is switched off. */
export function prepareTemplate(object: JsonObject): void {
  dropDisabled(specOf(objectAt(specOf(object), "template")));
}

/** Says what is doubtful about the pods that a workload will make. */
export function warnOfTemplate(object: JsonObject, warn: (text: string) => void): void {
  const template = objectAt(specOf(object), "template");
  podWarnings(specOf(template), "spec.template.spec", metadataOf(template), warn);
}

function* specFaults(object: JsonObject): Steps<Faults> {
  const faults = new Faults();
  const spec = specOf(object);
  faults.atLeast("spec.replicas", field(spec, "replicas"));
  yield* checkSelectedTemplate(faults, spec, {
    kind: "deployment",
    deadlineOwner: "ReplicaSet",
    required: true,
    unusable: "invalid label selector",
  });
  checkStrategy(faults, objectAt(spec, "strategy"));
  const ready = numberAt(spec, "minReadySeconds") ?? 0;
  faults.atLeast("spec.minReadySeconds", ready);
  faults.atLeast("spec.revisionHistoryLimit", field(spec, "revisionHistoryLimit"));
  const deadline = numberAt(spec, "progressDeadlineSeconds");
  faults.atLeast("spec.progressDeadlineSeconds", deadline);
  if (deadline !== undefined && deadline <= ready) {
    faults.invalid("spec.progressDeadlineSeconds", deadline, "must be greater than minReadySeconds");
  }
  return faults;
}

function checkStrategy(faults: Faults, strategy: JsonObject): void {
  const type = textAt(strategy, "type");
  if (type === "Recreate") {
    if (hasAt(strategy, "rollingUpdate")) {
      faults.forbidden(
        "spec.strategy.rollingUpdate",
        "may not be specified when strategy `type` is 'Recreate'",
      );
    }
    return;
  }
  if (type !== "RollingUpdate") {
    faults.unsupported("spec.strategy", internal("UpdateStrategy", strategy), ["Recreate", "RollingUpdate"]);
    return;
  }
  const at = "spec.strategy.rollingUpdate";
  const { maxUnavailable, maxSurge } = objectAt(strategy, "rollingUpdate");
  checkCountOrPercent(faults, `${at}.maxUnavailable`, maxUnavailable);
  checkCountOrPercent(faults, `${at}.maxSurge`, maxSurge);
  if (countOrPercent(maxUnavailable) === 0 && countOrPercent(maxSurge) === 0) {
    faults.invalid(`${at}.maxUnavailable`, maxUnavailable, "may not be 0 when `maxSurge` is 0");
  }
  notAboveAll(faults, `${at}.maxUnavailable`, maxUnavailable);
}
