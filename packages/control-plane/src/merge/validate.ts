import { countParts, isObject, type Json, type JsonObject, largeParts } from "../json.ts";
import { nextTurn, type Steps, TurnBudget } from "../steps.ts";
import { goSource, goText } from "./go-text.ts";
import { listItemElement } from "./list-item.ts";
import { elementText, fieldElement, type PathElement } from "./path-element.ts";
import { type ListType, type MapType, type Scalar, shapeOf, type Type } from "./typed.ts";

/**
 * What is wrong with an object in the eyes of its schema, as the API server words it: one fault on
 * its line, several as an indented list. Undefined when nothing is.
 */
export function faultsOf(value: Json, type: Type, duplicates: "allowed" | "refused"): string | undefined {
  return fits(value, type, duplicates) ? undefined : describeFaults(value, type, duplicates);
}

/** As {@link faultsOf}; of a large object with turns of the event loop in between. */
export function* faultsInSteps(
  value: Json,
  type: Type,
  duplicates: "allowed" | "refused",
): Steps<string | undefined> {
  if (yield* fitsInSteps(value, type, duplicates, new TurnBudget(partsPerTurn))) return undefined;
  yield nextTurn;
  return describeFaults(value, type, duplicates);
}

/** How many parts of an object are validated between two turns of the event loop. */
const partsPerTurn = 50_000;

function describeFaults(value: Json, type: Type, duplicates: "allowed" | "refused"): string | undefined {
  const faults: string[] = [];
  validate(value, type, { path: "", duplicates, faults });
  if (faults.length < 2) return faults[0];
  return ["errors:", ...faults.map((fault) => `  ${fault}`)].join("\n");
}

/**
 * Every write asks whether its object fits, and it nearly always does: so that is found out without
 * naming faults.
 */
function fits(value: Json, type: Type, duplicates: "allowed" | "refused"): boolean {
  if (value === null) return true;
  switch (shapeOf(type, value)) {
    case "map":
      return isObject(value) && type.map !== undefined && fitsMap(value, type.map, duplicates);
    case "list":
      return Array.isArray(value) && type.list !== undefined && fitsList(value, type.list, duplicates);
    case "scalar":
      return fitsScalar(value, type.scalar);
  }
}

function fitsMap(value: JsonObject, map: MapType, duplicates: "allowed" | "refused"): boolean {
  for (const name of Object.keys(value)) {
    const below = map.field(name)?.type ?? map.element;
    if (below === undefined || !fits(value[name] as Json, below, duplicates)) return false;
  }
  return true;
}

function fitsList(value: readonly Json[], list: ListType, duplicates: "allowed" | "refused"): boolean {
  if (!list.atomic) {
    const elements = value.map((item) => listItemElement(list, item));
    if (!elements.every((element) => typeof element === "string")) return false;
    if (duplicates === "refused" && new Set(elements).size < elements.length) return false;
  }
  return value.every((item) => fits(item, list.element, duplicates));
}

/** As {@link fits}, with turns of the event loop in between where the value is large. */
function* fitsInSteps(
  value: Json,
  type: Type,
  duplicates: "allowed" | "refused",
  budget: TurnBudget,
): Steps<boolean> {
  const parts = countParts(value, budget.wide);
  if (budget.spend(parts)) yield nextTurn;
  if (parts <= largeParts) return fits(value, type, duplicates);
  if (isObject(value) && type.map) {
    for (const name of Object.keys(value)) {
      const below = type.map.field(name)?.type ?? type.map.element;
      if (below === undefined) return false;
      if (!(yield* fitsInSteps(value[name] as Json, below, duplicates, budget))) return false;
    }
    return true;
  }
  if (Array.isArray(value) && type.list) {
    const seen = new Set<PathElement>();
    for (const item of value) {
      if (!type.list.atomic) {
        const element = listItemElement(type.list, item);
        if (typeof element !== "string") return false;
        if (duplicates === "refused" && seen.has(element)) return false;
        seen.add(element);
      }
      if (!(yield* fitsInSteps(item, type.list.element, duplicates, budget))) return false;
    }
    return true;
  }
  return fits(value, type, duplicates);
}

function fitsScalar(value: Json, scalar: Scalar | undefined): boolean {
  if (scalar === "untyped") return typeof value !== "object";
  if (scalar === "numeric") return typeof value === "number" || typeof value === "bigint";
  return typeof value === scalar;
}

interface Walk {
  readonly path: string;
  readonly duplicates: "allowed" | "refused";
  readonly faults: string[];
}

function validate(value: Json, type: Type, walk: Walk): void {
  if (value === null) return;
  switch (shapeOf(type, value)) {
    case "map":
      validateMap(value, type, walk);
      break;
    case "list":
      validateList(value, type, walk);
      break;
    case "scalar":
      validateScalar(value, type.scalar as Scalar, walk);
      break;
  }
}

function validateMap(value: Json, type: Type, walk: Walk): void {
  if (!isObject(value)) {
    report(walk, `expected map, got &{${goText(value)}}`);
    return;
  }
  for (const name of Object.keys(value).toSorted()) {
    const below = type.map?.field(name)?.type ?? type.map?.element;
    const step = into(walk, fieldElement(name));
    if (below === undefined) {
      report(step, "field not declared in schema");
      return;
    }
    validate(value[name] as Json, below, step);
  }
}

function validateList(value: Json, type: Type, walk: Walk): void {
  const list = type.list;
  if (!Array.isArray(value) || list === undefined) {
    report(walk, `expected list, got &{${goText(value)}}`);
    return;
  }
  const seen = new Set<PathElement>();
  for (const [at, item] of value.entries()) {
    if (list.atomic) {
      validate(item, list.element, into(walk, `i:${at}`));
      continue;
    }
    const element = listItemElement(list, item);
    if (typeof element !== "string") {
      report(walk, `element ${at}: ${element.fault}`);
      return;
    }
    if (seen.has(element) && walk.duplicates === "refused") {
      report(walk, `duplicate entries for key ${elementText(element)}`);
    }
    seen.add(element);
    validate(item, list.element, into(walk, element));
  }
}

function validateScalar(value: Json, scalar: Scalar, walk: Walk): void {
  const kind = typeof value === "bigint" ? "number" : typeof value;
  switch (scalar) {
    case "numeric":
      if (kind !== "number") report(walk, `expected numeric (int or float), got ${goType(value)}`);
      break;
    case "string":
      if (kind !== "string")
        report(walk, `expected string, got &value.valueUnstructured{Value:${goSource(value)}}`);
      break;
    case "boolean":
      if (kind !== "boolean") report(walk, `expected boolean, got &{${goText(value)}}`);
      break;
    case "untyped":
      if (kind === "object") report(walk, `expected any scalar, got &{${goText(value)}}`);
      break;
  }
}

function into(walk: Walk, element: PathElement): Walk {
  return { ...walk, path: walk.path + elementText(element) };
}

function report(walk: Walk, fault: string): void {
  walk.faults.push(walk.path === "" ? fault : `${walk.path}: ${fault}`);
}

function goType(value: Json): string {
  if (typeof value === "string") return "string";
  if (typeof value === "boolean") return "bool";
  return Array.isArray(value) ? "[]interface {}" : "map[string]interface {}";
}
