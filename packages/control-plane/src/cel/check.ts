import type { Matcher } from "../patterns/index.ts";
import type { Overload } from "./functions.ts";
import type { Library } from "./library/index.ts";
import type { Issue } from "./source.ts";
import { type Expr, qualifiedName } from "./syntax.ts";
import {
  assignable,
  type Bindings,
  BOOL,
  BYTES,
  DOUBLE,
  DYN,
  INT,
  listOf,
  mapOf,
  NULL,
  optionalOf,
  resolve,
  STRING,
  sameType,
  TYPE,
  type Type,
  typeName,
  UINT,
} from "./types.ts";

/** What an expression may refer to. */
export interface Environment {
  readonly variables: ReadonlyMap<string, Type>;
  readonly library: Library;
  /** Tells which literals are patterns. */
  readonly matcher: Matcher;
}

/** An expression whose every part has a type, and every call its candidates. */
export interface Checked {
  readonly expr: Expr;
  readonly type: Type;
  typeOf(expr: Expr): Type;
  /** The overloads a call may turn out to be: one when its arguments' types are known. */
  overloadsOf(expr: Expr): readonly Overload[];
  /** A call that names a function in a namespace (`sets.contains`), whose target is no value. */
  isNamespaced(expr: Expr): boolean;
  /** Names of variables the expression refers to. */
  readonly references: ReadonlySet<string>;
  readonly issues: readonly Issue[];
}

/**
 * Checks an expression against what it may refer to. What is wrong is in `issues`; the rest is then
 * not to be used.
 */
export function check(expr: Expr, environment: Environment): Checked {
  const checker = new Checker(environment);
  const type = checker.visit(expr);
  return {
    expr,
    type,
    typeOf: (part) => checker.types.get(part) ?? DYN,
    overloadsOf: (part) => checker.calls.get(part) ?? [],
    isNamespaced: (part) => checker.namespaced.has(part),
    references: checker.references,
    issues: checker.issues,
  };
}

const TYPE_NAMES = new Set([
  "bool",
  "int",
  "uint",
  "double",
  "string",
  "bytes",
  "list",
  "map",
  "null_type",
  "type",
]);

class Checker {
  readonly types = new Map<Expr, Type>();
  readonly calls = new Map<Expr, readonly Overload[]>();
  readonly namespaced = new Set<Expr>();
  readonly references = new Set<string>();
  readonly issues: Issue[] = [];
  private readonly environment: Environment;
  private readonly scopes: Map<string, Type>[] = [];
  /** Above zero where literals may mix types. */
  private mixing = 0;

  constructor(environment: Environment) {
    this.environment = environment;
  }

  visit(expr: Expr): Type {
    const type = this.typeOf(expr);
    this.types.set(expr, type);
    return type;
  }

  private report(at: number, message: string): Type {
    this.issues.push({ at, message });
    return DYN;
  }

  private lookup(name: string): Type | undefined {
    for (let index = this.scopes.length - 1; index >= 0; index--) {
      const type = this.scopes[index]?.get(name);
      if (type !== undefined) return type;
    }
    const type = this.environment.variables.get(name);
    if (type !== undefined) this.references.add(name);
    return type;
  }

  private typeOf(expr: Expr): Type {
    switch (expr.op) {
      case "const":
        return { int: INT, uint: UINT, double: DOUBLE, string: STRING, bytes: BYTES, bool: BOOL, null: NULL }[
          expr.constant.type
        ];
      case "ident": {
        const type = this.lookup(expr.name);
        if (type !== undefined) return type;
        if (TYPE_NAMES.has(expr.name)) return TYPE;
        return this.report(expr.at, `undeclared reference to '${expr.name}' (in container '')`);
      }
      case "select":
        return this.select(expr);
      case "call":
        return this.call(expr);
      case "list":
        return this.list(expr);
      case "map":
        return this.map(expr);
      case "walk":
        return this.walk(expr);
      case "optMap":
        return this.optMap(expr);
    }
  }

  private select(expr: Expr & { op: "select" }): Type {
    const qualified = qualifiedName(expr);
    if (qualified !== undefined && this.isUnknownRoot(expr)) {
      const type = this.environment.variables.get(qualified);
      if (type !== undefined) {
        this.references.add(qualified);
        return type;
      }
      if (qualified === "google.protobuf.Timestamp" || qualified === "google.protobuf.Duration") return TYPE;
    }
    const operand = this.visit(expr.operand);
    const isOptional = operand.kind === "optional";
    const container = isOptional ? operand.of : operand;
    const field = this.field(container, expr);
    if (expr.test) return BOOL;
    if (!expr.optional && !isOptional) return field;
    return field.kind === "optional" ? field : optionalOf(field);
  }

