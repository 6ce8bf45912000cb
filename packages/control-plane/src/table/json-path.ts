import { isObject, type Json } from "../json.ts";

/** A path that cannot be read. */
export class JsonPathError extends Error {
  override readonly name = "JsonPathError";
}

type Step =
  | { readonly at: "field"; readonly name: string }
  | { readonly at: "every" }
  | { readonly at: "deep" }
  | { readonly at: "index"; readonly index: number }
  | { readonly at: "slice"; readonly from?: number; readonly to?: number; readonly by: number }
  | { readonly at: "union"; readonly of: readonly Step[] }
  | { readonly at: "filter"; readonly left: Operand; readonly operator: Operator; readonly right: Operand };

type Operator = "exists" | "==" | "!=" | "<" | "<=" | ">" | ">=";
type Operand = { readonly path: readonly Step[] } | { readonly literal: Json };

/** A path read by {@link parseJsonPath}. */
export interface JsonPath {
  readonly steps: readonly Step[];
}

/**
 * Reads a path as printer columns and selectable fields write it: `.spec.items[0].name`,
 * `.metadata.labels.a\.b`, `.status.conditions[?(@.type=="Ready")].status`, with wildcards, slices
 * and unions.
 *
 * @throws {JsonPathError}
 */
export function parseJsonPath(text: string): JsonPath {
  const reader = new Reader(text);
  const steps = reader.steps();
  reader.expectEnd();
  return { steps };
}

/**
 * How many more values may be looked at on the way to those at a path. Unions and `..` in a row
 * lead to a number of places that grows with each of them, far beyond the size of the object.
 */
export interface Patience {
  left: number;
}

/** So much is enough for whatever people look for. */
export const usualPatience = 20_000;

/**
 * What is at a path, in order, found one by one as it is asked for. A missing field or item has
 * nothing. What takes too long to find is not found.
 */
export function* evaluateJsonPath(
  { steps }: JsonPath,
  value: Json,
  patience: Patience = { left: usualPatience },
): Generator<Json> {
  yield* walk(steps, 0, value, patience);
}

function* walk(steps: readonly Step[], at: number, value: Json, patience: Patience): Generator<Json> {
  const step = steps[at];
  if (step === undefined) yield value;
  else for (const found of take(step, value, patience)) yield* walk(steps, at + 1, found, patience);
}

function* take(step: Step, value: Json, patience: Patience): Generator<Json> {
  if (patience.left-- <= 0) return;
  switch (step.at) {
    case "field":
      if (isObject(value) && Object.hasOwn(value, step.name)) yield value[step.name] ?? null;
      return;
    case "every":
      yield* childrenOf(value, patience);
      return;
    case "deep":
      yield* allIn(value, patience);
      return;
    case "index": {
      const item = Array.isArray(value) ? value.at(step.index) : undefined;
      if (item !== undefined) yield item;
      return;
    }
    case "slice":
      if (Array.isArray(value)) {
        patience.left -= value.length / glancedAt;
        yield* value.slice(step.from, step.to).filter((_, index) => index % step.by === 0);
      }
      return;
    case "union":
      for (const each of step.of) yield* take(each, value, patience);
      return;
    case "filter":
      for (const item of Array.isArray(value) ? value : []) {
        if (patience.left-- <= 0) return;
        if (holds(step, item, patience)) yield item;
      }
  }
}

/** A value and all that is in it, from the outside in and in order. */
function* allIn(value: Json, patience: Patience): Generator<Json> {
  const open = [value];
  for (let next = open.pop(); next !== undefined && patience.left-- > 0; next = open.pop()) {
    yield next;
    for (const child of childrenOf(next, patience).toReversed()) open.push(child);
  }
}

/** So many items that are passed over cost as much as one that is looked at. */
const glancedAt = 20;

function childrenOf(value: Json, patience: Patience): Json[] {
  const children = Array.isArray(value) ? value : isObject(value) ? Object.values(value) : [];
  patience.left -= children.length / glancedAt;
  return children;
}

function holds(step: Step & { at: "filter" }, item: Json, patience: Patience): boolean {
  const left = resolve(step.left, item, patience);
  if (step.operator === "exists") return left !== undefined;
  const right = resolve(step.right, item, patience);
  if (left === undefined || right === undefined) return false;
  if (step.operator === "==") return left === right;
  if (step.operator === "!=") return left !== right;
  const comparable =
    (typeof left === "number" && typeof right === "number") ||
    (typeof left === "string" && typeof right === "string");
  if (!comparable) return false;
  switch (step.operator) {
    case "<":
      return left < right;
    case "<=":
      return left <= right;
    case ">":
      return left > right;
    case ">=":
      return left >= right;
  }
}

