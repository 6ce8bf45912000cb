import { UnsupportedJsonnetError } from "./location.ts";
import type { StandardFunction } from "./std-call.ts";
import { Call, type Library } from "./std-call.ts";
import { listFunctions } from "./std-lists.ts";
import { objectFunctions } from "./std-objects.ts";
import { textFunctions } from "./std-text.ts";
import { FunctionValue, ObjectValue, typeOf, type Value } from "./values.ts";

const numberFunctions: Readonly<Record<string, StandardFunction>> = {
  abs: ["n", (call) => Math.abs(call.number(0))],
  sign: ["n", (call) => Math.sign(call.number(0))],
  max: ["a b", (call) => Math.max(call.number(0), call.number(1))],
  min: ["a b", (call) => Math.min(call.number(0), call.number(1))],
  clamp: ["x minVal maxVal", (call) => Math.min(Math.max(call.number(0), call.number(1)), call.number(2))],
  floor: ["x", (call) => Math.floor(call.number(0))],
  ceil: ["x", (call) => Math.ceil(call.number(0))],
  round: ["x", (call) => Math.round(call.number(0))],
  pow: ["x n", (call) => call.number(0) ** call.number(1)],
  sqrt: ["x", (call) => Math.sqrt(call.number(0))],
  log: ["n", (call) => Math.log(call.number(0))],
  log2: ["x", (call) => Math.log2(call.number(0))],
  log10: ["x", (call) => Math.log10(call.number(0))],
  exp: ["n", (call) => Math.exp(call.number(0))],
  mod: ["a b", (call) => call.number(0) % call.number(1)],
  isEven: ["x", (call) => call.number(0) % 2 === 0],
  isOdd: ["x", (call) => call.number(0) % 2 !== 0],
  isInteger: ["x", (call) => Number.isInteger(call.number(0))],
  isDecimal: ["x", (call) => !Number.isInteger(call.number(0))],
  xor: ["x y", (call) => call.boolean(0) !== call.boolean(1)],
  xnor: ["x y", (call) => call.boolean(0) === call.boolean(1)],
};

const typeFunctions: Readonly<Record<string, StandardFunction>> = {
  type: ["x", (call) => typeOf(call.value(0))],
  isString: ["v", (call) => typeof call.value(0) === "string"],
  isNumber: ["v", (call) => typeof call.value(0) === "number"],
  isBoolean: ["v", (call) => typeof call.value(0) === "boolean"],
  isNull: ["v", (call) => call.value(0) === null],
  isObject: ["v", (call) => typeOf(call.value(0)) === "object"],
  isArray: ["v", (call) => typeOf(call.value(0)) === "array"],
  isFunction: ["v", (call) => typeOf(call.value(0)) === "function"],
  extVar: [
    "x",
    (call) => {
      const name = call.string(0);
      const value = call.library.extVars[name];
      if (value === undefined) throw call.fault(`there is no environment variable ${name} in this container`);
      return value;
    },
  ],
  trace: ["str rest", (call) => call.value(1)],
};

const functions = {
  ...typeFunctions,
  ...numberFunctions,
  ...textFunctions,
  ...listFunctions,
  ...objectFunctions,
};

/**
 * Functions that jsonnet has and this evaluator has not: a file that uses them may still be right.
 */
const missing = [
  "manifestIni manifestPython manifestPythonVars manifestXmlJsonml manifestToml manifestTomlEx manifestYamlDoc",
  "manifestYamlStream parseYaml sha1 sha3 sha512 native objectRemoveKey sin cos tan asin acos atan atan2 hypot",
  "deg2rad rad2deg mantissa exponent significand resolvePath setF encodeUTF8 decodeUTF8 base64DecodeBytes",
]
  .join(" ")
  .split(" ");

/** The object that `std` stands for. */
export function standardLibrary(library: Library): ObjectValue {
  const nowhere = { file: "std", line: 1, column: 1 };
  const make = (name: string, parameters: readonly string[], run: (call: Call) => Value) =>
    new FunctionValue(parameters.length, (args, at) => run(new Call(name, parameters, args, at, library)));
  const known = Object.entries(functions).map(
    ([name, [parameters, run]]) => [name, make(name, parameters.split(" "), run)] as const,
  );
  const unknown = missing.map(
    (name) =>
      [
        name,
        new FunctionValue(0, (_args, at) => {
          throw new UnsupportedJsonnetError(at, `std.${name} cannot be evaluated here`);
        }),
      ] as const,
  );
  const fields = [...known, ...unknown, ["pi", Math.PI] as const].map(
    ([name, value]) =>
      [name, { at: nowhere, visibility: "hidden", plus: false, evaluate: () => value }] as const,
  );
  const scope = { names: new Map(), parent: undefined, within: undefined };
  return new ObjectValue([{ fields: new Map(fields), assertions: [], scope: () => scope }], library.rules);
}