  private field(container: Type, expr: Expr & { op: "select" }): Type {
    switch (container.kind) {
      case "dyn":
      case "param":
        return DYN;
      case "map":
        return container.value;
      case "object":
        return (
          container.fields.get(expr.field) ??
          container.fields.get(`__${expr.field}__`) ??
          this.report(expr.at, `undefined field '${expr.field}'`)
        );
      default:
        return this.report(expr.at, `type '${typeName(container)}' does not support field selection`);
    }
  }

  /**
   * Whether the first name of a dotted chain is no variable, so that the chain may be one long
   * name.
   */
  private isUnknownRoot(expr: Expr): boolean {
    let root = expr;
    while (root.op === "select") root = root.operand;
    return root.op === "ident" && this.lookup(root.name) === undefined;
  }

  private call(expr: Expr & { op: "call" }): Type {
    if (expr.target !== undefined) {
      const namespace = qualifiedName(expr.target);
      if (namespace !== undefined && this.isUnknownRoot(expr.target)) {
        const name = `${namespace}.${expr.name}`;
        if (this.environment.library.has(name)) {
          this.namespaced.add(expr);
          return this.dispatch(expr, name, expr.args, false);
        }
      }
      return this.dispatch(expr, expr.name, [expr.target, ...expr.args], true);
    }
    if (expr.name === "_&&_" || expr.name === "_||_") {
      for (const arg of expr.args) this.expectBool(arg);
      return BOOL;
    }
    if (expr.name === "_?_:_") {
      const [condition, yes, no] = expr.args as [Expr, Expr, Expr];
      const types = [this.visit(condition), this.visit(yes), this.visit(no)] as const;
      const bindings: Bindings = new Map();
      const branch: Type = { kind: "param", name: "A" };
      if (
        !assignable(BOOL, types[0], bindings) ||
        !assignable(branch, types[1], bindings) ||
        !assignable(branch, types[2], bindings)
      ) {
        return this.noOverload(expr.at, "_?_:_", types, false);
      }
      return resolve(branch, bindings);
    }
    return this.dispatch(expr, expr.name, expr.args, false);
  }

  private expectBool(arg: Expr): void {
    const type = this.visit(arg);
    if (assignable(BOOL, type, new Map())) return;
    this.report(arg.at, `expected type 'bool' but found '${typeName(type)}'`);
  }

  private dispatch(expr: Expr & { op: "call" }, name: string, args: readonly Expr[], member: boolean): Type {
    // What is formatted may be of any type, also within one literal.
    const isFormat = name === "format" && member;
    if (isFormat) this.mixing++;
    const types = args.map((arg) => this.visit(arg));
    if (isFormat) this.mixing--;
    const overloads = (this.environment.library.get(name) ?? []).filter(
      (overload) => overload.member === member,
    );
    if (overloads.length === 0 && !this.environment.library.has(name)) {
      return this.report(expr.at, `undeclared reference to '${name}' (in container '')`);
    }
    const fitting: Overload[] = [];
    let result: Type | undefined;
    for (const overload of overloads) {
      if (overload.params.length !== types.length) continue;
      const bindings: Bindings = new Map();
      if (!overload.params.every((param, index) => assignable(param, types[index] as Type, bindings)))
        continue;
      fitting.push(overload);
      const type = resolve(overload.result, bindings);
      result = result === undefined || sameType(result, type) ? (result ?? type) : DYN;
    }
    this.calls.set(expr, fitting);
    return result ?? this.noOverload(expr.at, name, types, member);
  }

  private noOverload(at: number, name: string, types: readonly Type[], member: boolean): Type {
    const names = types.map(typeName);
    const applied = member ? `${names[0]}.(${names.slice(1).join(", ")})` : `(${names.join(", ")})`;
    return this.report(at, `found no matching overload for '${name}' applied to '${applied}'`);
  }

