import { type Token, tokenize } from "./lexer.ts";
import { JsonnetError, type Location } from "./location.ts";
import type { Assertion, Bind, Clause, Expression, Field, Members, Parameter, Visibility } from "./syntax.ts";

/** The binary operators, from those that bind least. */
const precedence: readonly (readonly string[])[] = [
  ["||"],
  ["&&"],
  ["|"],
  ["^"],
  ["&"],
  ["==", "!="],
  ["<", ">", "<=", ">=", "in"],
  ["<<", ">>"],
  ["+", "-"],
  ["*", "/", "%"],
];

/** What may stand between the name of a field and its value. */
const separators: Readonly<Record<string, { readonly visibility: Visibility; readonly plus: boolean }>> = {
  ":": { visibility: "inherit", plus: false },
  "::": { visibility: "hidden", plus: false },
  ":::": { visibility: "visible", plus: false },
  "+:": { visibility: "inherit", plus: true },
  "+::": { visibility: "hidden", plus: true },
  "+:::": { visibility: "visible", plus: true },
};

/**
 * The tree of a file.
 *
 * @throws JsonnetError at the first place that is not jsonnet.
 */
export function parse(file: string, source: string): Expression {
  const parser = new Parser(tokenize(file, source));
  const whole = parser.expression();
  parser.end();
  return whole;
}

