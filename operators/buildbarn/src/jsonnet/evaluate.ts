import { bindArguments } from "./arguments.ts";
import { Budget } from "./budget.ts";
import { JsonnetError, type Location } from "./location.ts";
import { type LocatedJson, manifest } from "./manifest.ts";
import { add, arithmetic, compare, equals } from "./operators.ts";
import { parse } from "./parser.ts";
import { standardLibrary } from "./std.ts";
import type { Assertion, Bind, Clause, Expression, Field, Parameter } from "./syntax.ts";
import { textOf } from "./text.ts";
import {
  type Argument,
  ArrayValue,
  type FieldDefinition,
  FunctionValue,
  type Layer,
  type ObjectRules,
  ObjectValue,
  type Scope,
  Thunk,
  typeOf,
  type Value,
} from "./values.ts";

/** What a file is evaluated with. */
export interface JsonnetInput {
  /** The files that there are, by name: what is imported is one of them. */
  readonly files: Readonly<Record<string, string>>;
  /** What `std.extVar` knows. */
  readonly extVars: Readonly<Record<string, string>>;
}

/**
 * Evaluates a file as jsonnet does, to JSON that knows where each part of it was written.
 *
 * @throws JsonnetError with file, line and column: for what is no jsonnet, what fails, and what
 *   takes more steps than any configuration needs. UnsupportedJsonnetError for parts of the library
 *   that are missing here.
 */
export function evaluate(file: string, input: JsonnetInput): LocatedJson {
  const start: Location = { file, line: 1, column: 1 };
  try {
    const evaluation = new Evaluation(input);
    return manifest(evaluation.file(file, start), start);
  } catch (error) {
    // A value that is nested too deeply uses up the stack before the budget.
    if (isOverflow(error)) throw new JsonnetError(start, "calls are nested too deeply");
    throw error;
  }
}

function isOverflow(error: unknown): boolean {
  return error instanceof RangeError && error.message.includes("call stack");
}

/** Text, numbers and widths beyond what there can be are faults of the file. */
function located<T>(at: Location, compute: () => T): T {
  try {
    return compute();
  } catch (error) {
    if (!(error instanceof RangeError) || isOverflow(error)) throw error;
    throw new JsonnetError(at, `this cannot be computed: ${error.message}`);
  }
}

class Evaluation implements ObjectRules {
  readonly #input: JsonnetInput;
  readonly #files = new Map<string, Thunk>();
  readonly #budget = new Budget();
  readonly #root: Scope;

