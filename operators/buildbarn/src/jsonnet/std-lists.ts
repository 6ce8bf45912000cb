import { add, compare, equals } from "./operators.ts";
import type { Call, StandardFunction } from "./std-call.ts";
import { textOf } from "./text.ts";
import { ArrayValue, Thunk, type Value } from "./values.ts";

/** The functions of the library that work on arrays and sets. */
export const listFunctions: Readonly<Record<string, StandardFunction>> = {
  makeArray: ["sz func", (call) => generated(call, 0, call.number(0), call.function(1))],
  range: ["from to", (call) => generated(call, call.number(0), call.number(1) + 1, (index) => index.value)],
  repeat: ["what count", repeat],
  map: ["func arr", (call) => mapped(call, (item) => call.function(0)(item))],
  mapWithIndex: [
    "func arr",
    (call) => mapped(call, (item, index) => call.function(0)(call.thunk(index), item)),
  ],
  filter: ["func arr", (call) => new ArrayValue(filtered(call, 0, call.array(1)))],
  filterMap: [
    "filter_func map_func arr",
    (call) => {
      const apply = call.function(1);
      return new ArrayValue(
        filtered(call, 0, call.array(2)).map((item) => new Thunk(item.at, () => apply(item))),
      );
    },
  ],
  flatMap: ["func arr", flatMap],
  foldl: ["func arr init", (call) => folded(call, call.sequence(1), (made, item) => [made, item])],
  foldr: [
    "func arr init",
    (call) => folded(call, call.sequence(1).toReversed(), (made, item) => [item, made]),
  ],
  join: ["sep arr", join],
  lines: [
    "arr",
    (call) =>
      call
        .array(0)
        .map((item) => `${textOf(item.value, call.at)}\n`)
        .join(""),
  ],
  deepJoin: ["arr", (call) => deepJoin(call, call.value(0))],
  flattenArrays: [
    "arr",
    (call) => new ArrayValue(call.array(0).flatMap((item) => itemsOf(call, item.value))),
  ],
  flattenDeepArray: ["value", (call) => new ArrayValue(deepItems(call.thunk(call.value(0))))],
  reverse: ["arr", (call) => new ArrayValue(call.sequence(0).toReversed())],
  slice: [
    "indexable index end step",
    (call) => {
      const [from, to] = [call.value(1), call.value(2)].map((one) =>
        typeof one === "number" ? one : undefined,
      );
      const step = call.value(3) === null ? 1 : call.number(3);
      const taken = call
        .sequence(0)
        .slice(from, to)
        .filter((_, index) => index % step === 0);
      if (typeof call.value(0) !== "string") return new ArrayValue(taken);
      return taken.map((item) => textOf(item.value, call.at)).join("");
    },
  ],
  sort: ["arr keyF?", (call) => new ArrayValue(sorted(call, call.sequence(0), 1))],
  uniq: ["arr keyF?", (call) => new ArrayValue(unique(call, call.array(0), 1))],
  set: ["arr keyF?", (call) => new ArrayValue(unique(call, sorted(call, call.array(0), 1), 1))],
  setUnion: ["a b keyF?", (call) => combined(call, () => true)],
  setInter: ["a b keyF?", (call) => combined(call, (inA, inB) => inA && inB)],
  setDiff: ["a b keyF?", (call) => combined(call, (inA, inB) => inA && !inB)],
  setMember: [
    "x arr keyF?",
    (call) => {
      const key = keyed(call, 2);
      const wanted = key(call.thunk(call.value(0)));
      return call.array(1).some((item) => equals(key(item), wanted, call.at));
    },
  ],
  member: ["arr x", member],
  contains: ["arr elem", member],
  count: [
    "arr x",
    (call) => call.array(0).filter((item) => equals(item.value, call.value(1), call.at)).length,
  ],
  find: [
    "value arr",
    (call) =>
      call.list(
        call.array(1).flatMap((item, index) => (equals(item.value, call.value(0), call.at) ? [index] : [])),
      ),
  ],
  all: ["arr", (call) => call.array(0).every((item) => item.value === true)],
  any: ["arr", (call) => call.array(0).some((item) => item.value === true)],
  sum: ["arr", (call) => total(call)],
  avg: ["arr", (call) => total(call) / call.array(0).length],
  minArray: ["arr keyF?", (call) => sorted(call, call.array(0), 1)[0]?.value ?? null],
  maxArray: ["arr keyF?", (call) => sorted(call, call.array(0), 1).at(-1)?.value ?? null],
  remove: [
    "arr elem",
    (call) => {
      const index = call.array(0).findIndex((item) => equals(item.value, call.value(1), call.at));
      return new ArrayValue(call.array(0).filter((_, at) => at !== index));
    },
  ],
  removeAt: ["arr idx", (call) => new ArrayValue(call.array(0).filter((_, at) => at !== call.number(1)))],
};

