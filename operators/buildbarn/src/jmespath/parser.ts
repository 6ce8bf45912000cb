import { JmespathError } from "./fault.ts";
import { callFault } from "./functions.ts";
import { type Token, tokenize } from "./lexer.ts";

/** How strongly that binds which stands after an operand. Everything else ends an expression. */
const powers: Readonly<Record<string, number>> = {
  "|": 1,
  "||": 2,
  "&&": 3,
  "==": 5,
  "!=": 5,
  "<": 5,
  "<=": 5,
  ">": 5,
  ">=": 5,
  "[]": 9,
  "*": 20,
  "[?": 21,
  ".": 40,
  "!": 45,
  "{": 50,
  "[": 55,
  "(": 60,
};
/** What binds less than this ends what is done to each element of a list. */
const endsProjection = 10;
/** How deep expressions may be within each other: each takes its part of the stack. */
const deepest = 250;
const largest = 2n ** 63n - 1n;

/** What is known of an operand: the field that it names, if it is that alone. */
type Operand = Token | undefined;

/**
 * Reads an expression as the programs do, which take a little more than the language allows: commas
 * may be left out between arguments and between members of an object.
 *
 * Refuses what they take and could never answer: unknown functions, the wrong number of arguments,
 * and calls of what is no function. A program that answers one of the last kind ends.
 *
 * @throws JmespathError
 */
export function parse(text: string): void {
  new Parser(tokenize(text)).whole();
}

