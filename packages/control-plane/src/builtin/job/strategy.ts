import { clone, equal, type Json, type JsonObject, textOf } from "../../json.ts";
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
} from "../../json-fields.ts";
import { generateName } from "../../registry/metadata.ts";
import type { Strategy } from "../../registry/strategy.ts";
import type { Steps } from "../../steps.ts";
import { Faults, immutable } from "../../validation/faults.ts";
import { ensure, fill, put } from "../../validation/fill.ts";
import { domainPrefixedPath } from "../../validation/names.ts";
import { checkSelector } from "../../validation/selectors.ts";
import { prepareTemplate, warnOfTemplate } from "../deployment/strategy.ts";
import { checkPodTemplate } from "../pod/spec.ts";
import { checkMatches, checkSame, templateDefaults } from "../pod/template.ts";
import {
  checkFailurePolicy,
  checkSuccessPolicy,
  goFailurePolicy,
  goSuccessPolicy,
} from "./policy-validation.ts";
import { jobStatusFaults } from "./status-validation.ts";

const uidLabel = "batch.kubernetes.io/controller-uid";
const nameLabel = "batch.kubernetes.io/job-name";
const oldUidLabel = "controller-uid";
const oldNameLabel = "job-name";
const mostInt32 = 2147483647;
const mostIndexes = 100_000;

export const job: Strategy = {
  generation: true,
  dependents: "Orphan",
  orphanWarning:
    "child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress this warning",
  selectableFields: ["status.successful"],
  podTemplate: (object) => field(specOf(object), "template"),
  setDefaults: (object) => {
    const spec = ensure(object, "spec");
    if (!hasAt(spec, "completions") && !hasAt(spec, "parallelism"))
      fill(spec, { completions: 1, parallelism: 1 });
    fill(spec, { parallelism: 1, backoffLimit: hasAt(spec, "backoffLimitPerIndex") ? mostInt32 : 6 });
    fill(spec, { completionMode: "NonIndexed", suspend: false, manualSelector: false });
    fill(spec, { podReplacementPolicy: hasAt(spec, "podFailurePolicy") ? "Failed" : "TerminatingOrFailed" });
    for (const rule of itemsAt(objectAt(spec, "podFailurePolicy"), "rules")) {
      for (const condition of itemsAt(rule, "onPodConditions")) {
        if (textAt(condition, "status") === "") condition.status = "True";
      }
    }
    templateDefaults(spec);
    labelDefaults(object);
  },
  prepareCreate: (object, { random }) => {
    object.status = {};
    // Its pods are labelled with its name, so a name to be generated is generated now.
    const metadata = metadataOf(object);
    if (!metadata.name && textAt(metadata, "generateName") !== "") {
      metadata.name = generateName(random, textAt(metadata, "generateName"));
    }
    if (specOf(object).manualSelector !== true) generateSelector(object);
    prepareTemplate(object);
  },
  warn: warnOfTemplate,
  validate: function* (object) {
    const faults = yield* jobFaults(object);
    if (faults.none) checkGeneratedNames(faults, object);
    return faults.causes;
  },
  validateUpdate: function* (next, live, { subresource }) {
    if (subresource === "status") return jobStatusFaults(next, live).causes;
    const faults = yield* jobFaults(next);
    checkFrozen(faults, next, live);
    return faults.causes;
  },
};

function labelDefaults(object: JsonObject): void {
  const metadata = ensure(object, "metadata");
  const labels = objectAt(metadataOf(objectAt(specOf(object), "template")), "labels");
  if (Object.keys(objectAt(metadata, "labels")).length === 0 && Object.keys(labels).length > 0) {
    // The same map, as in the real server: labels that the template is given later are the job's
    // too.
    metadata.labels = labels;
  }
}

/**
 * The labels by which a job knows its pods: made from its uid, so that no two jobs ever share one.
 */
function generateSelector(object: JsonObject): void {
  const { name, uid } = metadataOf(object);
  const spec = specOf(object);
  const made: JsonObject = {
    [uidLabel]: uid ?? "",
    [nameLabel]: name ?? "",
    [oldUidLabel]: uid ?? "",
    [oldNameLabel]: name ?? "",
  };
  const labels = ensure(ensure(objectAt(spec, "template"), "metadata"), "labels");
  for (const [key, value] of Object.entries(made)) if (labels[key] === undefined) labels[key] = value;
  sortKeys(labels);
  const metadata = ensure(object, "metadata");
  const isOwn = metadata.labels !== labels && Object.keys(objectAt(metadata, "labels")).length > 0;
  if (!isOwn) metadata.labels = clone(labels);
  const selected = ensure(ensure(spec, "selector"), "matchLabels");
  if (selected[uidLabel] === undefined) selected[uidLabel] = uid ?? "";
  sortKeys(selected);
}

