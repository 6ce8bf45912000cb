import type { Location } from "./location.ts";

/** The content of a file, as a tree. Every node knows its place. */
export type Expression = { readonly at: Location } & (
  | { readonly kind: "literal"; readonly value: null | boolean | number | string }
  | { readonly kind: "self" }
  | { readonly kind: "variable"; readonly name: string }
  | { readonly kind: "super"; readonly index: Expression }
  | { readonly kind: "inSuper"; readonly name: Expression }
  | { readonly kind: "local"; readonly binds: readonly Bind[]; readonly body: Expression }
  | {
      readonly kind: "if";
      readonly test: Expression;
      readonly then: Expression;
      readonly otherwise: Expression | undefined;
    }
  | { readonly kind: "function"; readonly parameters: readonly Parameter[]; readonly body: Expression }
  | {
      readonly kind: "call";
      readonly callee: Expression;
      readonly positional: readonly Expression[];
      readonly named: readonly Bind[];
    }
  | { readonly kind: "index"; readonly target: Expression; readonly index: Expression }
  | {
      readonly kind: "slice";
      readonly target: Expression;
      readonly from: Expression | undefined;
      readonly to: Expression | undefined;
      readonly step: Expression | undefined;
    }
  | { readonly kind: "array"; readonly items: readonly Expression[] }
  | { readonly kind: "arrayFor"; readonly item: Expression; readonly clauses: readonly Clause[] }
  | { readonly kind: "object"; readonly members: Members; readonly isOutermost: boolean }
  | {
      readonly kind: "objectFor";
      readonly name: Expression;
      readonly value: Expression;
      readonly plus: boolean;
      readonly locals: readonly Bind[];
      readonly clauses: readonly Clause[];
      readonly isOutermost: boolean;
    }
  | { readonly kind: "unary"; readonly operator: string; readonly operand: Expression }
  | {
      readonly kind: "binary";
      readonly operator: string;
      readonly left: Expression;
      readonly right: Expression;
    }
  | { readonly kind: "import" | "importstr"; readonly path: string }
  | { readonly kind: "error"; readonly message: Expression }
  | { readonly kind: "assert"; readonly assertion: Assertion; readonly body: Expression }
);

/** A name and what it stands for. */
export interface Bind {
  readonly name: string;
  readonly value: Expression;
}

/** A parameter of a function. */
export interface Parameter {
  readonly name: string;
  readonly fallback: Expression | undefined;
}

/** A condition that must hold. */
export interface Assertion {
  readonly test: Expression;
  readonly message: Expression | undefined;
}

/** What an object has between its braces. */
export interface Members {
  readonly fields: readonly Field[];
  readonly locals: readonly Bind[];
  readonly assertions: readonly Assertion[];
}

/**
 * Whether a field shows in the result: `:` as in the object it is added to, `::` never, `:::`
 * always.
 */
export type Visibility = "inherit" | "hidden" | "visible";

/** A field of an object. */
export interface Field {
  readonly name: Expression;
  readonly value: Expression;
  /** `+:`: added to the field of the same name below. */
  readonly plus: boolean;
  readonly visibility: Visibility;
}

/** A part of a comprehension. */
export type Clause =
  | { readonly kind: "for"; readonly name: string; readonly list: Expression }
  | { readonly kind: "if"; readonly test: Expression };
