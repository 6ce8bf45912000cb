import { JsonnetError, type Location } from "./location.ts";
import type { Assertion, Visibility } from "./syntax.ts";

/**
 * What an expression comes to. Arrays and objects hold values that are computed when they are asked
 * for.
 */
export type Value = null | boolean | number | string | ArrayValue | FunctionValue | ObjectValue;

/** A value that is computed once, when it is first asked for. Knows where it was written. */
export class Thunk {
  readonly at: Location;
  #state:
    | { readonly is: "waiting"; readonly compute: () => Value }
    | { readonly is: "computing" }
    | { readonly is: "known"; readonly value: Value };

  constructor(at: Location, compute: () => Value) {
    this.at = at;
    this.#state = { is: "waiting", compute };
  }

  static of(at: Location, value: Value): Thunk {
    const thunk = new Thunk(at, () => value);
    thunk.#state = { is: "known", value };
    return thunk;
  }

  /** @throws JsonnetError where the value depends on itself. */
  get value(): Value {
    if (this.#state.is === "known") return this.#state.value;
    if (this.#state.is === "computing") throw new JsonnetError(this.at, "this value depends on itself");
    const waiting = this.#state;
    this.#state = { is: "computing" };
    try {
      const value = waiting.compute();
      this.#state = { is: "known", value };
      return value;
    } finally {
      if (this.#state.is === "computing") this.#state = waiting;
    }
  }
}

/** A list. */
export class ArrayValue {
  readonly items: readonly Thunk[];

  constructor(items: readonly Thunk[]) {
    this.items = items;
  }
}

/** An argument of a call. */
export interface Argument {
  readonly name: string | undefined;
  readonly value: Thunk;
}

/** A function, of the file or of the library. */
export class FunctionValue {
  readonly parameterCount: number;
  readonly call: (args: readonly Argument[], at: Location) => Value;

  constructor(parameterCount: number, call: (args: readonly Argument[], at: Location) => Value) {
    this.parameterCount = parameterCount;
    this.call = call;
  }
}

/** Names that expressions can see, and the object that they are in. */
export interface Scope {
  readonly names: ReadonlyMap<string, Thunk>;
  readonly parent: Scope | undefined;
  /** The object around, and which of its layers: `super` is what lies below. */
  readonly within: { readonly self: ObjectValue; readonly layer: number } | undefined;
}

/** A field as one pair of braces has it. */
export interface FieldDefinition {
  readonly at: Location;
  readonly visibility: Visibility;
  readonly plus: boolean;
  evaluate(self: ObjectValue, layer: number): Value;
}

/** The fields of one pair of braces. Objects that are added together are layers upon each other. */
export interface Layer {
  readonly fields: ReadonlyMap<string, FieldDefinition>;
  readonly assertions: readonly Assertion[];
  /** What expressions directly within these braces see. */
  scope(self: ObjectValue, layer: number): Scope;
}

/** How values are added and assertions are checked: the evaluator's part. */
export interface ObjectRules {
  add(left: Value, right: Value, at: Location): Value;
  check(assertion: Assertion, scope: Scope): void;
}

/** An object: layers, the last of which wins. */
export class ObjectValue {
  readonly layers: readonly Layer[];
  readonly #rules: ObjectRules;
  readonly #values = new Map<string, Thunk>();
  readonly #scopes: (Scope | undefined)[] = [];
  #isChecked = false;

  constructor(layers: readonly Layer[], rules: ObjectRules) {
    this.layers = layers;
    this.#rules = rules;
  }

  with(above: ObjectValue): ObjectValue {
    return new ObjectValue([...this.layers, ...above.layers], this.#rules);
  }

  /** What expressions directly within a layer see; made once. */
  scope(layer: number): Scope {
    const known = this.#scopes[layer];
    if (known) return known;
    const made = (this.layers[layer] as Layer).scope(this, layer);
    this.#scopes[layer] = made;
    return made;
  }

  /** The layer below `below` that has the field. */
  #definition(name: string, below: number): readonly [FieldDefinition, number] | undefined {
    for (let layer = below - 1; layer >= 0; layer--) {
      const found = this.layers[layer]?.fields.get(name);
      if (found) return [found, layer];
    }
    return undefined;
  }

  has(name: string, below = this.layers.length): boolean {
    return this.#definition(name, below) !== undefined;
  }

  /** Where the field was last written. */
  locationOf(name: string): Location | undefined {
    return this.#definition(name, this.layers.length)?.[0].at;
  }

  /** Whether the field shows in the result. */
  shows(name: string): boolean {
    for (let layer = this.layers.length - 1; layer >= 0; layer--) {
      const visibility = this.layers[layer]?.fields.get(name)?.visibility;
      if (visibility !== undefined && visibility !== "inherit") return visibility === "visible";
    }
    return true;
  }

  /** All names, sorted as jsonnet sorts them. */
  names(which: "shown" | "all"): readonly string[] {
    const names = new Set(this.layers.flatMap(({ fields }) => [...fields.keys()]));
    return [...names].filter((name) => which === "all" || this.shows(name)).toSorted(byCodePoint);
  }

  /** The value of a field, or undefined if there is none. */
  get(name: string): Value | undefined {
    const known = this.#values.get(name);
    if (known) return known.value;
    const found = this.#definition(name, this.layers.length);
    if (!found) return undefined;
    this.check();
    const thunk = new Thunk(found[0].at, () => this.#evaluate(name, found[0], found[1]));
    this.#values.set(name, thunk);
    return thunk.value;
  }

  /** The value of a field as the layers below see it. */
  getBelow(name: string, below: number): Value | undefined {
    const found = this.#definition(name, below);
    return found && this.#evaluate(name, found[0], found[1]);
  }

  /** Checks the assertions of all layers, once. */
  check(): void {
    if (this.#isChecked) return;
    this.#isChecked = true;
    for (const [index, { assertions }] of this.layers.entries())
      for (const assertion of assertions) this.#rules.check(assertion, this.scope(index));
  }

  #evaluate(name: string, definition: FieldDefinition, layer: number): Value {
    const own = definition.evaluate(this, layer);
    const below = definition.plus ? this.getBelow(name, layer) : undefined;
    return below === undefined ? own : this.#rules.add(below, own, definition.at);
  }
}

/** Jsonnet compares text by code points. */
export function byCodePoint(a: string, b: string): number {
  const left = Array.from(a);
  const right = Array.from(b);
  for (const [index, character] of left.entries()) {
    const other = right[index];
    if (other === undefined) return 1;
    if (character !== other) return (character.codePointAt(0) ?? 0) - (other.codePointAt(0) ?? 0);
  }
  return left.length - right.length;
}

/** The name of a value's type, as `std.type` gives it. */
export function typeOf(value: Value): string {
  if (value === null) return "null";
  if (value instanceof ArrayValue) return "array";
  if (value instanceof FunctionValue) return "function";
  if (value instanceof ObjectValue) return "object";
  return typeof value;
}
