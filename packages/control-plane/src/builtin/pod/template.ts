import type { Json, JsonObject } from "../../json.ts";
import { equal } from "../../json.ts";
import { field, hasAt, metadataOf, numberAt, objectAt, specOf, statusOf, textAt } from "../../json-fields.ts";
import { selectorMatcher } from "../../registry/label-selector.ts";
import { invalid } from "../../status.ts";
import type { Steps } from "../../steps.ts";
import { Faults, immutable } from "../../validation/faults.ts";
import { ensure } from "../../validation/fill.ts";
import { checkSelector, selectorIsEmpty, selectorIsSound } from "../../validation/selectors.ts";
import { podSpecDefaults } from "./defaults.ts";
import { checkPodTemplate } from "./spec.ts";

/** The pod template of a workload, filled in. */
export function templateDefaults(spec: JsonObject): void {
  podSpecDefaults(ensure(ensure(spec, "template"), "spec"));
}

/** How a kind complains about the selector of its pods. */
export interface SelectorRules {
  /** What the kind is called in complaints. */
  readonly kind: string;
  /** Who may not have a deadline, in complaints. */
  readonly deadlineOwner: string;
  /** Whether the lack of a selector is a fault of its own. */
  readonly required: boolean;
  /** What is said of a selector that cannot be used as a whole; undefined: nothing. */
  readonly unusable: string | undefined;
}

/** The selector of a workload, and its template, which the selector must match. */
export function* checkSelectedTemplate(faults: Faults, spec: JsonObject, rules: SelectorRules): Steps<void> {
  const selector = objectAt(spec, "selector");
  const given = hasAt(spec, "selector");
  if (!given && rules.required) faults.required("spec.selector");
  if (given) {
    checkSelector(faults, "spec.selector", selector);
    if (selectorIsEmpty(selector)) {
      faults.invalid("spec.selector", selector, `empty selector is invalid for ${rules.kind}`);
    }
  }
  if (given && !selectorIsSound(selector)) {
    if (rules.unusable !== undefined) {
      faults.invalid("spec.selector", selector, rules.unusable);
      return;
    }
  } else checkMatches(faults, spec, given ? selector : undefined);
  yield* checkEndlessTemplate(faults, spec, rules.deadlineOwner);
}

export function checkMatches(faults: Faults, spec: JsonObject, selector: JsonObject | undefined): void {
  const labels = field(objectAt(objectAt(spec, "template"), "metadata"), "labels") as JsonObject | undefined;
  if (!selectorMatcher(selector)(labels)) {
    faults.invalid(
      "spec.template.metadata.labels",
      labels ?? null,
      "`selector` does not match template `labels`",
    );
  }
}

/** A template of pods that are to run indefinitely. */
export function* checkEndlessTemplate(faults: Faults, spec: JsonObject, owner: string): Steps<void> {
  const template = objectAt(spec, "template");
  yield* checkPodTemplate(faults, "spec.template", template);
  const restart = textAt(specOf(template), "restartPolicy");
  if (restart !== "Always") faults.unsupported("spec.template.spec.restartPolicy", restart, ["Always"]);
  if (hasAt(specOf(template), "activeDeadlineSeconds")) {
    faults.forbidden(
      "spec.template.spec.activeDeadlineSeconds",
      `activeDeadlineSeconds in ${owner} is not Supported`,
    );
  }
}

/** Through the scale endpoint a fault is the Scale's. @throws StatusError 422 */
export function checkScale(next: JsonObject, subresource: string | undefined): void {
  if (subresource !== "scale") return;
  const faults = new Faults();
  faults.atLeast("spec.replicas", field(specOf(next), "replicas"));
  if (faults.none) return;
  throw invalid({ group: "autoscaling", kind: "Scale" }, textAt(metadataOf(next), "name"), faults.causes);
}

export function checkSame(faults: Faults, at: string, now: Json | undefined, before: Json | undefined): void {
  if (!equal(now ?? null, before ?? null)) faults.invalid(at, now ?? null, immutable);
}

/** Counts in a status: none negative, and some no more than all. */
export function checkCounts(
  faults: Faults,
  object: JsonObject,
  counts: readonly string[],
  bounded: readonly string[] = [],
): void {
  const status = statusOf(object);
  for (const part of counts) faults.atLeast(`status.${part}`, field(status, part));
  const all = numberAt(status, "replicas") ?? 0;
  for (const part of bounded) {
    const count = numberAt(status, part) ?? 0;
    if (count > all) faults.invalid(`status.${part}`, count, "cannot be greater than status.replicas");
  }
}

/** Fewer can be available than are ready, never more. */
export function checkAvailable(faults: Faults, object: JsonObject): void {
  const status = statusOf(object);
  const available = numberAt(status, "availableReplicas") ?? 0;
  if (available > (numberAt(status, "readyReplicas") ?? 0)) {
    faults.invalid("status.availableReplicas", available, "cannot be greater than readyReplicas");
  }
}

/** A count of collisions only grows. */
export function checkCollisions(faults: Faults, next: JsonObject, live: JsonObject): void {
  const [now, before] = [
    numberAt(statusOf(next), "collisionCount"),
    numberAt(statusOf(live), "collisionCount"),
  ];
  if (now !== undefined && now < 0) faults.atLeast("status.collisionCount", now);
  if (before !== undefined && (now === undefined || now < before)) {
    faults.invalid("status.collisionCount", now ?? 0, "cannot be decremented");
  }
}
