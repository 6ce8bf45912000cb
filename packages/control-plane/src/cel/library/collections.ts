import { fn, method, type Overload } from "../functions.ts";
import {
  BOOL,
  BYTES,
  DOUBLE,
  DURATION,
  DYN,
  INT,
  listOf,
  mapOf,
  optionalOf,
  param,
  STRING,
  TIMESTAMP,
  TYPE,
  type Type,
  UINT,
} from "../types.ts";
import {
  CelError,
  CelMap,
  compare,
  concatenate,
  Duration,
  equals,
  NONE,
  NoSuchOverload,
  Optional,
  TypeValue,
  typeOf,
  Uint,
  type Value,
} from "../values.ts";
import { int, uint } from "./numbers.ts";
import { shownText } from "./strings.ts";

const A = param("A");
const B = param("B");
const LIST = listOf(A);
const MAP = mapOf(A, B);
const ORDERED: readonly Type[] = [INT, UINT, DOUBLE, BOOL, STRING, BYTES, TIMESTAMP, DURATION];

function contains(list: Value[], item: Value): boolean {
  return list.some((other) => equals(other, item));
}

export function indexInto(container: Value, index: Value): Value {
  if (container instanceof CelMap) {
    const value = container.get(index);
    if (value === undefined) throw new CelError(`no such key: ${shownText(index)}`);
    return value;
  }
  if (!Array.isArray(container)) throw new NoSuchOverload();
  const at = index instanceof Uint ? index.value : index;
  if (typeof at !== "bigint" && !(typeof at === "number" && Number.isInteger(at))) {
    throw new CelError(`unsupported index type '${typeOf(index)}' in list`);
  }
  const value = container[Number(at)];
  if (at < 0 || value === undefined) throw new CelError(`index out of bounds: ${at}`);
  return value;
}

/** The entry at an index or key, if it is there. */
export function optionalIndex(container: Value, index: Value): Optional {
  if (container instanceof Optional) {
    return container.value === undefined ? NONE : optionalIndex(container.value, index);
  }
  if (container instanceof CelMap) {
    const value = container.get(index);
    return value === undefined ? NONE : new Optional(value);
  }
  if (Array.isArray(container) && typeof index === "bigint") {
    const value = index < 0n ? undefined : container[Number(index)];
    return value === undefined ? NONE : new Optional(value);
  }
  throw new NoSuchOverload();
}

function comparisons(name: string, holds: (order: number) => boolean): Overload[] {
  const run = (a: Value, b: Value): Value => {
    const order = compare(a, b);
    if (order === undefined) {
      if (typeof a === "number" || typeof b === "number") return false;
      throw new NoSuchOverload();
    }
    return holds(order);
  };
  const cost = (a = 0, b = 0): number => Math.ceil(Math.min(a, b) * 0.1);
  const overloads = ORDERED.map((type) =>
    fn(name, [type, type], BOOL, run, type.kind === "string" || type.kind === "bytes" ? { cost } : {}),
  );
  for (const left of [INT, UINT, DOUBLE]) {
    for (const right of [INT, UINT, DOUBLE]) {
      if (left !== right) overloads.push(fn(name, [left, right], BOOL, run));
    }
  }
  return overloads;
}

const equalityCost = { cost: (a = 0, b = 0): number => Math.max(1, Math.ceil(Math.min(a, b) * 0.1)) };

function smallest(list: Value[], sign: 1 | -1, name: string): Value {
  const [first] = list;
  if (first === undefined) throw new CelError(`${name} called on empty list`);
  return list.reduce((best, next) => ((compare(next, best) ?? 0) * sign < 0 ? next : best), first);
}

function sum(list: Value[], zero: Value): Value {
  return list.reduce((total, next) => {
    if (typeof total === "bigint" && typeof next === "bigint") return int(total + next);
    if (typeof total === "number" && typeof next === "number") return total + next;
    if (total instanceof Uint && next instanceof Uint) return uint(total.value + next.value);
    if (total instanceof Duration && next instanceof Duration)
      return new Duration(int(total.nanos + next.nanos));
    throw new NoSuchOverload();
  }, zero);
}

