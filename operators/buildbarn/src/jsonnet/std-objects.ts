import { equals } from "./operators.ts";
import type { Call, StandardFunction } from "./std-call.ts";
import { textOf } from "./text.ts";
import { ArrayValue, FunctionValue, ObjectValue, Thunk, type Value } from "./values.ts";

/** The functions of the library that work on objects. */
export const objectFunctions: Readonly<Record<string, StandardFunction>> = {
  length: ["x", length],
  objectHas: ["o f", (call) => call.object(0).has(call.string(1)) && call.object(0).shows(call.string(1))],
  objectHasAll: ["o f", (call) => call.object(0).has(call.string(1))],
  objectHasEx: [
    "o f inc_hidden",
    (call) => call.object(0).has(call.string(1)) && (call.boolean(2) || call.object(0).shows(call.string(1))),
  ],
  objectFields: ["o", (call) => call.list(call.object(0).names("shown"))],
  objectFieldsAll: ["o", (call) => call.list(call.object(0).names("all"))],
  objectFieldsEx: [
    "o inc_hidden",
    (call) => call.list(call.object(0).names(call.boolean(1) ? "all" : "shown")),
  ],
  objectValues: ["o", (call) => new ArrayValue(fieldsOf(call, "shown").map(([, value]) => value))],
  objectValuesAll: ["o", (call) => new ArrayValue(fieldsOf(call, "all").map(([, value]) => value))],
  objectKeysValues: ["o", (call) => keysValues(call, "shown")],
  objectKeysValuesAll: ["o", (call) => keysValues(call, "all")],
  get: [
    "o f default? inc_hidden?",
    (call) => {
      const name = call.string(1);
      const sees =
        (call.has(3) && !call.boolean(3) ? call.object(0).shows(name) : true) && call.object(0).has(name);
      return sees ? (call.object(0).get(name) ?? null) : call.value(2);
    },
  ],
  mapWithKey: [
    "func obj",
    (call) => {
      const apply = call.function(0);
      const object = call.object(1);
      return call.record(
        object
          .names("shown")
          .map((name) => [name, () => apply(call.thunk(name), fieldThunk(call, object, name))]),
      );
    },
  ],
  mergePatch: ["target patch", (call) => mergePatch(call, call.value(0), call.value(1))],
  prune: ["a", (call) => prune(call, call.value(0))],
  equals: ["a b", (call) => equals(call.value(0), call.value(1), call.at)],
  assertEqual: [
    "a b",
    (call) => {
      if (equals(call.value(0), call.value(1), call.at)) return true;
      throw call.fault(`${textOf(call.value(0), call.at)} is not ${textOf(call.value(1), call.at)}`);
    },
  ],
};

function length(call: Call): number {
  const value = call.value(0);
  if (typeof value === "string") return Array.from(value).length;
  if (value instanceof ObjectValue) return value.names("shown").length;
  if (value instanceof FunctionValue) return value.parameterCount;
  return call.array(0).length;
}

function fieldThunk(call: Call, object: ObjectValue, name: string): Thunk {
  return new Thunk(object.locationOf(name) ?? call.at, () => object.get(name) ?? null);
}

function fieldsOf(call: Call, which: "shown" | "all"): readonly (readonly [string, Thunk])[] {
  const object = call.object(0);
  return object.names(which).map((name) => [name, fieldThunk(call, object, name)] as const);
}

function keysValues(call: Call, which: "shown" | "all"): ArrayValue {
  return call.list(
    fieldsOf(call, which).map(([name, value]) =>
      call.record([
        ["key", () => name],
        ["value", () => value.value],
      ]),
    ),
  );
}

function mergePatch(call: Call, target: Value, patch: Value): Value {
  if (!(patch instanceof ObjectValue)) return patch;
  const below = target instanceof ObjectValue ? target : call.record([]);
  const removed = (name: string) => patch.has(name) && patch.get(name) === null;
  const names = new Set([...below.names("shown"), ...patch.names("shown")]);
  return call.record(
    [...names]
      .filter((name) => !removed(name))
      .map((name) => [
        name,
        () =>
          patch.has(name)
            ? mergePatch(call, below.get(name) ?? null, patch.get(name) ?? null)
            : (below.get(name) ?? null),
      ]),
  );
}

function isContent(value: Value): boolean {
  if (value === null) return false;
  if (value instanceof ArrayValue) return value.items.length > 0;
  if (value instanceof ObjectValue) return value.names("shown").length > 0;
  return true;
}

function prune(call: Call, value: Value): Value {
  if (value instanceof ArrayValue)
    return call.list(value.items.map((item) => prune(call, item.value)).filter(isContent));
  if (!(value instanceof ObjectValue)) return value;
  const kept = value
    .names("shown")
    .map((name) => [name, prune(call, value.get(name) ?? null)] as const)
    .filter(([, one]) => isContent(one));
  return call.record(kept.map(([name, one]) => [name, () => one]));
}
