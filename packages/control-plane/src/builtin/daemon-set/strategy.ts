import { equal, type JsonObject } from "../../json.ts";
import { field, metadataOf, objectAt, specOf, textAt } from "../../json-fields.ts";
import type { Strategy } from "../../registry/strategy.ts";
import type { Steps } from "../../steps.ts";
import { checkCountOrPercent, countOrPercent, notAboveAll } from "../../validation/amounts.ts";
import { Faults } from "../../validation/faults.ts";
import { ensure, fill } from "../../validation/fill.ts";
import { internal } from "../../validation/go-value.ts";
import { prepareTemplate, warnOfTemplate } from "../deployment/strategy.ts";
import { checkCounts, checkSame, checkSelectedTemplate, templateDefaults } from "../pod/template.ts";

/** Where the generation of the template is kept since the field for it went. */
const templateGeneration = "deprecated.daemonset.template.generation";

const counts = [
  "currentNumberScheduled",
  "numberMisscheduled",
  "desiredNumberScheduled",
  "numberReady",
  "observedGeneration",
  "updatedNumberScheduled",
  "numberAvailable",
  "numberUnavailable",
  "collisionCount",
];

export const daemonSet: Strategy = {
  generation: true,
  podTemplate: (object) => field(specOf(object), "template"),
  setDefaults: (object) => {
    const spec = ensure(object, "spec");
    const strategy = ensure(spec, "updateStrategy");
    if (textAt(strategy, "type") === "") strategy.type = "RollingUpdate";
    if (strategy.type === "RollingUpdate") {
      fill(ensure(strategy, "rollingUpdate"), { maxUnavailable: 1, maxSurge: 0 });
    }
    fill(spec, { revisionHistoryLimit: 10 });
    templateDefaults(spec);
    // Always there, so that the writer of the object is recorded as its manager.
    const annotations = ensure(ensure(object, "metadata"), "annotations");
    if (annotations[templateGeneration] === undefined) annotations[templateGeneration] = "0";
  },
  prepareCreate: (object) => {
    object.status = {};
    ensure(ensure(object, "metadata"), "annotations")[templateGeneration] = "1";
    prepareTemplate(object);
  },
  warn: warnOfTemplate,
  prepareUpdate: (next, live, { subresource }) => {
    const before = Number(objectAt(metadataOf(live), "annotations")[templateGeneration] ?? 1);
    const changed = subresource === undefined && !equal(specOf(next).template, specOf(live).template);
    ensure(ensure(next, "metadata"), "annotations")[templateGeneration] = String(
      changed ? before + 1 : before,
    );
  },
  validate: function* (object) {
    return (yield* specFaults(object)).causes;
  },
  validateUpdate: function* (next, live, { subresource }) {
    if (subresource === "status") {
      const faults = new Faults();
      checkCounts(faults, next, counts);
      return faults.causes;
    }
    const faults = yield* specFaults(next);
    checkSame(faults, "spec.selector", specOf(next).selector, specOf(live).selector);
    return faults.causes;
  },
};

function* specFaults(object: JsonObject): Steps<Faults> {
  const faults = new Faults();
  const spec = specOf(object);
  yield* checkSelectedTemplate(faults, spec, {
    kind: "daemonset",
    deadlineOwner: "DaemonSet",
    required: false,
    unusable: undefined,
  });
  faults.atLeast("spec.minReadySeconds", field(spec, "minReadySeconds"));
  checkUpdateStrategy(faults, objectAt(spec, "updateStrategy"));
  faults.atLeast("spec.revisionHistoryLimit", field(spec, "revisionHistoryLimit"));
  return faults;
}

function checkUpdateStrategy(faults: Faults, strategy: JsonObject): void {
  const type = textAt(strategy, "type");
  if (type === "OnDelete") return;
  if (type !== "RollingUpdate") {
    faults.unsupported("spec.updateStrategy", internal("UpdateStrategy", strategy), [
      "RollingUpdate",
      "OnDelete",
    ]);
    return;
  }
  const at = "spec.updateStrategy.rollingUpdate";
  const { maxUnavailable, maxSurge } = objectAt(strategy, "rollingUpdate");
  checkCountOrPercent(faults, `${at}.maxUnavailable`, maxUnavailable);
  notAboveAll(faults, `${at}.maxUnavailable`, maxUnavailable);
  checkCountOrPercent(faults, `${at}.maxSurge`, maxSurge);
  notAboveAll(faults, `${at}.maxSurge`, maxSurge);
  const [down, up] = [countOrPercent(maxUnavailable), countOrPercent(maxSurge)];
  if (down !== 0 && up !== 0) {
    faults.invalid(`${at}.maxSurge`, maxSurge, "may not be set when maxUnavailable is non-zero");
  } else if (down === 0 && up === 0) {
    faults.required(`${at}.maxUnavailable`, "cannot be 0 when maxSurge is 0");
  }
}