function isSorted(list: Value[]): boolean {
  return list.every((item, index) => index === 0 || (compare(list[index - 1] as Value, item) ?? 0) <= 0);
}

function isZero(value: Value): boolean {
  if (value === null || value === false || value === 0n || value === 0 || value === "") return true;
  if (Array.isArray(value)) return value.length === 0;
  if (value instanceof CelMap) return value.size === 0;
  if (value instanceof Uint8Array) return value.length === 0;
  if (value instanceof Uint) return value.value === 0n;
  if (value instanceof Duration) return value.nanos === 0n;
  return value instanceof Optional && value.value === undefined;
}

const perItem = { cost: (size = 0): number => size };
const setCost = { cost: (a = 0, b = 0): number => 1 + a * b };

function slice(list: Value[], start: bigint, end: bigint): Value[] {
  if (start < 0n || end < 0n)
    throw new CelError(`cannot slice(${start}, ${end}), negative indexes not supported`);
  if (start > end) {
    throw new CelError(`cannot slice(${start}, ${end}), start index must be less than or equal to end index`);
  }
  if (end > BigInt(list.length))
    throw new CelError(`cannot slice(${start}, ${end}), list is length ${list.length}`);
  return list.slice(Number(start), Number(end));
}

function flatten(list: Value[], depth: bigint): Value[] {
  if (depth < 0n) throw new CelError("level must be non-negative");
  return list.flatMap((item) =>
    Array.isArray(item) ? (depth > 1n ? flatten(item, depth - 1n) : [...item]) : [item],
  );
}

function distinct(list: Value[]): Value[] {
  return list.filter((item, index) => list.findIndex((other) => equals(other, item)) === index);
}

function sorted(list: Value[]): Value[] {
  return [...list].sort((a, b) => compare(a, b) ?? 0);
}

function range(count: bigint): Value[] {
  if (count > 10_000_000n) throw new CelError("list too long");
  return Array.from({ length: Math.max(0, Number(count)) }, (_, index) => BigInt(index));
}

const sameSize = { cost: (size = 0): number => size, size: (size = 0): number => size };
const quadratic = { cost: (size = 0): number => size * size, size: (size = 0): number => size };

const LISTS: readonly Overload[] = [
  method("slice", [LIST, INT, INT], LIST, slice, sameSize),
  method("flatten", [listOf(LIST)], LIST, (list: Value[]) => flatten(list, 1n), sameSize),
  method("flatten", [listOf(DYN), INT], listOf(DYN), flatten, sameSize),
  method("distinct", [LIST], LIST, distinct, quadratic),
  method("reverse", [LIST], LIST, (list: Value[]) => [...list].reverse(), sameSize),
  ...ORDERED.map((type) => method("sort", [listOf(type)], listOf(type), sorted, quadratic)),
  method("first", [LIST], optionalOf(A), (list: Value[]) =>
    list[0] === undefined ? NONE : new Optional(list[0]),
  ),
  method("last", [LIST], optionalOf(A), (list: Value[]) => {
    const item = list.at(-1);
    return item === undefined ? NONE : new Optional(item);
  }),
  fn("lists.range", [INT], listOf(INT), range),
];

