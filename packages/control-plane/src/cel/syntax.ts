/** A constant written in an expression. */
export type Constant =
  | { readonly type: "int"; readonly value: bigint }
  | { readonly type: "uint"; readonly value: bigint }
  | { readonly type: "double"; readonly value: number }
  | { readonly type: "string"; readonly value: string }
  | { readonly type: "bytes"; readonly value: Uint8Array }
  | { readonly type: "bool"; readonly value: boolean }
  | { readonly type: "null"; readonly value: null };

/**
 * The macros that walk a list or a map. Those with two variables bind index and item, or key and
 * value.
 */
export type Walk =
  | "all"
  | "exists"
  | "exists_one"
  | "map"
  | "filter"
  | "sortBy"
  | "transformList"
  | "transformMap"
  | "transformMapEntry";

/** A parsed expression. `at` is where it stands in the text, as error messages point to it. */
export type Expr =
  | { readonly op: "const"; readonly at: number; readonly constant: Constant }
  | { readonly op: "ident"; readonly at: number; readonly name: string }
  | {
      readonly op: "select";
      readonly at: number;
      readonly operand: Expr;
      readonly field: string;
      /** `has(a.b)`: asks whether the field is there. */
      readonly test: boolean;
      /** `a.?b`: an optional in place of an error. */
      readonly optional: boolean;
    }
  | {
      readonly op: "call";
      readonly at: number;
      readonly name: string;
      readonly target: Expr | undefined;
      readonly args: readonly Expr[];
    }
  | { readonly op: "list"; readonly at: number; readonly items: readonly Entry[] }
  | {
      readonly op: "map";
      readonly at: number;
      readonly entries: readonly (Entry & { readonly key: Expr })[];
    }
  | {
      readonly op: "walk";
      readonly at: number;
      readonly walk: Walk;
      readonly range: Expr;
      readonly variables: readonly string[];
      /** Items for which this does not hold are left out. */
      readonly filter: Expr | undefined;
      readonly body: Expr | undefined;
    }
  | {
      readonly op: "optMap";
      readonly at: number;
      readonly flat: boolean;
      readonly target: Expr;
      readonly variable: string;
      readonly body: Expr;
    };

/**
 * An item of a list or the value of a map entry; optional ones (`?x`) are left out when they are
 * none.
 */
export interface Entry {
  readonly value: Expr;
  readonly optional: boolean;
}

/** `a.b.c` as one name, if that is all the expression is. */
export function qualifiedName(expr: Expr): string | undefined {
  if (expr.op === "ident") return expr.name;
  if (expr.op !== "select" || expr.test || expr.optional) return undefined;
  const operand = qualifiedName(expr.operand);
  return operand === undefined ? undefined : `${operand}.${expr.field}`;
}
