import type { Checked } from "./check.ts";
import { LIST_COST, MAP_COST, WALK_COSTS } from "./costs.ts";
import { type Expr, qualifiedName } from "./syntax.ts";
import type { Type } from "./types.ts";

/**
 * The most an expression can cost, by the bounds its types carry; infinite where something is
 * unbounded.
 */
export function estimate(checked: Checked): number {
  return new Estimator(checked).cost(checked.expr);
}

/** Functions that compare the items of a list, which costs more when those are strings. */
const COMPARING = new Set(["isSorted", "sum", "max", "min", "indexOf", "lastIndexOf"]);

class Estimator {
  private readonly checked: Checked;

  constructor(checked: Checked) {
    this.checked = checked;
  }

  cost(expr: Expr): number {
    switch (expr.op) {
      case "const":
        return 0;
      case "ident":
        return 1;
      case "select": {
        const name = qualifiedName(expr);
        if (name !== undefined && this.checked.references.has(name)) return 1;
        return this.cost(expr.operand) + (expr.test ? 0 : 1);
      }
      case "call":
        return this.call(expr);
      case "list":
        return LIST_COST + total(expr.items.map(({ value }) => this.cost(value)));
      case "map":
        return MAP_COST + total(expr.entries.flatMap(({ key, value }) => [this.cost(key), this.cost(value)]));
      case "walk": {
        const { once, each } = WALK_COSTS[expr.walk];
        const filter = expr.filter === undefined ? 0 : this.cost(expr.filter);
        const body = expr.body === undefined ? 0 : this.cost(expr.body);
        return this.cost(expr.range) + once + times(this.size(expr.range), each + filter + body);
      }
      case "optMap":
        return this.cost(expr.target) + 3 + this.cost(expr.body);
    }
  }

  private call(expr: Expr & { op: "call" }): number {
    const args = this.operands(expr);
    const costs = args.map((arg) => this.cost(arg));
    if (expr.name === "_?_:_") return (costs[0] ?? 0) + Math.max(costs[1] ?? 0, costs[2] ?? 0);
    if (expr.name === "_&&_" || expr.name === "_||_") return total(costs);
    const sizes = args.map((arg) => this.size(arg));
    if (expr.name === "join") sizes[0] = this.joinedSize(args[0], sizes);
    else if (expr.name === "slice") sizes[0] = slicedSize(args, sizes[0] ?? 0);
    else if (COMPARING.has(expr.name)) sizes[0] = this.comparedSize(args[0], sizes[0] ?? 0);
    const own = this.checked
      .overloadsOf(expr)
      .map((overload) => (overload.cost === undefined ? 1 : product(overload.cost, sizes)));
    return total(costs) + Math.max(1, ...own);
  }

  /** What `join` has to copy: every item, and a separator after each. */
  private joinedSize(list: Expr | undefined, [count = 0, separator = 0]: readonly number[]): number {
    const type = list === undefined ? undefined : this.checked.typeOf(list);
    const item = type?.kind === "list" ? sizeOfType(type.element) : Number.POSITIVE_INFINITY;
    return times(count, item + separator);
  }

  private comparedSize(list: Expr | undefined, count: number): number {
    const type = list === undefined ? undefined : this.checked.typeOf(list);
    if (type?.kind !== "list" || (type.element.kind !== "string" && type.element.kind !== "bytes"))
      return count;
    return times(count, 1 + sizeOfType(type.element) * 0.1);
  }

  private operands(expr: Expr & { op: "call" }): readonly Expr[] {
    if (expr.target === undefined || this.checked.isNamespaced(expr)) return expr.args;
    return [expr.target, ...expr.args];
  }

  /** The most characters, items or entries an expression's value can have. */
  private size(expr: Expr): number {
    if (expr.op === "const") {
      const { value } = expr.constant;
      return typeof value === "string" || value instanceof Uint8Array ? value.length : 1;
    }
    if (expr.op === "call") {
      if (expr.name === "_?_:_") return Math.max(...expr.args.slice(1).map((arg) => this.size(arg)));
      const operands = this.operands(expr);
      const sizes = operands.map((arg) => this.size(arg));
      if (expr.name === "slice") sizes[0] = slicedSize(operands, sizes[0] ?? 0);
      const known = this.checked
        .overloadsOf(expr)
        .filter((overload) => overload.size !== undefined)
        .map((overload) => product(overload.size as (...sizes: number[]) => number, sizes));
      if (known.length > 0) return Math.max(...known);
    }
    return sizeOfType(this.checked.typeOf(expr));
  }
}

/**
 * What lies between two indexes, where they are written down. A slice that ends before it begins
 * counts as without bound.
 */
function slicedSize([, start, end]: readonly Expr[], size: number): number {
  const written = (index: Expr | undefined, otherwise: number): number =>
    index?.op === "const" && typeof index.constant.value === "bigint" && index.constant.value >= 0n
      ? Number(index.constant.value)
      : otherwise;
  const length = written(end, size) - written(start, 0);
  return length < 0 ? Number.POSITIVE_INFINITY : length;
}

function sizeOfType(type: Type): number {
  switch (type.kind) {
    case "string":
    case "bytes":
    case "dyn":
    case "list":
    case "map":
      return type.max ?? Number.POSITIVE_INFINITY;
    case "optional":
      return sizeOfType(type.of);
    default:
      return 1;
  }
}

function total(costs: readonly number[]): number {
  return costs.reduce((sum, cost) => sum + cost, 0);
}

/** Nothing times infinity is nothing. */
function times(a: number, b: number): number {
  return a === 0 || b === 0 ? 0 : a * b;
}

function product(of: (...sizes: number[]) => number, sizes: readonly number[]): number {
  const result = of(...sizes);
  return Number.isNaN(result) ? 0 : result;
}
