import { type Json, type JsonObject, textOf } from "../json.ts";
import { field, hasAt, itemsAt, objectAt, specOf, textAt } from "../json-fields.ts";
import type { Strategy } from "../registry/strategy.ts";
import {
  amount,
  checkContainerResourceName,
  checkResourceName,
  compareAmounts,
} from "../validation/amounts.ts";
import { Faults } from "../validation/faults.ts";
import { ensure, fill } from "../validation/fill.ts";
import { qualifiedName } from "../validation/names.ts";
import type { KindDeclaration } from "./declaration.ts";

const types = ["Pod", "Container", "PersistentVolumeClaim"];

const limitRange: Strategy = {
  createOnUpdate: true,
  setDefaults: (object) => {
    for (const limit of itemsAt(specOf(object), "limits")) {
      if (textAt(limit, "type") !== "Container") continue;
      for (const [from, into] of [
        ["max", "default"],
        ["default", "defaultRequest"],
        ["min", "defaultRequest"],
      ] as const) {
        if (hasAt(limit, from)) fill(ensure(limit, into), objectAt(limit, from));
      }
    }
  },
  validate: (object) => rangeFaults(object).causes,
  validateUpdate: (next) => rangeFaults(next).causes,
};

function rangeFaults(object: JsonObject): Faults {
  const faults = new Faults();
  const seen = new Set<string>();
  for (const [index, limit] of itemsAt(specOf(object), "limits").entries()) {
    checkLimit(faults, `spec.limits[${index}]`, limit, seen);
  }
  return faults;
}

function checkLimit(faults: Faults, at: string, limit: JsonObject, seen: Set<string>): void {
  const type = textAt(limit, "type");
  const complaints = qualifiedName(type);
  faults.each(`${at}.type`, type, complaints);
  if (complaints.length === 0 && !type.includes("/") && !types.includes(type)) {
    faults.invalid(`${at}.type`, type, "must be a standard limit type or fully qualified");
  }
  if (seen.has(type)) faults.duplicate(`${at}.type`, type);
  seen.add(type);
  const lists = {
    max: objectAt(limit, "max"),
    min: objectAt(limit, "min"),
    default: objectAt(limit, "default"),
    defaultRequest: objectAt(limit, "defaultRequest"),
    maxLimitRequestRatio: objectAt(limit, "maxLimitRequestRatio"),
  };
  if (type === "Pod") {
    for (const part of ["default", "defaultRequest"]) {
      if (hasAt(limit, part) && Object.keys(objectAt(limit, part)).length > 0) {
        faults.forbidden(`${at}.${part}`, "may not be specified when `type` is 'Pod'");
      }
    }
  }
  if (type === "PersistentVolumeClaim" && !hasAt(lists.min, "storage") && !hasAt(lists.max, "storage")) {
    faults.required(
      `${at}.limits`,
      "either minimum or maximum storage value is required, but neither was provided",
    );
  }
  for (const [part, list] of Object.entries(lists)) {
    if (type === "Pod" && part.startsWith("default")) continue;
    for (const name of Object.keys(list)) {
      if (type === "Container") checkContainerResourceName(faults, `${at}.${part}[${name}]`, name);
      else checkResourceName(faults, `${at}.${part}[${name}]`, name);
    }
  }
  const names = new Set(Object.values(lists).flatMap((list) => Object.keys(list)));
  for (const name of names) checkOrder(faults, at, name, lists);
}

interface Lists {
  readonly max: JsonObject;
  readonly min: JsonObject;
  readonly default: JsonObject;
  readonly defaultRequest: JsonObject;
  readonly maxLimitRequestRatio: JsonObject;
}

function checkOrder(faults: Faults, at: string, name: string, lists: Lists): void {
  const [max, min] = [field(lists.max, name), field(lists.min, name)];
  const [preset, request] = [field(lists.default, name), field(lists.defaultRequest, name)];
  const ratio = field(lists.maxLimitRequestRatio, name);
  const above = (a: Json | undefined, b: Json | undefined): boolean =>
    a !== undefined && b !== undefined && compareAmounts(a, b) > 0;
  if (above(min, max)) {
    faults.invalid(
      `${at}.min[${name}]`,
      min,
      `min value ${textOf(min)} is greater than max value ${textOf(max)}`,
    );
  }
  if (above(min, request)) {
    faults.invalid(
      `${at}.defaultRequest[${name}]`,
      request,
      `min value ${textOf(min)} is greater than default request value ${textOf(request)}`,
    );
  }
  if (above(request, max)) {
    faults.invalid(
      `${at}.defaultRequest[${name}]`,
      request,
      `default request value ${textOf(request)} is greater than max value ${textOf(max)}`,
    );
  }
  if (above(request, preset)) {
    faults.invalid(
      `${at}.defaultRequest[${name}]`,
      request,
      `default request value ${textOf(request)} is greater than default limit value ${textOf(preset)}`,
    );
  }
  // The real server shows the bound, not the default, in these two.
  if (above(min, preset)) {
    faults.invalid(
      `${at}.default[${name}]`,
      min,
      `min value ${textOf(min)} is greater than default value ${textOf(preset)}`,
    );
  }
  if (above(preset, max)) {
    faults.invalid(
      `${at}.default[${name}]`,
      max,
      `default value ${textOf(preset)} is greater than max value ${textOf(max)}`,
    );
  }
  if (ratio === undefined) return;
  if (amount(ratio).nanos < 1_000_000_000n) {
    faults.invalid(`${at}.maxLimitRequestRatio[${name}]`, ratio, `ratio ${textOf(ratio)} is less than 1`);
  }
}

export const limitRangeKind = {
  group: "",
  kind: "LimitRange",
  strategy: limitRange,
} satisfies KindDeclaration;
