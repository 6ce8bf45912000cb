import { bindArguments } from "./arguments.ts";
import type { Budget } from "./budget.ts";
import { JsonnetError, type Location } from "./location.ts";
import {
  type Argument,
  ArrayValue,
  FunctionValue,
  type ObjectRules,
  ObjectValue,
  Thunk,
  typeOf,
  type Value,
} from "./values.ts";

/** What functions of the library work with. */
export interface Library {
  readonly rules: ObjectRules;
  readonly extVars: Readonly<Record<string, string>>;
  readonly budget: Budget;
}

/** A call of a function of the library: its arguments, by number and with their types. */
export class Call {
  readonly at: Location;
  readonly library: Library;
  readonly #name: string;
  readonly #args: readonly (Thunk | undefined)[];

  constructor(
    name: string,
    parameters: readonly string[],
    args: readonly Argument[],
    at: Location,
    library: Library,
  ) {
    const names = new Map<string, Thunk>();
    const plain = parameters.map((one) => one.replace("?", ""));
    bindArguments(plain, args, at, names);
    this.at = at;
    this.library = library;
    this.#name = name;
    this.#args = plain.map((one) => names.get(one));
    for (const [index, one] of parameters.entries())
      if (this.#args[index] === undefined && !one.endsWith("?"))
        throw new JsonnetError(at, `std.${name} needs the argument ${one}`);
  }

  has(index: number): boolean {
    return this.#args[index] !== undefined;
  }

  value(index: number): Value {
    return this.#args[index]?.value ?? null;
  }

  string(index: number): string {
    const value = this.value(index);
    return typeof value === "string" ? value : this.#wrong(index, "a string");
  }

  number(index: number): number {
    const value = this.value(index);
    return typeof value === "number" ? value : this.#wrong(index, "a number");
  }

  boolean(index: number): boolean {
    const value = this.value(index);
    return typeof value === "boolean" ? value : this.#wrong(index, "a boolean");
  }

  array(index: number): readonly Thunk[] {
    const value = this.value(index);
    return value instanceof ArrayValue ? value.items : this.#wrong(index, "an array");
  }

  /** An array, or the characters of a string. */
  sequence(index: number): readonly Thunk[] {
    const value = this.value(index);
    return typeof value === "string" ? this.thunks(Array.from(value)) : this.array(index);
  }

  object(index: number): ObjectValue {
    const value = this.value(index);
    return value instanceof ObjectValue ? value : this.#wrong(index, "an object");
  }

  /** A function that is given, to be called with values. */
  function(index: number): (...args: readonly Thunk[]) => Value {
    const value = this.value(index);
    if (!(value instanceof FunctionValue)) return this.#wrong(index, "a function");
    return (...args) => {
      this.library.budget.step(this.at);
      return value.call(
        args.map((one) => ({ name: undefined, value: one })),
        this.at,
      );
    };
  }

  thunk(value: Value): Thunk {
    return Thunk.of(this.at, value);
  }

  thunks(values: readonly Value[]): readonly Thunk[] {
    return values.map((value) => this.thunk(value));
  }

  list(values: readonly Value[]): ArrayValue {
    this.library.budget.step(this.at, values.length);
    return new ArrayValue(this.thunks(values));
  }

  /** An object whose fields are computed when they are asked for. */
  record(fields: readonly (readonly [name: string, compute: () => Value])[]): ObjectValue {
    const { at } = this;
    const made = fields.map(
      ([name, evaluate]) => [name, { at, visibility: "inherit", plus: false, evaluate }] as const,
    );
    const scope = { names: new Map<string, Thunk>(), parent: undefined, within: undefined };
    return new ObjectValue(
      [{ fields: new Map(made), assertions: [], scope: () => scope }],
      this.library.rules,
    );
  }

  fault(fault: string): JsonnetError {
    return new JsonnetError(this.at, `std.${this.#name}: ${fault}`);
  }

  #wrong(index: number, wanted: string): never {
    throw this.fault(`argument ${index + 1} must be ${wanted}, and is a ${typeOf(this.value(index))}`);
  }
}

/**
 * A function of the library: its parameters, `?` for those that may be left out, and what it does.
 */
export type StandardFunction = readonly [parameters: string, run: (call: Call) => Value];
