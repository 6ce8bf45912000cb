import type { JsonObject } from "../../json.ts";
import { field, hasAt, itemsAt, numberAt, objectAt, specOf, textAt } from "../../json-fields.ts";
import type { Faults } from "../../validation/faults.ts";

const actions = ["Count", "FailIndex", "FailJob", "Ignore"];

/** Validates the pod failure policy. */
export function checkFailurePolicy(faults: Faults, at: string, spec: JsonObject): void {
  const rules = itemsAt(objectAt(spec, "podFailurePolicy"), "rules");
  if (rules.length > 20) faults.tooMany(`${at}.rules`, rules.length, 20);
  const pod = specOf(objectAt(spec, "template"));
  const names = [...itemsAt(pod, "containers"), ...itemsAt(pod, "initContainers")].map((one) =>
    textAt(one, "name"),
  );
  for (const [index, rule] of rules.entries()) {
    const path = `${at}.rules[${index}]`;
    const action = textAt(rule, "action");
    if (action === "") {
      faults.required(
        `${path}.action`,
        `valid values: ${actions.map((one) => JSON.stringify(one)).join(", ")}`,
      );
    } else if (action === "FailIndex" && !hasAt(spec, "backoffLimitPerIndex")) {
      faults.invalid(`${path}.action`, action, "requires the backoffLimitPerIndex to be set");
    } else faults.oneOf(`${path}.action`, action, actions);
    if (hasAt(rule, "onExitCodes"))
      checkExitCodes(faults, `${path}.onExitCodes`, objectAt(rule, "onExitCodes"), names);
    const conditions = itemsAt(rule, "onPodConditions");
    for (const [place, condition] of conditions.entries()) {
      if (textAt(condition, "type") === "") faults.required(`${path}.onPodConditions[${place}].type`);
      faults.oneOf(`${path}.onPodConditions[${place}].status`, textAt(condition, "status"), [
        "False",
        "True",
        "Unknown",
      ]);
    }
    if (hasAt(rule, "onExitCodes") && conditions.length > 0) {
      faults.invalidUnshown(path, "specifying both OnExitCodes and OnPodConditions is not supported");
    }
    if (!hasAt(rule, "onExitCodes") && conditions.length === 0) {
      faults.invalidUnshown(path, "specifying one of OnExitCodes and OnPodConditions is required");
    }
  }
}

function checkExitCodes(faults: Faults, at: string, rule: JsonObject, names: readonly string[]): void {
  const operator = textAt(rule, "operator");
  if (operator === "") faults.required(`${at}.operator`, 'valid values: "In", "NotIn"');
  else faults.oneOf(`${at}.operator`, operator, ["In", "NotIn"]);
  if (hasAt(rule, "containerName") && !names.includes(textAt(rule, "containerName"))) {
    faults.invalid(
      `${at}.containerName`,
      textAt(rule, "containerName"),
      "must be one of the container or initContainer names in the pod template",
    );
  }
  const values = (field(rule, "values") ?? []) as number[];
  if (values.length === 0) faults.invalid(`${at}.values`, values, "at least one value is required");
  if (values.length > 255) faults.tooMany(`${at}.values`, values.length, 255);
  for (const [index, value] of values.entries()) {
    if (operator === "In" && value === 0) {
      faults.invalid(`${at}.values[${index}]`, value, "must not be 0 for the In operator");
    }
    if (values.indexOf(value) < index) faults.duplicate(`${at}.values[${index}]`, value);
    const previous = values[index - 1];
    if (previous !== undefined && previous > value) {
      faults.invalid(`${at}.values`, values, "must be ordered");
    }
  }
}

/** Validates the success policy. */
export function checkSuccessPolicy(faults: Faults, at: string, spec: JsonObject): void {
  const rules = itemsAt(objectAt(spec, "successPolicy"), "rules");
  if (textAt(spec, "completionMode") !== "Indexed") {
    faults.invalid(at, goSuccessPolicy(objectAt(spec, "successPolicy")), "requires indexed completion mode");
    return;
  }
  if (rules.length === 0)
    faults.required(
      `${at}.rules`,
      "at least one rules must be specified when the successPolicy is specified",
    );
  if (rules.length > 20) faults.tooMany(`${at}.rules`, rules.length, 20);
  for (const [index, rule] of rules.entries()) {
    const path = `${at}.rules[${index}]`;
    const count = numberAt(rule, "succeededCount");
    faults.atLeast(`${path}.succeededCount`, count);
    if (count !== undefined && count > (numberAt(spec, "completions") ?? 0)) {
      faults.invalid(
        `${path}.succeededCount`,
        count,
        `must be less than or equal to ${numberAt(spec, "completions") ?? 0} (the number of specified completions)`,
      );
    }
    if (!hasAt(rule, "succeededCount") && !hasAt(rule, "succeededIndexes")) {
      faults.required(path, "at least one of succeededCount or succeededIndexes must be specified");
    }
  }
}

/** The policies as the real server holds them, for messages. */
export function goSuccessPolicy(policy: JsonObject): JsonObject {
  const Rules = itemsAt(policy, "rules").map((rule) => ({
    SucceededIndexes: field(rule, "succeededIndexes") ?? null,
    SucceededCount: field(rule, "succeededCount") ?? null,
  }));
  return { Rules };
}

export function goFailurePolicy(policy: JsonObject): JsonObject {
  const Rules = itemsAt(policy, "rules").map((rule) => {
    const codes = objectAt(rule, "onExitCodes");
    return {
      Action: textAt(rule, "action"),
      OnExitCodes: hasAt(rule, "onExitCodes")
        ? {
            ContainerName: field(codes, "containerName") ?? null,
            Operator: textAt(codes, "operator"),
            Values: field(codes, "values") ?? null,
          }
        : null,
      OnPodConditions: hasAt(rule, "onPodConditions")
        ? itemsAt(rule, "onPodConditions").map((one) => ({
            Type: textAt(one, "type"),
            Status: textAt(one, "status"),
          }))
        : null,
    };
  });
  return { Rules };
}
