import type { JsonObject } from "../../json.ts";
import { field, hasAt, itemsAt, metadataOf, objectAt, specOf, textAt } from "../../json-fields.ts";
import type { Strategy } from "../../registry/strategy.ts";
import type { Steps } from "../../steps.ts";
import { Faults } from "../../validation/faults.ts";
import { ensure, fill } from "../../validation/fill.ts";
import { checkAnnotations, checkLabels } from "../../validation/names.ts";
import { checkJobSpec } from "../job/strategy.ts";
import { podSpecDefaults } from "../pod/defaults.ts";
import { podWarnings } from "../pod/warnings.ts";
import { scheduleFault } from "./schedule-validation.ts";

/** The controller appends eleven characters to make the names of jobs. */
const longestName = 52;

export const cronJob: Strategy = {
  generation: true,
  podTemplate: (object) => field(specOf(objectAt(specOf(object), "jobTemplate")), "template"),
  setDefaults: (object) => {
    const spec = ensure(object, "spec");
    if (textAt(spec, "concurrencyPolicy") === "") spec.concurrencyPolicy = "Allow";
    fill(spec, { suspend: false, successfulJobsHistoryLimit: 3, failedJobsHistoryLimit: 1 });
    const job = ensure(ensure(spec, "jobTemplate"), "spec");
    podSpecDefaults(ensure(ensure(job, "template"), "spec"));
    for (const rule of itemsAt(objectAt(job, "podFailurePolicy"), "rules")) {
      for (const condition of itemsAt(rule, "onPodConditions")) {
        if (textAt(condition, "status") === "") condition.status = "True";
      }
    }
  },
  prepareCreate: (object) => {
    object.status = {};
  },
  warn: (object, warn) => {
    const template = objectAt(specOf(objectAt(specOf(object), "jobTemplate")), "template");
    podWarnings(specOf(template), "spec.jobTemplate.spec.template.spec", metadataOf(template), warn);
  },
  validate: function* (object) {
    const faults = yield* specFaults(object);
    const name = textAt(metadataOf(object), "name");
    if (name.length > longestName) {
      faults.invalid("metadata.name", name, `must be no more than ${longestName} characters`);
    }
    return faults.causes;
  },
  validateUpdate: function* (next, _live, { subresource }) {
    return subresource === "status" ? [] : (yield* specFaults(next)).causes;
  },
};

function* specFaults(object: JsonObject): Steps<Faults> {
  const faults = new Faults();
  const spec = specOf(object);
  const schedule = textAt(spec, "schedule");
  if (schedule === "") faults.required("spec.schedule");
  else if (/TZ/.test(schedule)) {
    faults.invalid(
      "spec.schedule",
      schedule,
      "cannot use TZ or CRON_TZ in schedule, use timeZone field instead",
    );
  } else {
    const fault = scheduleFault(schedule);
    if (fault !== undefined) faults.invalid("spec.schedule", schedule, fault);
  }
  faults.atLeast("spec.startingDeadlineSeconds", field(spec, "startingDeadlineSeconds"));
  faults.oneOf("spec.concurrencyPolicy", textAt(spec, "concurrencyPolicy"), ["Allow", "Forbid", "Replace"]);
  checkTimeZone(faults, "spec.timeZone", spec);
  yield* checkJobTemplate(faults, objectAt(spec, "jobTemplate"));
  faults.atLeast("spec.successfulJobsHistoryLimit", field(spec, "successfulJobsHistoryLimit"));
  faults.atLeast("spec.failedJobsHistoryLimit", field(spec, "failedJobsHistoryLimit"));
  return faults;
}

function* checkJobTemplate(faults: Faults, template: JsonObject): Steps<void> {
  const at = "spec.jobTemplate";
  checkLabels(faults, `${at}.labels`, metadataOf(template));
  checkAnnotations(faults, `${at}.annotations`, metadataOf(template));
  const spec = specOf(template);
  yield* checkJobSpec(faults, `${at}.spec`, spec);
  if (spec.manualSelector === true) {
    faults.unsupported(`${at}.spec.manualSelector`, true, ["nil", "false"]);
  }
  if (hasAt(spec, "selector")) {
    faults.invalid(`${at}.spec.selector`, spec.selector, "`selector` will be auto-generated");
  }
}

function checkTimeZone(faults: Faults, at: string, spec: JsonObject): void {
  if (!hasAt(spec, "timeZone")) return;
  const zone = textAt(spec, "timeZone");
  if (zone === "") {
    faults.invalid(at, zone, "timeZone must be nil or non-empty string");
  } else if (zone.toLowerCase() === "local") {
    faults.invalid(
      at,
      zone,
      "timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones",
    );
  } else if (!knownZone(zone)) {
    faults.invalid(at, zone, `unknown time zone ${zone}`);
  }
}

function knownZone(zone: string): boolean {
  if (/^[+-]/.test(zone)) return false;
  try {
    return new Intl.DateTimeFormat("en", { timeZone: zone }).resolvedOptions().timeZone !== "";
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}
