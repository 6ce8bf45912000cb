import type { Checked } from "./check.ts";
import { LIST_COST, MAP_COST, WALK_COSTS } from "./costs.ts";
import type { Overload } from "./functions.ts";
import type { Meter } from "./meter.ts";
import type { Expr } from "./syntax.ts";
import { qualifiedName } from "./syntax.ts";
import type { Type } from "./types.ts";
import {
  CelError,
  CelMap,
  Duration,
  NONE,
  NoSuchOverload,
  Opaque,
  Optional,
  sizeOf,
  Timestamp,
  TypeValue,
  Uint,
  type Value,
} from "./values.ts";
import { resultOf, truth, visit, WalkProgress } from "./walks.ts";

interface Scope {
  readonly meter: Meter;
  readonly variables: ReadonlyMap<string, Value>;
  /** Variables of macros, innermost first. */
  readonly locals: Local | undefined;
}

interface Local {
  readonly name: string;
  readonly value: Value;
  readonly outer: Local | undefined;
}

type Step = (scope: Scope) => Value;

/** An expression ready to run. */
export interface Program {
  /**
   * @throws CelError when the expression fails on these values
   * @throws CostExceeded
   * @throws MatchPending
   */
  run(variables: ReadonlyMap<string, Value>, meter: Meter): Value;
}

export function program(checked: Checked): Program {
  const step = new Compiler(checked).compile(checked.expr);
  return { run: (variables, meter) => step({ meter, variables, locals: undefined }) };
}

class Compiler {
  private readonly checked: Checked;

  constructor(checked: Checked) {
    this.checked = checked;
  }

  compile(expr: Expr): Step {
    switch (expr.op) {
      case "const": {
        const { constant } = expr;
        const value = constant.type === "uint" ? new Uint(constant.value) : constant.value;
        return () => value;
      }
      case "ident":
        return this.ident(expr.name);
      case "select":
        return this.select(expr);
      case "call":
        return this.call(expr);
      case "list": {
        const items = expr.items.map(({ value, optional }) => ({ step: this.compile(value), optional }));
        return (scope) => {
          scope.meter.charge(LIST_COST);
          const list: Value[] = [];
          for (const { step, optional } of items) {
            const value = step(scope);
            if (!optional) list.push(value);
            else if (value instanceof Optional && value.value !== undefined) list.push(value.value);
          }
          return list;
        };
      }
      case "map": {
        const entries = expr.entries.map((entry) => ({
          key: this.compile(entry.key),
          value: this.compile(entry.value),
          optional: entry.optional,
        }));
        return (scope) => {
          scope.meter.charge(MAP_COST);
          const map = new CelMap();
          for (const { key, value, optional } of entries) {
            const name = key(scope);
            const inner = value(scope);
            if (optional) {
              if (inner instanceof Optional && inner.value !== undefined) map.set(name, inner.value);
              continue;
            }
            if (map.has(name)) throw new CelError(`Failed with repeated key`);
            map.set(name, inner);
          }
          return map;
        };
      }
      case "walk":
        return this.walk(expr);
      case "optMap": {
        const target = this.compile(expr.target);
        const body = this.compile(expr.body);
        return (scope) => {
          const optional = target(scope);
          if (!(optional instanceof Optional)) throw new NoSuchOverload();
          if (optional.value === undefined) return NONE;
          const result = body(bind(scope, expr.variable, optional.value));
          return expr.flat ? result : new Optional(result);
        };
      }
    }
  }

  private ident(name: string): Step {
    return (scope) => {
      scope.meter.charge(1);
      for (let local = scope.locals; local !== undefined; local = local.outer) {
        if (local.name === name) return local.value;
      }
      const value = scope.variables.get(name);
      if (value !== undefined) return value;
      if (this.checked.references.has(name)) throw new CelError(`no such attribute(s): ${name}`);
      return new TypeValue(name);
    };
  }

  private select(expr: Expr & { op: "select" }): Step {
    const qualified = qualifiedName(expr);
    if (qualified !== undefined && this.checked.references.has(qualified)) return this.ident(qualified);
    if (
      qualified !== undefined &&
      this.checked.typeOf(expr).kind === "type" &&
      qualified.startsWith("google.")
    ) {
      return () => new TypeValue(qualified);
    }
    const operand = this.compile(expr.operand);
    const { field, test, optional } = expr;
    const reserved = `__${field}__`;
    return (scope) => {
      const container = operand(scope);
      if (!test) scope.meter.charge(1);
      const lifted = container instanceof Optional;
      const inner = lifted ? container.value : container;
      if (inner === undefined) return test ? false : NONE;
      if (!(inner instanceof CelMap)) {
        if (test) throw new NoSuchOverload();
        throw new CelError(`no such key: ${field}`);
      }
      const value = inner.get(field) ?? inner.get(reserved);
      // A declared field that is null counts as absent.
      if (test) return value !== undefined && !(value === null && inner.objectType !== undefined);
      if (optional || lifted) {
        return value === undefined ? NONE : value instanceof Optional ? value : new Optional(value);
      }
      if (value === undefined) throw new CelError(`no such key: ${field}`);
      return value;
    };
  }