  /** The one type of the parts of a literal. Mixing types is an error in Kubernetes. */
  private common(parts: readonly { expr: Expr; optional: boolean }[]): Type {
    let common: Type | undefined;
    for (const { expr, optional } of parts) {
      const visited = this.visit(expr);
      const type = optional && visited.kind === "optional" ? visited.of : visited;
      if (common === undefined || common.kind === "null") common = type;
      else if (!assignable(common, type, new Map())) {
        if (this.mixing === 0) {
          this.report(expr.at, `expected type '${typeName(common)}' but found '${typeName(type)}'`);
        }
        common = DYN;
      }
    }
    return common ?? DYN;
  }

  private list(expr: Expr & { op: "list" }): Type {
    const element = this.common(expr.items.map(({ value, optional }) => ({ expr: value, optional })));
    return listOf(element, expr.items.length);
  }

  private map(expr: Expr & { op: "map" }): Type {
    const key = this.common(expr.entries.map((entry) => ({ expr: entry.key, optional: false })));
    const value = this.common(expr.entries.map((entry) => ({ expr: entry.value, optional: entry.optional })));
    return mapOf(key, value, expr.entries.length);
  }

  private within<T>(variables: readonly (readonly [string, Type])[], run: () => T): T {
    this.scopes.push(new Map(variables));
    const result = run();
    this.scopes.pop();
    return result;
  }

  private walk(expr: Expr & { op: "walk" }): Type {
    const range = this.visit(expr.range);
    const two = expr.variables.length === 2;
    let types: [Type, Type];
    if (range.kind === "list") types = two ? [INT, range.element] : [range.element, DYN];
    else if (range.kind === "map") types = [range.key, range.value];
    else {
      if (range.kind !== "dyn" && range.kind !== "param") {
        const message = `expression of type '${typeName(range)}' cannot be range of a comprehension (must be list, map, or dynamic)`;
        this.report(expr.range.at, message);
      }
      types = [DYN, DYN];
    }
    const variables = expr.variables.map((name, index) => [name, types[index] as Type] as const);
    return this.within(variables, () => {
      if (expr.filter !== undefined) this.predicate(expr.filter, expr);
      const body = expr.body === undefined ? undefined : this.visit(expr.body);
      const max = range.kind === "list" || range.kind === "map" ? range.max : undefined;
      switch (expr.walk) {
        case "sortBy":
          return range;
        case "filter":
          return range.kind === "map" ? listOf(types[0], max) : range;
        case "map":
        case "transformList":
          return listOf(unbounded(body ?? DYN), max);
        case "transformMap":
          return mapOf(range.kind === "list" ? INT : types[0], body ?? DYN, max);
        case "transformMapEntry":
          return body?.kind === "map" ? mapOf(body.key, body.value, max) : mapOf(DYN, DYN, max);
        default:
          if (body !== undefined && !assignable(BOOL, body, new Map())) this.notBool(body, expr);
          return BOOL;
      }
    });
  }

  private predicate(filter: Expr, walk: Expr & { op: "walk" }): void {
    const type = this.visit(filter);
    if (!assignable(BOOL, type, new Map())) {
      this.noOverload(walk.at, "_?_:_", [type, listOf(DYN), listOf(DYN)], false);
    }
  }

  private notBool(type: Type, walk: Expr & { op: "walk" }): void {
    if (walk.walk === "exists_one") {
      this.noOverload(walk.at, "_?_:_", [type, INT, INT], false);
    } else if (walk.body !== undefined) {
      this.report(walk.body.at, `expected type 'bool' but found '${typeName(type)}'`);
    }
  }

  private optMap(expr: Expr & { op: "optMap" }): Type {
    const target = this.visit(expr.target);
    const inner = target.kind === "optional" ? unbounded(target.of) : DYN;
    if (target.kind !== "optional" && target.kind !== "dyn")
      this.noOverload(expr.at, "hasValue", [target], true);
    const body = this.within([[expr.variable, inner]], () => this.visit(expr.body));
    return expr.flat ? (body.kind === "optional" ? body : optionalOf(DYN)) : optionalOf(body);
  }
}

/**
 * A type without the bounds its schema gave it: values that were computed are no longer known to
 * keep them.
 */
function unbounded(type: Type): Type {
  switch (type.kind) {
    case "string":
    case "bytes":
    case "dyn":
      return { kind: type.kind };
    case "list":
      return listOf(unbounded(type.element));
    case "map":
      return mapOf(unbounded(type.key), unbounded(type.value));
    default:
      return type;
  }
}