function sortKeys(map: JsonObject): void {
  for (const [key, value] of Object.entries(map).sort(([a], [b]) => (a < b ? -1 : 1))) {
    delete map[key];
    map[key] = value;
  }
}

/** A job whose pods are made by index needs room for the index in their names. */
function checkGeneratedNames(faults: Faults, object: JsonObject): void {
  const name = textAt(metadataOf(object), "name");
  const spec = specOf(object);
  if (textAt(spec, "completionMode") !== "Indexed") return;
  const longest = `${name}-${(numberAt(spec, "completions") ?? 1) - 1}`;
  if (longest.length > 63) {
    faults.invalid("metadata.name", name, `will not able to create pod with invalid DNS name: ${longest}`);
  }
}

function* jobFaults(object: JsonObject): Steps<Faults> {
  const faults = new Faults();
  const spec = specOf(object);
  checkSelection(faults, object, spec);
  yield* checkJobSpec(faults, "spec", spec);
  const selector = objectAt(spec, "selector");
  if (hasAt(spec, "selector")) checkMatches(faults, spec, selector);
  else checkMatches(faults, spec, undefined);
  return faults;
}

function checkSelection(faults: Faults, object: JsonObject, spec: JsonObject): void {
  if (spec.manualSelector === true) {
    if (!hasAt(spec, "selector")) faults.required("spec.selector");
    else checkSelector(faults, "spec.selector", objectAt(spec, "selector"));
    return;
  }
  if (!hasAt(spec, "selector")) {
    faults.required("spec.selector");
    return;
  }
  const { name, uid } = metadataOf(object);
  const labels = objectAt(metadataOf(objectAt(spec, "template")), "labels");
  const wanted: { readonly [label: string]: string } = {
    [uidLabel]: textOf(uid),
    [nameLabel]: textOf(name),
    [oldUidLabel]: textOf(uid),
    [oldNameLabel]: textOf(name),
  };
  for (const [key, value] of Object.entries(wanted)) {
    const at = `spec.template.metadata.labels[${key}]`;
    if (labels[key] === undefined) faults.required(at, `must be '${value}'`);
    else if (labels[key] !== value) faults.invalid(at, labels, `must be '${value}'`);
  }
  const expected = { matchLabels: { [uidLabel]: wanted[uidLabel] as string } };
  const old = { matchLabels: { [oldUidLabel]: wanted[oldUidLabel] as string } };
  const selector = objectAt(spec, "selector");
  if (!equal(selector, expected) && !equal(selector, old)) {
    faults.invalid("spec.selector", selector, "`selector` not auto-generated");
  }
}

/** What jobs and the templates of cron jobs have in common. */
export function* checkJobSpec(faults: Faults, at: string, spec: JsonObject): Steps<void> {
  for (const part of [
    "parallelism",
    "completions",
    "activeDeadlineSeconds",
    "backoffLimit",
    "ttlSecondsAfterFinished",
    "backoffLimitPerIndex",
    "maxFailedIndexes",
  ]) {
    faults.atLeast(`${at}.${part}`, field(spec, part));
  }
  checkIndexes(faults, at, spec);
  if (hasAt(spec, "podFailurePolicy")) checkFailurePolicy(faults, `${at}.podFailurePolicy`, spec);
  if (hasAt(spec, "successPolicy")) checkSuccessPolicy(faults, `${at}.successPolicy`, spec);
  if (hasAt(spec, "podReplacementPolicy")) {
    const policies = hasAt(spec, "podFailurePolicy") ? ["Failed"] : ["Failed", "TerminatingOrFailed"];
    faults.oneOf(`${at}.podReplacementPolicy`, textAt(spec, "podReplacementPolicy"), policies);
  }
  if (hasAt(spec, "managedBy")) {
    const manager = textAt(spec, "managedBy");
    domainPrefixedPath(faults, `${at}.managedBy`, manager);
    if (manager.length > 63) faults.tooLong(`${at}.managedBy`, 63);
  }
  const template = objectAt(spec, "template");
  yield* checkPodTemplate(faults, `${at}.template`, template);
  const restart = textAt(specOf(template), "restartPolicy");
  if (restart === "" || restart === "Always") {
    faults.required(`${at}.template.spec.restartPolicy`, 'valid values: "OnFailure", "Never"');
  } else if (restart !== "OnFailure" && restart !== "Never") {
    faults.unsupported(`${at}.template.spec.restartPolicy`, restart, ["OnFailure", "Never"]);
  } else if (hasAt(spec, "podFailurePolicy") && restart !== "Never") {
    faults.invalid(
      `${at}.template.spec.restartPolicy`,
      restart,
      'only "Never" is supported when podFailurePolicy is specified',
    );
  }
}