class Parser {
  readonly #tokens: readonly Token[];
  #index = 0;
  /** How many objects are around: `$` is the outermost. */
  #objects = 0;

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
  }

  end(): void {
    if (this.#next.kind !== "end") throw this.#unexpected("an operator or the end of the file");
  }

  expression(): Expression {
    const { at, kind, text } = this.#next;
    if (kind === "keyword") {
      switch (text) {
        case "local":
          return this.#local(at);
        case "if":
          return this.#if(at);
        case "function":
          return this.#function(at);
        case "error":
          this.#take();
          return { kind: "error", at, message: this.expression() };
        case "assert": {
          const assertion = this.#assertion();
          this.#expect(";");
          return { kind: "assert", at, assertion, body: this.expression() };
        }
        default:
      }
    }
    return this.#binary(0);
  }

  #local(at: Location): Expression {
    this.#take();
    const binds: Bind[] = [];
    do binds.push(this.#bind());
    while (this.#accept(","));
    this.#expect(";");
    return { kind: "local", at, binds, body: this.expression() };
  }

  #bind(): Bind {
    const { at } = this.#next;
    const name = this.#identifier();
    const parameters = this.#is("(") ? this.#parameters() : undefined;
    this.#expect("=");
    const body = this.expression();
    return { name, value: parameters ? { kind: "function", at, parameters, body } : body };
  }

  #if(at: Location): Expression {
    this.#take();
    const test = this.expression();
    this.#expect("then");
    const then = this.expression();
    const otherwise = this.#accept("else") ? this.expression() : undefined;
    return { kind: "if", at, test, then, otherwise };
  }

  #function(at: Location): Expression {
    this.#take();
    const parameters = this.#parameters();
    return { kind: "function", at, parameters, body: this.expression() };
  }

  #parameters(): readonly Parameter[] {
    this.#expect("(");
    const parameters: Parameter[] = [];
    while (!this.#is(")")) {
      const name = this.#identifier();
      if (parameters.some((one) => one.name === name)) throw this.#fault(`two parameters are called ${name}`);
      parameters.push({ name, fallback: this.#accept("=") ? this.expression() : undefined });
      if (!this.#accept(",")) break;
    }
    this.#expect(")");
    return parameters;
  }

  #assertion(): Assertion {
    this.#expect("assert");
    const test = this.expression();
    return { test, message: this.#accept(":") ? this.expression() : undefined };
  }

  #binary(level: number): Expression {
    const operators = precedence[level];
    if (!operators) return this.#unary();
    let left = this.#binary(level + 1);
    for (;;) {
      const { at, kind, text } = this.#next;
      if (kind === "string" || kind === "number" || !operators.includes(text)) return left;
      this.#take();
      if (text === "in" && this.#is("super") && this.#tokens[this.#index + 1]?.text !== ".") {
        this.#take();
        left = { kind: "inSuper", at, name: left };
      } else left = { kind: "binary", at, operator: text, left, right: this.#operand(level + 1) };
    }
  }

  /** The right side of an operator: `1 + local x = 2; x` is jsonnet. */
  #operand(level: number): Expression {
    const { kind, text } = this.#next;
    const reachesFar = ["local", "if", "function", "error", "assert"].includes(text);
    return kind === "keyword" && reachesFar ? this.expression() : this.#binary(level);
  }

  #unary(): Expression {
    const { at, kind, text } = this.#next;
    if (kind === "symbol" && ["-", "+", "!", "~"].includes(text)) {
      this.#take();
      return { kind: "unary", at, operator: text, operand: this.#operand(precedence.length) };
    }
    return this.#postfix(this.#primary());
  }

  #postfix(start: Expression): Expression {
    let target = start;
    for (;;) {
      const { at } = this.#next;
      if (this.#accept(".")) {
        const place = this.#next.at;
        target = { kind: "index", at: place, target, index: this.#name(place) };
      } else if (this.#is("[")) target = this.#bracket(target, at);
      else if (this.#is("(")) target = this.#call(target, at);
      else if (this.#is("{"))
        target = { kind: "binary", at, operator: "+", left: target, right: this.#object() };
      else return target;
    }
  }

  #name(at: Location): Expression {
    return { kind: "literal", at, value: this.#identifier() };
  }

  #bracket(target: Expression, at: Location): Expression {
    this.#expect("[");
    const parts: (Expression | undefined)[] = [];
    let colons = 0;
    let part: Expression | undefined;
    for (;;) {
      if (this.#is("]")) break;
      if (this.#is(":") || this.#is("::")) {
        const { text } = this.#take();
        parts.push(part);
        if (text === "::") parts.push(undefined);
        colons += text.length;
        part = undefined;
      } else if (part === undefined) part = this.expression();
      else throw this.#unexpected("]");
    }
    this.#expect("]");
    parts.push(part);
    if (colons > 2) throw new JsonnetError(at, "a slice has at most three parts");
    if (colons > 0) return { kind: "slice", at, target, from: parts[0], to: parts[1], step: parts[2] };
    if (part === undefined) throw new JsonnetError(at, "an index is missing between [ and ]");
    return { kind: "index", at, target, index: part };
  }

  #call(callee: Expression, at: Location): Expression {
    this.#expect("(");
    const positional: Expression[] = [];
    const named: Bind[] = [];
    while (!this.#is(")")) {
      if (this.#next.kind === "identifier" && this.#tokens[this.#index + 1]?.text === "=") {
        const name = this.#identifier();
        this.#expect("=");
        named.push({ name, value: this.expression() });
      } else if (named.length > 0) throw this.#fault("an argument without a name follows one with a name");
      else positional.push(this.expression());
      if (!this.#accept(",")) break;
    }
    this.#expect(")");
    this.#accept("tailstrict");
    return { kind: "call", at, callee, positional, named };
  }

  #primary(): Expression {
    const token = this.#next;
    const { at } = token;
    switch (token.kind) {
      case "string":
      case "number":
        this.#take();
        return { kind: "literal", at, value: token.value };
      case "identifier":
        this.#take();
        return { kind: "variable", at, name: token.text };
      default:
    }
    switch (token.text) {
      case "null":
      case "true":
      case "false":
        this.#take();
        return { kind: "literal", at, value: token.text === "null" ? null : token.text === "true" };
      case "self":
        this.#take();
        return { kind: "self", at };
      case "$":
        this.#take();
        return { kind: "variable", at, name: "$" };
      case "super":
        return this.#super(at);
      case "(": {
        this.#take();
        const inner = this.expression();
        this.#expect(")");
        return inner;
      }
      case "[":
        return this.#array(at);
      case "{":
        return this.#object();
      case "import":
      case "importstr":
        return this.#import(at, token.text);
      default:
        throw this.#unexpected("a value");
    }
  }

  #super(at: Location): Expression {
    this.#take();
    const place = this.#next.at;
    if (this.#accept(".")) return { kind: "super", at, index: this.#name(place) };
    this.#expect("[");
    const index = this.expression();
    this.#expect("]");
    return { kind: "super", at, index };
  }

  #import(at: Location, kind: "import" | "importstr"): Expression {
    this.#take();
    const path = this.#take();
    if (path.kind !== "string") throw new JsonnetError(path.at, `${kind} needs the name of a file in quotes`);
    return { kind, at, path: path.value };
  }

  #array(at: Location): Expression {
    this.#expect("[");
    const items: Expression[] = [];
    while (!this.#is("]")) {
      const item = this.expression();
      const comma = this.#accept(",");
      if (items.length === 0 && this.#is("for")) {
        const clauses = this.#clauses();
        this.#expect("]");
        return { kind: "arrayFor", at, item, clauses };
      }
      items.push(item);
      if (!comma) break;
    }
    this.#expect("]");
    return { kind: "array", at, items };
  }

  #clauses(): readonly Clause[] {
    const clauses: Clause[] = [];
    for (;;) {
      if (this.#accept("for")) {
        const name = this.#identifier();
        this.#expect("in");
        clauses.push({ kind: "for", name, list: this.expression() });
      } else if (this.#accept("if")) clauses.push({ kind: "if", test: this.expression() });
      else return clauses;
    }
  }

  #object(): Expression {
    const { at } = this.#next;
    this.#expect("{");
    const isOutermost = this.#objects === 0;
    this.#objects += 1;
    const members = this.#members();
    const clauses = this.#is("for") ? this.#clauses() : undefined;
    this.#objects -= 1;
    this.#expect("}");
    if (!clauses) return { kind: "object", at, members, isOutermost };
    const [field, ...others] = members.fields;
    if (!field || others.length > 0 || members.assertions.length > 0 || field.visibility !== "inherit")
      throw new JsonnetError(at, "an object with for has one field, and no assert");
    const { name, value, plus } = field;
    return { kind: "objectFor", at, name, value, plus, locals: members.locals, clauses, isOutermost };
  }

  #members(): Members {
    const fields: Field[] = [];
    const locals: Bind[] = [];
    const assertions: Assertion[] = [];
    const names = new Set<unknown>();
    while (!this.#is("}") && !this.#is("for")) {
      if (this.#accept("local")) locals.push(this.#bind());
      else if (this.#is("assert")) assertions.push(this.#assertion());
      else {
        const field = this.#field();
        if (field.name.kind === "literal") {
          if (names.has(field.name.value))
            throw new JsonnetError(field.name.at, `two fields are called ${String(field.name.value)}`);
          names.add(field.name.value);
        }
        fields.push(field);
      }
      if (!this.#accept(",")) break;
    }
    return { fields, locals, assertions };
  }

  #field(): Field {
    const name = this.#fieldName();
    const { at } = this.#next;
    const parameters = this.#is("(") ? this.#parameters() : undefined;
    const plus = this.#accept("+") !== undefined;
    const separator = separators[`${plus ? "+" : ""}${this.#next.text}`];
    if (!separator || this.#next.kind !== "symbol")
      throw this.#unexpected("a colon after the name of a field");
    this.#take();
    const body = this.expression();
    return { name, value: parameters ? { kind: "function", at, parameters, body } : body, ...separator };
  }

  #fieldName(): Expression {
    const token = this.#next;
    if (token.kind === "string") {
      this.#take();
      return { kind: "literal", at: token.at, value: token.value };
    }
    if (this.#accept("[")) {
      const name = this.expression();
      this.#expect("]");
      return name;
    }
    if (token.kind !== "identifier") throw this.#unexpected("the name of a field");
    return this.#name(token.at);
  }

  get #next(): Token {
    // The last token is the end, which nothing takes.
    return this.#tokens[Math.min(this.#index, this.#tokens.length - 1)] as Token;
  }

  #take(): Token {
    const token = this.#next;
    this.#index += 1;
    return token;
  }

  #is(text: string): boolean {
    const { kind } = this.#next;
    return (kind === "symbol" || kind === "keyword") && this.#next.text === text;
  }

  #accept(text: string): Token | undefined {
    return this.#is(text) ? this.#take() : undefined;
  }

  #expect(text: string): void {
    if (!this.#accept(text)) throw this.#unexpected(JSON.stringify(text));
  }

  #identifier(): string {
    if (this.#next.kind !== "identifier") throw this.#unexpected("a name");
    return this.#take().text;
  }

  #unexpected(wanted: string): JsonnetError {
    return this.#fault(`expected ${wanted}, found ${this.#next.text}`);
  }

  #fault(fault: string): JsonnetError {
    return new JsonnetError(this.#next.at, fault);
  }
}
