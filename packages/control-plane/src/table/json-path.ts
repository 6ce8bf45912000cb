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

/** Everything at a path, in order. A missing field or item has nothing. */
export function evaluateJsonPath({ steps }: JsonPath, value: Json): Json[] {
  return walk(steps, [value]);
}

function walk(steps: readonly Step[], from: readonly Json[]): Json[] {
  let held = [...from];
  for (const step of steps) held = held.flatMap((value) => take(step, value));
  return held;
}

function take(step: Step, value: Json): Json[] {
  switch (step.at) {
    case "field":
      return isObject(value) && Object.hasOwn(value, step.name) ? [value[step.name] ?? null] : [];
    case "every":
      return childrenOf(value);
    case "deep":
      return [value, ...childrenOf(value).flatMap((child) => take(step, child))];
    case "index": {
      const item = Array.isArray(value) ? value.at(step.index) : undefined;
      return item === undefined ? [] : [item];
    }
    case "slice":
      return Array.isArray(value)
        ? value.slice(step.from, step.to).filter((_, index) => index % step.by === 0)
        : [];
    case "union":
      return step.of.flatMap((each) => take(each, value));
    case "filter":
      return Array.isArray(value) ? value.filter((item) => holds(step, item)) : [];
  }
}

function childrenOf(value: Json): Json[] {
  if (Array.isArray(value)) return value;
  return isObject(value) ? Object.values(value) : [];
}

function holds(step: Step & { at: "filter" }, item: Json): boolean {
  const [left] = resolve(step.left, item);
  if (step.operator === "exists") return left !== undefined;
  const [right] = resolve(step.right, item);
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

function resolve(operand: Operand, item: Json): Json[] {
  return "path" in operand ? walk(operand.path, [item]) : [operand.literal];
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