function checkIndexes(faults: Faults, at: string, spec: JsonObject): void {
  const completions = numberAt(spec, "completions");
  const failures = numberAt(spec, "maxFailedIndexes");
  if (failures !== undefined) {
    if (completions !== undefined && failures > completions) {
      faults.invalid(`${at}.maxFailedIndexes`, failures, "must be less than or equal to completions");
    }
    if (!hasAt(spec, "backoffLimitPerIndex")) {
      faults.required(`${at}.backoffLimitPerIndex`, "when maxFailedIndexes is specified");
    }
  }
  const mode = textAt(spec, "completionMode");
  if (!hasAt(spec, "completionMode")) return;
  if (mode !== "NonIndexed" && mode !== "Indexed") {
    faults.unsupported(`${at}.completionMode`, mode, ["NonIndexed", "Indexed"]);
  }
  if (mode === "Indexed") {
    if (completions === undefined) {
      faults.required(`${at}.completions`, "when completion mode is Indexed");
    }
    const parallelism = numberAt(spec, "parallelism");
    if (parallelism !== undefined && parallelism > mostIndexes) {
      faults.invalid(
        `${at}.parallelism`,
        parallelism,
        `must be less than or equal to ${mostIndexes} when completion mode is Indexed`,
      );
    }
  } else if (mode === "NonIndexed") {
    for (const part of ["backoffLimitPerIndex", "maxFailedIndexes"]) {
      if (hasAt(spec, part))
        faults.invalid(`${at}.${part}`, field(spec, part), "requires indexed completion mode");
    }
  }
}

function checkFrozen(faults: Faults, next: JsonObject, live: JsonObject): void {
  const [now, before] = [specOf(next), specOf(live)];
  checkCompletions(faults, now, before);
  checkSame(faults, "spec.selector", now.selector, before.selector);
  checkTemplate(faults, now, live);
  for (const part of [
    "completionMode",
    "podFailurePolicy",
    "backoffLimitPerIndex",
    "managedBy",
    "successPolicy",
  ]) {
    if (!equal(now[part] ?? null, before[part] ?? null)) {
      faults.invalid(`spec.${part}`, shown(part, now), immutable);
    }
  }
}

/** The value as the real server prints its own types. */
function shown(part: string, spec: JsonObject): Json {
  if (!hasAt(spec, part)) return null;
  if (part === "podFailurePolicy") return goFailurePolicy(objectAt(spec, part));
  return part === "successPolicy" ? goSuccessPolicy(objectAt(spec, part)) : (spec[part] as Json);
}

/** Jobs that count by index may grow and shrink as long as both numbers are one. */
function checkCompletions(faults: Faults, now: JsonObject, before: JsonObject): void {
  if (equal(now.completions ?? null, before.completions ?? null)) return;
  const elastic =
    textAt(before, "completionMode") === "Indexed" &&
    hasAt(now, "completions") &&
    now.completions === now.parallelism &&
    before.completions === before.parallelism;
  if (textAt(before, "completionMode") !== "Indexed") {
    faults.invalid("spec.completions", now.completions ?? null, immutable);
  } else if (!elastic) {
    faults.invalid(
      "spec.completions",
      now.completions ?? null,
      "can only be modified in tandem with spec.parallelism",
    );
  }
}

const schedulingFields = ["nodeSelector", "tolerations", "schedulingGates"];

/**
 * The template is frozen, but for where pods may run while the job is suspended and has not
 * started.
 */
function checkTemplate(faults: Faults, now: JsonObject, live: JsonObject): void {
  const before = specOf(live);
  const template = clone(objectAt(now, "template"));
  const old = objectAt(before, "template");
  const startable = before.suspend === true && !hasAt(statusOf(live), "startTime");
  if (startable) {
    const pod = ensure(template, "spec");
    for (const part of schedulingFields) put(pod, part, specOf(old)[part]);
    put(pod, "affinity", specOf(old).affinity);
    const metadata = ensure(template, "metadata");
    put(metadata, "labels", metadataOf(old).labels);
    put(metadata, "annotations", metadataOf(old).annotations);
  }
  if (!equal(template, old)) faults.invalid("spec.template", objectAt(now, "template"), immutable);
}