  private call(expr: Expr & { op: "call" }): Step {
    const args = expr.args.map((arg) => this.compile(arg));
    switch (expr.name) {
      case "_&&_":
        return logical(args as [Step, Step], false);
      case "_||_":
        return logical(args as [Step, Step], true);
      case "_?_:_": {
        const [condition, yes, no] = args as [Step, Step, Step];
        return (scope) => {
          const holds = condition(scope);
          if (typeof holds !== "boolean") throw new NoSuchOverload();
          return holds ? yes(scope) : no(scope);
        };
      }
      default:
        break;
    }
    if (expr.target !== undefined && !this.checked.isNamespaced(expr))
      args.unshift(this.compile(expr.target));
    const overloads = this.checked.overloadsOf(expr);
    const [only] = overloads;
    const known = [...(expr.target === undefined ? [] : [expr.target]), ...expr.args].every(
      (arg) => !isVague(this.checked.typeOf(arg)),
    );
    const run = (overload: Overload, values: Value[], scope: Scope): Value => {
      scope.meter.charge(overload.cost === undefined ? 1 : overload.cost(...values.map(sizeOf)));
      return overload.run(values, scope.meter.matcher);
    };
    if (overloads.length === 1 && only !== undefined && known) {
      return (scope) =>
        run(
          only,
          args.map((arg) => arg(scope)),
          scope,
        );
    }
    return (scope) => {
      const values = args.map((arg) => arg(scope));
      const overload = overloads.find(({ params }) =>
        params.every((param, index) => fits(values[index] as Value, param)),
      );
      if (overload === undefined) throw new NoSuchOverload();
      return run(overload, values, scope);
    };
  }

  private walk(expr: Expr & { op: "walk" }): Step {
    const range = this.compile(expr.range);
    const filter = expr.filter === undefined ? undefined : this.compile(expr.filter);
    const body: Step = expr.body === undefined ? () => null : this.compile(expr.body);
    const [first = "", second] = expr.variables;
    const { walk } = expr;
    const costs = WALK_COSTS[walk];

    /** Goes on where it was interrupted. @returns the result, if one item settles it */
    const visitAll = (scope: Scope, progress: WalkProgress): Value | undefined => {
      const { meter } = scope;
      const { pairs, isMap } = progress;
      for (; progress.index < pairs.length; progress.index++) {
        progress.beginItem(meter);
        meter.charge(costs.each);
        const [key, value] = pairs[progress.index] as readonly [Value, Value];
        const item = second === undefined && isMap ? key : value;
        let inner = bind(scope, first, second === undefined ? item : key);
        if (second !== undefined) inner = bind(inner, second, value);
        if (filter === undefined || truth(filter(inner))) {
          const settled = visit(walk, progress, { key, item, body: () => body(inner) });
          if (settled !== undefined) return settled;
        }
        progress.endItem();
      }
      return undefined;
    };
    return (scope) => {
      const container = range(scope);
      return scope.meter.walks.run(
        scope.meter,
        () => {
          scope.meter.charge(costs.once);
          return new WalkProgress(container);
        },
        (progress) => visitAll(scope, progress) ?? resultOf(walk, progress),
      );
    };
  }
}

function bind(scope: Scope, name: string, value: Value): Scope {
  return { meter: scope.meter, variables: scope.variables, locals: { name, value, outer: scope.locals } };
}

/** `&&` and `||`: whichever side settles the matter wins, even over an error on the other side. */
function logical([left, right]: [Step, Step], settles: boolean): Step {
  return (scope) => {
    let failure: CelError | undefined;
    try {
      const value = left(scope);
      if (value === settles) return settles;
      if (typeof value !== "boolean") failure = new NoSuchOverload();
    } catch (error) {
      if (!(error instanceof CelError)) throw error;
      failure = error;
    }
    const value = right(scope);
    if (value === settles) return settles;
    if (failure !== undefined) throw failure;
    if (typeof value !== "boolean") throw new NoSuchOverload();
    return value;
  };
}

/** Whether a type leaves open what its values are. */
function isVague(type: Type): boolean {
  return type.kind === "dyn" || type.kind === "param" || type.kind === "null";
}

/**
 * Whether a value may be passed where `type` is asked for. What is inside lists and maps was
 * checked before, or fails later.
 */
function fits(value: Value, type: Type): boolean {
  switch (type.kind) {
    case "dyn":
    case "param":
      return true;
    case "bool":
      return typeof value === "boolean";
    case "int":
      return typeof value === "bigint";
    case "uint":
      return value instanceof Uint;
    case "double":
      return typeof value === "number";
    case "string":
      return typeof value === "string";
    case "bytes":
      return value instanceof Uint8Array;
    case "null":
      return value === null;
    case "timestamp":
      return value instanceof Timestamp;
    case "duration":
      return value instanceof Duration;
    case "type":
      return value instanceof TypeValue;
    case "list":
      return Array.isArray(value) && (value.length === 0 || fits(value[0] as Value, type.element));
    case "map":
      return value instanceof CelMap;
    case "optional":
      return value instanceof Optional;
    case "opaque":
      return value instanceof Opaque && value.typeName === type.name;
    case "object":
      return value instanceof CelMap;
  }
}