  constructor(input: JsonnetInput) {
    this.#input = input;
    const at = { file: "std", line: 1, column: 1 };
    const std = new Thunk(at, () =>
      standardLibrary({ rules: this, extVars: input.extVars, budget: this.#budget }),
    );
    this.#root = { names: new Map([["std", std]]), parent: undefined, within: undefined };
  }

  file(name: string, at: Location): Value {
    const known = this.#files.get(name);
    if (known) return known.value;
    const source = this.#text(name, at);
    const thunk = new Thunk(at, () => this.#evaluate(parse(name, source), this.#root));
    this.#files.set(name, thunk);
    return thunk.value;
  }

  add(left: Value, right: Value, at: Location): Value {
    return add(left, right, at);
  }

  check({ test, message }: Assertion, scope: Scope): void {
    if (this.#boolean(test, scope)) return;
    const said = message && this.#evaluate(message, scope);
    throw new JsonnetError(
      test.at,
      said === undefined ? "this assertion does not hold" : textOf(said, test.at),
    );
  }

  #text(name: string, at: Location): string {
    const path = name.replace(/^\.\//, "");
    if (!Object.hasOwn(this.#input.files, path))
      throw new JsonnetError(
        at,
        `there is no file ${name}; there are ${Object.keys(this.#input.files).join(", ")}`,
      );
    return this.#input.files[path] as string;
  }

  #evaluate(node: Expression, scope: Scope): Value {
    this.#budget.step(node.at);
    switch (node.kind) {
      case "literal":
        return node.value;
      case "self":
        return this.#within(scope, node.at, "self").self;
      case "variable":
        return this.#variable(node.name, scope, node.at);
      case "super":
        return this.#super(node.index, scope);
      case "inSuper": {
        const { self, layer } = this.#within(scope, node.at, "super");
        return self.has(this.#string(node.name, scope), layer);
      }
      case "local":
        return this.#evaluate(node.body, this.#extended(scope, node.binds));
      case "if":
        if (this.#boolean(node.test, scope)) return this.#evaluate(node.then, scope);
        return node.otherwise ? this.#evaluate(node.otherwise, scope) : null;
      case "function":
        return this.#function(node.parameters, node.body, scope);
      case "call":
        return this.#call(node, scope);
      case "index":
        return this.#index(node, scope);
      case "slice":
        return this.#slice(node, scope);
      case "array":
        return new ArrayValue(node.items.map((item) => this.#thunk(item, scope)));
      case "arrayFor":
        return new ArrayValue(this.#scopes(node.clauses, scope).map((each) => this.#thunk(node.item, each)));
      case "object":
        return new ObjectValue([this.#layer(node, scope)], this);
      case "objectFor":
        return new ObjectValue([this.#comprehension(node, scope)], this);
      case "unary":
        return this.#unary(node.operator, this.#evaluate(node.operand, scope), node.at);
      case "binary":
        return this.#binary(node, scope);
      case "import":
        return this.file(node.path, node.at);
      case "importstr":
        return this.#text(node.path, node.at);
      case "error":
        throw new JsonnetError(node.at, textOf(this.#evaluate(node.message, scope), node.at));
      case "assert":
        this.check(node.assertion, scope);
        return this.#evaluate(node.body, scope);
      default:
        return node satisfies never;
    }
  }

  #thunk(node: Expression, scope: Scope): Thunk {
    return new Thunk(node.at, () => this.#evaluate(node, scope));
  }

  #extended(scope: Scope, binds: readonly Bind[], within = scope.within): Scope {
    const names = new Map<string, Thunk>();
    const inner: Scope = { names, parent: scope, within };
    for (const { name, value } of binds) names.set(name, this.#thunk(value, inner));
    return inner;
  }

  #variable(name: string, scope: Scope, at: Location): Value {
    for (let each: Scope | undefined = scope; each; each = each.parent) {
      const found = each.names.get(name);
      if (found) return found.value;
    }
    throw new JsonnetError(at, name === "$" ? "there is no object for $ here" : `unknown variable ${name}`);
  }

  #within(scope: Scope, at: Location, word: string): NonNullable<Scope["within"]> {
    if (scope.within) return scope.within;
    throw new JsonnetError(at, `there is no object for ${word} here`);
  }

  #super(index: Expression, scope: Scope): Value {
    const { self, layer } = this.#within(scope, index.at, "super");
    const name = this.#string(index, scope);
    const value = self.getBelow(name, layer);
    if (value === undefined) throw new JsonnetError(index.at, `super has no field ${name}`);
    return value;
  }

  #function(parameters: readonly Parameter[], body: Expression, scope: Scope): FunctionValue {
    return new FunctionValue(parameters.length, (args, at) => {
      const names = new Map<string, Thunk>();
      const inner: Scope = { names, parent: scope, within: scope.within };
      bindArguments(
        parameters.map(({ name }) => name),
        args,
        at,
        names,
      );
      for (const { name, fallback } of parameters) {
        if (names.has(name)) continue;
        if (!fallback) throw new JsonnetError(at, `the argument ${name} is missing`);
        names.set(name, this.#thunk(fallback, inner));
      }
      return this.#budget.nested(at, () => this.#evaluate(body, inner));
    });
  }

  #call(node: Expression & { kind: "call" }, scope: Scope): Value {
    const callee = this.#evaluate(node.callee, scope);
    if (!(callee instanceof FunctionValue))
      throw new JsonnetError(node.at, `a ${typeOf(callee)} is called; only functions can be`);
    const args: Argument[] = [
      ...node.positional.map((value) => ({ name: undefined, value: this.#thunk(value, scope) })),
      ...node.named.map(({ name, value }) => ({ name, value: this.#thunk(value, scope) })),
    ];
    return located(node.at, () => callee.call(args, node.at));
  }

  #index(node: Expression & { kind: "index" }, scope: Scope): Value {
    const target = this.#evaluate(node.target, scope);
    const index = this.#evaluate(node.index, scope);
    if (target instanceof ObjectValue && typeof index === "string") {
      const value = target.get(index);
      if (value === undefined) throw new JsonnetError(node.at, `there is no field ${index}`);
      return value;
    }
    if (target instanceof ArrayValue && typeof index === "number") {
      const item = target.items[index];
      if (!item)
        throw new JsonnetError(node.at, `there is no item ${index}: the array has ${target.items.length}`);
      return item.value;
    }
    if (typeof target === "string" && typeof index === "number") {
      const character = Array.from(target)[index];
      if (character === undefined) throw new JsonnetError(node.at, `there is no character ${index}`);
      return character;
    }
    throw new JsonnetError(node.at, `a ${typeOf(target)} has no index of type ${typeOf(index)}`);
  }

  #slice(node: Expression & { kind: "slice" }, scope: Scope): Value {
    const target = this.#evaluate(node.target, scope);
    if (!(target instanceof ArrayValue) && typeof target !== "string")
      throw new JsonnetError(node.at, `a ${typeOf(target)} cannot be sliced`);
    const part = (one: Expression | undefined) => (one === undefined ? undefined : this.#number(one, scope));
    const [from, to, step = 1] = [part(node.from), part(node.to), part(node.step)];
    if (step < 1) throw new JsonnetError(node.at, "the step of a slice must be above 0");
    const taken = <T>(items: readonly T[]) => items.slice(from, to).filter((_, index) => index % step === 0);
    if (typeof target === "string") return taken(Array.from(target)).join("");
    return new ArrayValue(taken(target.items));
  }

  /** The scopes in which the body of a comprehension is evaluated. */
  #scopes(clauses: readonly Clause[], scope: Scope): readonly Scope[] {
    const [clause, ...rest] = clauses;
    if (!clause) return [scope];
    if (clause.kind === "if") return this.#boolean(clause.test, scope) ? this.#scopes(rest, scope) : [];
    const list = this.#evaluate(clause.list, scope);
    if (!(list instanceof ArrayValue))
      throw new JsonnetError(clause.list.at, `for needs an array, and this is a ${typeOf(list)}`);
    return list.items.flatMap((item) => {
      this.#budget.step(clause.list.at);
      const names = new Map([[clause.name, item]]);
      return this.#scopes(rest, { names, parent: scope, within: scope.within });
    });
  }

  #layer({ members, isOutermost }: Expression & { kind: "object" }, scope: Scope): Layer {
    const fields = new Map<string, FieldDefinition>();
    for (const field of members.fields) {
      const name = this.#fieldName(field.name, scope);
      if (name === undefined) continue;
      if (fields.has(name)) throw new JsonnetError(field.name.at, `two fields are called ${name}`);
      fields.set(name, this.#definition(field));
    }
    return {
      fields,
      assertions: members.assertions,
      scope: (self, layer) => this.#inside(self, layer, isOutermost, members.locals, scope),
    };
  }

  #definition({ name, value, plus, visibility }: Field): FieldDefinition {
    const evaluate = (self: ObjectValue, layer: number) => this.#evaluate(value, self.scope(layer));
    return { at: name.at, plus, visibility, evaluate };
  }

  #comprehension(node: Expression & { kind: "objectFor" }, scope: Scope): Layer {
    const fields = new Map<string, FieldDefinition>();
    for (const each of this.#scopes(node.clauses, scope)) {
      const name = this.#fieldName(node.name, each);
      if (name === undefined) continue;
      if (fields.has(name)) throw new JsonnetError(node.name.at, `two fields are called ${name}`);
      const evaluate = (self: ObjectValue, layer: number) =>
        this.#evaluate(node.value, this.#inside(self, layer, node.isOutermost, node.locals, each));
      fields.set(name, { at: node.name.at, plus: node.plus, visibility: "inherit", evaluate });
    }
    const inside = (self: ObjectValue, layer: number) =>
      this.#inside(self, layer, node.isOutermost, node.locals, scope);
    return { fields, assertions: [], scope: inside };
  }

  #inside(
    self: ObjectValue,
    layer: number,
    isOutermost: boolean,
    locals: readonly Bind[],
    scope: Scope,
  ): Scope {
    const at = { file: "", line: 0, column: 0 };
    const names = new Map(isOutermost ? [["$", Thunk.of(at, self)]] : []);
    return this.#extended({ names, parent: scope, within: { self, layer } }, locals);
  }

  /** The name of a field; undefined for a computed one that is null, which leaves the field out. */
  #fieldName(node: Expression, scope: Scope): string | undefined {
    const name = this.#evaluate(node, scope);
    if (name === null) return undefined;
    if (typeof name === "string") return name;
    throw new JsonnetError(node.at, `the name of a field must be a string, and this is a ${typeOf(name)}`);
  }

  #unary(operator: string, operand: Value, at: Location): Value {
    if (operator === "!" && typeof operand === "boolean") return !operand;
    if (typeof operand === "number") {
      if (operator === "-") return -operand;
      if (operator === "+") return operand;
      if (operator === "~") return ~operand;
    }
    throw new JsonnetError(at, `${operator} cannot be applied to a ${typeOf(operand)}`);
  }

  #binary({ operator, left, right, at }: Expression & { kind: "binary" }, scope: Scope): Value {
    if (operator === "&&") return this.#boolean(left, scope) && this.#boolean(right, scope);
    if (operator === "||") return this.#boolean(left, scope) || this.#boolean(right, scope);
    const a = this.#evaluate(left, scope);
    const b = this.#evaluate(right, scope);
    return located(at, () => this.#operate(operator, a, b, at));
  }

  #operate(operator: string, a: Value, b: Value, at: Location): Value {
    switch (operator) {
      case "+":
        return add(a, b, at);
      case "==":
        return equals(a, b, at);
      case "!=":
        return !equals(a, b, at);
      case "<":
        return compare(a, b, at) < 0;
      case ">":
        return compare(a, b, at) > 0;
      case "<=":
        return compare(a, b, at) <= 0;
      case ">=":
        return compare(a, b, at) >= 0;
      case "in":
        if (typeof a === "string" && b instanceof ObjectValue) return b.has(a);
        throw new JsonnetError(at, `in needs a string and an object, not a ${typeOf(a)} and a ${typeOf(b)}`);
      default:
        return arithmetic(operator, a, b, at);
    }
  }

  #boolean(node: Expression, scope: Scope): boolean {
    const value = this.#evaluate(node, scope);
    if (typeof value === "boolean") return value;
    throw new JsonnetError(node.at, `expected a boolean, found a ${typeOf(value)}`);
  }

  #string(node: Expression, scope: Scope): string {
    const value = this.#evaluate(node, scope);
    if (typeof value === "string") return value;
    throw new JsonnetError(node.at, `expected a string, found a ${typeOf(value)}`);
  }

  #number(node: Expression, scope: Scope): number {
    const value = this.#evaluate(node, scope);
    if (typeof value === "number") return value;
    throw new JsonnetError(node.at, `expected a number, found a ${typeOf(value)}`);
  }
}