/** The first value of an operand. */
function resolve(operand: Operand, item: Json, patience: Patience): Json | undefined {
  if ("literal" in operand) return operand.literal;
  const [first] = walk(operand.path, 0, item, patience);
  return first;
}

const operators = ["==", "!=", "<=", ">=", "<", ">"] as const;

class Reader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  steps(): Step[] {
    const steps: Step[] = [];
    for (;;) {
      if (this.#skip("..")) {
        steps.push({ at: "deep" });
        if (this.#text[this.#at] !== "[") steps.push(this.#name());
      } else if (this.#skip(".")) {
        if (this.#text[this.#at] !== "[" && this.#at < this.#text.length) steps.push(this.#name());
      } else if (this.#skip("[")) {
        steps.push(this.#bracket());
      } else {
        return steps;
      }
    }
  }

  expectEnd(): void {
    if (this.#at < this.#text.length) throw this.#fault("unexpected");
  }

  #name(): Step {
    if (this.#skip("*")) return { at: "every" };
    let name = "";
    while (this.#at < this.#text.length) {
      const character = this.#text[this.#at] ?? "";
      if (/[\s.[\](){}|=!<>'",?@*$]/.test(character)) break;
      if (character === "\\") this.#at++;
      name += this.#text[this.#at] ?? "";
      this.#at++;
    }
    if (name === "") throw this.#fault("a name is missing before");
    return { at: "field", name };
  }

  #bracket(): Step {
    this.#space();
    if (this.#skip("?(")) return this.#filter();
    const parts = [this.#selector()];
    this.#space();
    while (this.#skip(",")) {
      parts.push(this.#selector());
      this.#space();
    }
    this.#expect("]");
    const [first] = parts;
    return parts.length === 1 && first ? first : { at: "union", of: parts };
  }

  #selector(): Step {
    this.#space();
    if (this.#skip("*")) return { at: "every" };
    const quoted = this.#quoted();
    if (quoted !== undefined) return { at: "field", name: quoted };
    const match = /^(-?\d+)?(?:(:)(-?\d+)?(?::(\d+)?)?)?/.exec(this.#text.slice(this.#at));
    const [all = "", from, colon, to, by] = match ?? [];
    if (all === "") throw this.#fault("an index is missing before");
    this.#at += all.length;
    if (colon === undefined) return { at: "index", index: Number(from) };
    const step = by === undefined ? 1 : Number(by);
    if (step === 0) throw this.#fault("a slice must step forward before");
    return {
      at: "slice",
      by: step,
      ...(from === undefined ? {} : { from: Number(from) }),
      ...(to === undefined ? {} : { to: Number(to) }),
    };
  }

  #filter(): Step {
    const left = this.#operand();
    this.#space();
    const operator = operators.find((each) => this.#skip(each));
    const right = operator === undefined ? { literal: null } : this.#operand();
    this.#space();
    this.#expect(")");
    this.#space();
    this.#expect("]");
    return { at: "filter", left, operator: operator ?? "exists", right };
  }

  #operand(): Operand {
    this.#space();
    if (this.#skip("@")) return { path: this.steps() };
    const quoted = this.#quoted();
    if (quoted !== undefined) return { literal: quoted };
    const match = /^(?:true|false|-?\d+(?:\.\d+)?)/.exec(this.#text.slice(this.#at))?.[0];
    if (match === undefined) throw this.#fault("a value is missing before");
    this.#at += match.length;
    return { literal: JSON.parse(match.replace(/^(-?)0+(?=\d)/, "$1")) as Json };
  }

  #quoted(): string | undefined {
    const quote = this.#text[this.#at];
    if (quote !== "'" && quote !== '"') return undefined;
    let value = "";
    for (this.#at++; this.#at < this.#text.length; this.#at++) {
      const character = this.#text[this.#at] ?? "";
      if (character === quote) {
        this.#at++;
        return value;
      }
      if (character === "\\") this.#at++;
      value += this.#text[this.#at] ?? "";
    }
    throw this.#fault("unterminated text before");
  }

  #space(): void {
    while (/\s/.test(this.#text[this.#at] ?? "")) this.#at++;
  }

  #skip(wanted: string): boolean {
    if (!this.#text.startsWith(wanted, this.#at)) return false;
    this.#at += wanted.length;
    return true;
  }

  #expect(wanted: string): void {
    if (!this.#skip(wanted)) throw this.#fault(`${wanted} is missing before`);
  }

  #fault(what: string): JsonPathError {
    const rest = this.#text.slice(this.#at);
    return new JsonPathError(`${this.#text}: ${what} ${rest === "" ? "the end" : JSON.stringify(rest)}`);
  }
}