function generated(call: Call, from: number, to: number, make: (index: Thunk) => Value): ArrayValue {
  const length = Math.max(0, to - from);
  call.library.budget.step(call.at, length);
  return new ArrayValue(
    Array.from({ length }, (_, index) => new Thunk(call.at, () => make(call.thunk(from + index)))),
  );
}

function repeat(call: Call): Value {
  const what = call.value(0);
  const count = call.number(1);
  call.library.budget.step(call.at, count * (typeof what === "string" ? what.length : call.array(0).length));
  if (typeof what === "string") return what.repeat(count);
  return new ArrayValue(Array.from({ length: count }, () => call.array(0)).flat());
}

function mapped(call: Call, apply: (item: Thunk, index: number) => Value): ArrayValue {
  return new ArrayValue(call.sequence(1).map((item, index) => new Thunk(item.at, () => apply(item, index))));
}

function filtered(call: Call, test: number, items: readonly Thunk[]): readonly Thunk[] {
  const keeps = call.function(test);
  return items.filter((item) => {
    const kept = keeps(item);
    if (typeof kept !== "boolean") throw call.fault("the function must return a boolean");
    return kept;
  });
}

function flatMap(call: Call): Value {
  const apply = call.function(0);
  if (typeof call.value(1) === "string")
    return call
      .sequence(1)
      .map((item) => textOf(apply(item), call.at))
      .join("");
  return new ArrayValue(call.array(1).flatMap((item) => itemsOf(call, apply(item))));
}

function folded(
  call: Call,
  items: readonly Thunk[],
  args: (made: Thunk, item: Thunk) => readonly [Thunk, Thunk],
): Value {
  const apply = call.function(0);
  return items.reduce((made, item) => apply(...args(call.thunk(made), item)), call.value(2));
}

function join(call: Call): Value {
  const separator = call.value(0);
  const parts = call.array(1).filter((item) => item.value !== null);
  if (typeof separator === "string")
    return parts
      .map((item) => {
        if (typeof item.value !== "string") throw call.fault("every item must be a string");
        return item.value;
      })
      .join(separator);
  return parts
    .map((item) => item.value)
    .reduce(
      (made, item, index) => (index === 0 ? item : add(add(made, separator, call.at), item, call.at)),
      call.list([]),
    );
}

function deepJoin(call: Call, value: Value): string {
  if (typeof value === "string") return value;
  return itemsOf(call, value)
    .map((item) => deepJoin(call, item.value))
    .join("");
}

function itemsOf(call: Call, value: Value): readonly Thunk[] {
  if (value instanceof ArrayValue) return value.items;
  throw call.fault("every item must be an array");
}

function deepItems(item: Thunk): readonly Thunk[] {
  return item.value instanceof ArrayValue ? item.value.items.flatMap(deepItems) : [item];
}

function keyed(call: Call, index: number): (item: Thunk) => Value {
  return call.has(index) ? call.function(index) : (item) => item.value;
}

function sorted(call: Call, items: readonly Thunk[], keyIndex: number): readonly Thunk[] {
  const key = keyed(call, keyIndex);
  return items
    .map((item) => [key(item), item] as const)
    .toSorted(([a], [b]) => compare(a, b, call.at))
    .map(([, item]) => item);
}

function unique(call: Call, items: readonly Thunk[], keyIndex: number): readonly Thunk[] {
  const key = keyed(call, keyIndex);
  return items.filter((item, index) => {
    const before = items[index - 1];
    return before === undefined || !equals(key(before), key(item), call.at);
  });
}

function combined(call: Call, keeps: (inA: boolean, inB: boolean) => boolean): ArrayValue {
  const key = keyed(call, 2);
  const holds = (items: readonly Thunk[], item: Thunk) =>
    items.some((one) => equals(key(one), key(item), call.at));
  const all = unique(call, sorted(call, [...call.array(0), ...call.array(1)], 2), 2);
  return new ArrayValue(all.filter((item) => keeps(holds(call.array(0), item), holds(call.array(1), item))));
}

function member(call: Call): boolean {
  const value = call.value(0);
  if (typeof value === "string") return value.includes(call.string(1));
  return call.array(0).some((item) => equals(item.value, call.value(1), call.at));
}

function total(call: Call): number {
  return call.array(0).reduce((sum, item) => {
    if (typeof item.value !== "number") throw call.fault("every item must be a number");
    return sum + item.value;
  }, 0);
}