class Parser {
  readonly #tokens: readonly Token[];
  #index = 0;
  #depth = 0;

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
  }

  whole(): void {
    this.#expression(0);
    if (this.#next.kind !== "end") throw this.#unexpected("an operator or the end");
  }

  get #next(): Token {
    return this.#at(0);
  }

  #at(ahead: number): Token {
    const last = this.#tokens.length - 1;
    return this.#tokens[Math.min(this.#index + ahead, last)] ?? { kind: "end", text: "", offset: 0 };
  }

  #take(): Token {
    const token = this.#next;
    this.#index += 1;
    return token;
  }

  #isNext(text: string, ahead = 0): boolean {
    const token = this.#at(ahead);
    return token.kind === "symbol" && token.text === text;
  }

  #takeIf(text: string): boolean {
    const isNext = this.#isNext(text);
    if (isNext) this.#index += 1;
    return isNext;
  }

  #expect(text: string): void {
    if (!this.#takeIf(text)) throw this.#unexpected(text);
  }

  #unexpected(wanted: string, { kind, text, offset } = this.#next): JmespathError {
    const found = kind === "end" ? "the end" : text;
    return new JmespathError(offset, `expected ${wanted}, found ${found}`);
  }

  #power(): number {
    const { kind, text } = this.#next;
    return kind === "symbol" ? (powers[text] ?? 0) : 0;
  }

  #expression(power: number): void {
    this.#depth += 1;
    if (this.#depth > deepest)
      throw new JmespathError(this.#next.offset, `expressions are more than ${deepest} deep in each other`);
    let left = this.#operand();
    while (this.#power() > power) {
      this.#continue(left);
      left = undefined;
    }
    this.#depth -= 1;
  }

  /** What an expression begins with. */
  #operand(): Operand {
    const token = this.#take();
    switch (token.kind) {
      case "literal":
        return undefined;
      case "quoted":
        if (this.#isNext("("))
          throw new JmespathError(token.offset, "the name of a function is written without quotes");
        return undefined;
      case "name":
        return token;
      case "symbol":
        this.#prefix(token);
        return undefined;
      case "number":
        throw new JmespathError(token.offset, `a number is written as \`${token.text}\`, in backticks`);
      case "end":
        throw this.#unexpected("an expression", token);
      default:
        return token.kind satisfies never;
    }
  }

  #prefix(token: Token): void {
    switch (token.text) {
      case "@":
        return;
      case "*":
        if (!this.#isNext("]")) this.#projected(powers["*"]);
        return;
      case "[?":
        this.#filter();
        return;
      case "[]":
        this.#projected(powers["[]"]);
        return;
      case "[":
        if (this.#isIndexNext()) this.#indexed();
        else if (this.#isNext("*") && this.#isNext("]", 1)) this.#eachOf();
        else this.#list();
        return;
      case "{":
        this.#object();
        return;
      case "(":
        this.#expression(0);
        this.#expect(")");
        return;
      case "!":
        this.#expression(powers["!"] ?? 0);
        return;
      case "&":
        this.#expression(0);
        return;
      default:
        throw this.#unexpected("an expression", token);
    }
  }

  /** What comes after an operand. */
  #continue(left: Operand): void {
    const token = this.#take();
    switch (token.text) {
      case "|":
      case "||":
      case "&&":
      case "==":
      case "!=":
      case "<":
      case "<=":
      case ">":
      case ">=":
        this.#expression(powers[token.text] ?? 0);
        return;
      case ".":
        if (this.#takeIf("*")) this.#projected(powers["."]);
        else this.#selected(powers["."]);
        return;
      case "[":
        if (this.#isIndexNext()) this.#indexed();
        else if (this.#isNext("*")) this.#eachOf();
        else throw this.#unexpected("a number, : or *");
        return;
      case "[]":
        this.#projected(powers["[]"]);
        return;
      case "[?":
        this.#filter();
        return;
      case "(":
        this.#call(left, token);
        return;
      default:
        throw this.#unexpected("an operator or the end", token);
    }
  }

  /** What follows a dot. */
  #selected(power = 0): void {
    const { kind } = this.#next;
    if (kind === "name" || kind === "quoted" || this.#isNext("*")) this.#expression(power);
    else if (this.#takeIf("[")) this.#list();
    else if (this.#takeIf("{")) this.#object();
    else throw this.#unexpected("a name, *, [ or {");
  }

  /** What is done to each element, if anything. */
  #projected(power = 0): void {
    if (this.#power() < endsProjection) return;
    if (this.#isNext("[") || this.#isNext("[?")) this.#expression(power);
    else if (this.#takeIf(".")) this.#selected(power);
    else throw this.#unexpected("., [ or an operator");
  }

  #filter(): void {
    this.#expression(0);
    this.#expect("]");
    if (!this.#isNext("[]")) this.#projected(powers["[?"]);
  }

  /** `[*]`, after its bracket. */
  #eachOf(): void {
    this.#expect("*");
    this.#expect("]");
    this.#projected(powers["*"]);
  }

  #isIndexNext(): boolean {
    return this.#next.kind === "number" || this.#isNext(":");
  }

  /** `[0]` or `[0:1]`, after its bracket. */
  #indexed(): void {
    const isSlice = this.#isNext(":") || this.#isNext(":", 1);
    if (!isSlice) {
      this.#integer();
      this.#expect("]");
      return;
    }
    for (let colons = 0; colons < 3 && !this.#isNext("]"); ) {
      if (this.#takeIf(":")) colons += 1;
      else this.#integer();
    }
    this.#expect("]");
    this.#projected(powers["*"]);
  }

  #integer(): void {
    const { kind, text, offset } = this.#next;
    if (kind !== "number") throw this.#unexpected("a number, : or ]");
    if (text === "-") throw new JmespathError(offset, "expected a number, found -");
    const value = BigInt(text);
    if (value > largest || value < -largest - 1n) throw new JmespathError(offset, `${text} is too large`);
    this.#take();
  }

  /** `[a, b]`, after its bracket. */
  #list(): void {
    for (;;) {
      this.#expression(0);
      if (this.#takeIf("]")) return;
      if (!this.#takeIf(",")) throw this.#unexpected(", or ]");
    }
  }

  /** `{a: b}`, after its brace. */
  #object(): void {
    for (;;) {
      const { kind } = this.#next;
      if (kind !== "name" && kind !== "quoted") throw this.#unexpected("the name of a member");
      this.#take();
      this.#expect(":");
      this.#expression(0);
      if (!this.#takeIf(",") && this.#takeIf("}")) return;
    }
  }

  /** The arguments of a function, after its parenthesis. */
  #call(called: Operand, { offset }: Token): void {
    if (!called) throw new JmespathError(offset, "what is before ( is not the name of a function");
    let given = 0;
    while (!this.#takeIf(")")) {
      this.#expression(0);
      this.#takeIf(",");
      given += 1;
    }
    const fault = callFault(called.text, given);
    if (fault !== undefined) throw new JmespathError(called.offset, fault);
  }
}
