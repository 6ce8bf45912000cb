import { isObject, type Json, type JsonObject } from "../json.ts";
import { goSource, goText } from "./go-text.ts";
import { listItemElement } from "./list-item.ts";
import { elementText, fieldElement, type PathElement } from "./path-element.ts";
import { type ListType, type MapType, type Scalar, shapeOf, type Type } from "./typed.ts";

/**
 * What is wrong with an object in the eyes of its schema, as the API server words it: one fault on
 * its line, several as an indented list. Undefined when nothing is.
 */
export function faultsOf(value: Json, type: Type, duplicates: "allowed" | "refused"): string | undefined {
  if (fits(value, type, duplicates)) return undefined;
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
