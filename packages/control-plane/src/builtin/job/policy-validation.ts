import type { JsonObject } from "../../json.ts";
import type { Faults } from "../../validation/faults.ts";
import { child, has, items, number, own, specOf, text } from "../../validation/fields.ts";

const actions = ["Count", "FailIndex", "FailJob", "Ignore"];

/** Validates the pod failure policy. */
export function checkFailurePolicy(faults: Faults, at: string, spec: JsonObject): void {
  const rules = items(child(spec, "podFailurePolicy"), "rules");
  if (rules.length > 20) faults.tooMany(`${at}.rules`, rules.length, 20);
  const pod = specOf(child(spec, "template"));
  const names = [...items(pod, "containers"), ...items(pod, "initContainers")].map((one) =>
    text(one, "name"),
  );
  for (const [index, rule] of rules.entries()) {
    const path = `${at}.rules[${index}]`;
    const action = text(rule, "action");
    if (action === "") {
      faults.required(
        `${path}.action`,
        `valid values: ${actions.map((one) => JSON.stringify(one)).join(", ")}`,
      );
    } else if (action === "FailIndex" && !has(spec, "backoffLimitPerIndex")) {
      faults.invalid(`${path}.action`, action, "requires the backoffLimitPerIndex to be set");
    } else faults.oneOf(`${path}.action`, action, actions);
    if (has(rule, "onExitCodes"))
      checkExitCodes(faults, `${path}.onExitCodes`, child(rule, "onExitCodes"), names);
    const conditions = items(rule, "onPodConditions");
    for (const [place, condition] of conditions.entries()) {
      if (text(condition, "type") === "") faults.required(`${path}.onPodConditions[${place}].type`);
      faults.oneOf(`${path}.onPodConditions[${place}].status`, text(condition, "status"), [
        "False",
        "True",
        "Unknown",
      ]);
    }
    if (has(rule, "onExitCodes") && conditions.length > 0) {
      faults.invalidUnshown(path, "specifying both OnExitCodes and OnPodConditions is not supported");
    }
    if (!has(rule, "onExitCodes") && conditions.length === 0) {
      faults.invalidUnshown(path, "specifying one of OnExitCodes and OnPodConditions is required");
    }
  }
}

function checkExitCodes(faults: Faults, at: string, rule: JsonObject, names: readonly string[]): void {
  const operator = text(rule, "operator");
  if (operator === "") faults.required(`${at}.operator`, 'valid values: "In", "NotIn"');
  else faults.oneOf(`${at}.operator`, operator, ["In", "NotIn"]);
  if (has(rule, "containerName") && !names.includes(text(rule, "containerName"))) {
    faults.invalid(
      `${at}.containerName`,
      text(rule, "containerName"),
      "must be one of the container or initContainer names in the pod template",
    );
  }
  const values = (own(rule, "values") ?? []) as number[];
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
  const rules = items(child(spec, "successPolicy"), "rules");
  if (text(spec, "completionMode") !== "Indexed") {
    faults.invalid(at, goSuccessPolicy(child(spec, "successPolicy")), "requires indexed completion mode");
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
    const count = number(rule, "succeededCount");
    faults.atLeast(`${path}.succeededCount`, count);
    if (count !== undefined && count > (number(spec, "completions") ?? 0)) {
      faults.invalid(
        `${path}.succeededCount`,
        count,
        `must be less than or equal to ${number(spec, "completions") ?? 0} (the number of specified completions)`,
      );
    }
    if (!has(rule, "succeededCount") && !has(rule, "succeededIndexes")) {
      faults.required(path, "at least one of succeededCount or succeededIndexes must be specified");
    }
  }
}

/** The policies as the real server holds them, for messages. */
export function goSuccessPolicy(policy: JsonObject): JsonObject {
  const Rules = items(policy, "rules").map((rule) => ({
    SucceededIndexes: own(rule, "succeededIndexes") ?? null,
    SucceededCount: own(rule, "succeededCount") ?? null,
  }));
  return { Rules };
}

export function goFailurePolicy(policy: JsonObject): JsonObject {
  const Rules = items(policy, "rules").map((rule) => {
    const codes = child(rule, "onExitCodes");
    return {
      Action: text(rule, "action"),
      OnExitCodes: has(rule, "onExitCodes")
        ? {
            ContainerName: own(codes, "containerName") ?? null,
            Operator: text(codes, "operator"),
            Values: own(codes, "values") ?? null,
          }
        : null,
      OnPodConditions: has(rule, "onPodConditions")
        ? items(rule, "onPodConditions").map((one) => ({
            Type: text(one, "type"),
            Status: text(one, "status"),
          }))
        : null,
    };
  });
  return { Rules };
}