export const COLLECTIONS: readonly Overload[] = [
  fn("_==_", [A, A], BOOL, equals, equalityCost),
  fn("_!=_", [A, A], BOOL, (a, b) => !equals(a as Value, b as Value), equalityCost),
  ...comparisons("_<_", (order) => order < 0),
  ...comparisons("_<=_", (order) => order <= 0),
  ...comparisons("_>_", (order) => order > 0),
  ...comparisons("_>=_", (order) => order >= 0),
  fn("!_", [BOOL], BOOL, (value: boolean) => !value),

  fn("_+_", [LIST, LIST], LIST, concatenate, { size: (a = 0, b = 0) => a + b }),
  fn("size", [LIST], INT, (list: Value[]) => BigInt(list.length)),
  method("size", [LIST], INT, (list: Value[]) => BigInt(list.length)),
  fn("size", [MAP], INT, (map: CelMap) => BigInt(map.size)),
  method("size", [MAP], INT, (map: CelMap) => BigInt(map.size)),
  fn("@in", [A, LIST], BOOL, (item: Value, list: Value[]) => contains(list, item), {
    cost: (_item = 0, size = 0) => size,
  }),
  fn("@in", [A, MAP], BOOL, (key: Value, map: CelMap) => map.has(key)),
  fn("_[_]", [LIST, INT], A, indexInto),
  fn("_[_]", [MAP, A], B, indexInto),
  fn("_[?_]", [LIST, INT], optionalOf(A), optionalIndex),
  fn("_[?_]", [MAP, A], optionalOf(B), optionalIndex),
  fn("_[?_]", [optionalOf(LIST), INT], optionalOf(A), optionalIndex),
  fn("_[?_]", [optionalOf(MAP), A], optionalOf(B), optionalIndex),
  fn("_[_]", [optionalOf(LIST), INT], optionalOf(A), optionalIndex),
  fn("_[_]", [optionalOf(MAP), A], optionalOf(B), optionalIndex),

  fn("type", [A], TYPE, (value: Value) => new TypeValue(typeOf(value))),
  fn("dyn", [A], DYN, (value) => value as Value),

  fn("optional.of", [A], optionalOf(A), (value: Value) => new Optional(value)),
  fn("optional.none", [], optionalOf(A), () => NONE),
  fn("optional.ofNonZeroValue", [A], optionalOf(A), (value: Value) =>
    isZero(value) ? NONE : new Optional(value),
  ),
  method("hasValue", [optionalOf(A)], BOOL, (optional: Optional) => optional.value !== undefined),
  method("value", [optionalOf(A)], A, (optional: Optional) => {
    if (optional.value === undefined) throw new CelError("optional.none() dereference");
    return optional.value;
  }),
  method("or", [optionalOf(A), optionalOf(A)], optionalOf(A), (a: Optional, b: Optional) =>
    a.value === undefined ? b : a,
  ),
  method("orValue", [optionalOf(A), A], A, (optional: Optional, other: Value) => optional.value ?? other),

  ...ORDERED.map((type) => method("isSorted", [listOf(type)], BOOL, isSorted, perItem)),
  ...ORDERED.flatMap((type) => [
    method("min", [listOf(type)], type, (list: Value[]) => smallest(list, 1, "min"), perItem),
    method("max", [listOf(type)], type, (list: Value[]) => smallest(list, -1, "max"), perItem),
  ]),
  method("sum", [listOf(INT)], INT, (list: Value[]) => sum(list, 0n), perItem),
  method("sum", [listOf(UINT)], UINT, (list: Value[]) => sum(list, new Uint(0n)), perItem),
  method("sum", [listOf(DOUBLE)], DOUBLE, (list: Value[]) => sum(list, 0), perItem),
  method("sum", [listOf(DURATION)], DURATION, (list: Value[]) => sum(list, new Duration(0n)), perItem),
  method(
    "indexOf",
    [LIST, A],
    INT,
    (list: Value[], item: Value) => BigInt(list.findIndex((other) => equals(other, item))),
    perItem,
  ),
  method(
    "lastIndexOf",
    [LIST, A],
    INT,
    (list: Value[], item: Value) => BigInt(list.findLastIndex((other) => equals(other, item))),
    perItem,
  ),

  ...LISTS,
  fn(
    "sets.contains",
    [LIST, LIST],
    BOOL,
    (a: Value[], b: Value[]) => b.every((item) => contains(a, item)),
    setCost,
  ),
  fn(
    "sets.intersects",
    [LIST, LIST],
    BOOL,
    (a: Value[], b: Value[]) => b.some((item) => contains(a, item)),
    setCost,
  ),
  fn(
    "sets.equivalent",
    [LIST, LIST],
    BOOL,
    (a: Value[], b: Value[]) => a.every((item) => contains(b, item)) && b.every((item) => contains(a, item)),
    setCost,
  ),
];
