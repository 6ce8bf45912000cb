import { type Issue, ParseFailure } from "./source.ts";
import { type Constant, type Entry, type Expr, qualifiedName, type Walk } from "./syntax.ts";
import { type Token, tokenise } from "./tokens.ts";

const RESERVED = new Set(
  "as break const continue else for function if import let loop package namespace return var void while".split(
    " ",
  ),
);
const EXPRESSION_START =
  "{'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}";
const MAX_DEPTH = 250;
const RELATIONS = new Set(["<", "<=", ">=", ">", "==", "!=", "in"]);

/**
 * Parses CEL.
 *
 * @throws ParseFailure
 */
export function parse(text: string): Expr {
  const parser = new Parser(text);
  return parser.all();
}

class Parser {
  private readonly tokens: readonly Token[];
  /** What the text has that is no CEL at all; it is passed over. */
  private readonly stray: readonly Issue[];
  /** Messages that the expression makes. No type of message is known to any environment. */
  private readonly messages: Issue[] = [];
  private next = 0;
  private depth = 0;

  constructor(text: string) {
    const { tokens, issues } = tokenise(text);
    this.tokens = tokens;
    this.stray = issues;
  }

  all(): Expr {
    const expr = this.expression();
    const token = this.peek();
    if (token.kind !== "end") {
      throw this.fault(token, `Syntax error: extraneous input '${token.text}' expecting <EOF>`);
    }
    if (this.stray.length > 0) throw new ParseFailure(this.stray);
    if (this.messages.length > 0) throw new ParseFailure(this.messages);
    return expr;
  }

  private peek(): Token {
    return this.tokens[this.next] as Token;
  }

  private take(): Token {
    const token = this.peek();
    if (token.kind !== "end") this.next++;
    return token;
  }

  private is(text: string): boolean {
    const token = this.peek();
    return token.kind === "symbol" && token.text === text;
  }

  private accept(text: string): Token | undefined {
    return this.is(text) ? this.take() : undefined;
  }

  private expect(text: string): Token {
    const token = this.accept(text);
    if (token !== undefined) return token;
    const found = this.peek();
    const shown = found.kind === "end" ? "<EOF>" : found.text;
    const message =
      found.kind === "end"
        ? `missing '${text}' at '<EOF>'`
        : `mismatched input '${shown}' expecting '${text}'`;
    throw this.fault(found, `Syntax error: ${message}`);
  }

  private fault(token: Token, message: string): ParseFailure {
    return new ParseFailure([...this.stray, { at: token.at, message }]);
  }

  private expression(): Expr {
    if (++this.depth > MAX_DEPTH) {
      throw this.fault(this.peek(), `expression recursion limit exceeded: ${MAX_DEPTH}`);
    }
    const condition = this.or();
    const mark = this.accept("?");
    if (mark === undefined) {
      this.depth--;
      return condition;
    }
    const yes = this.or();
    this.expect(":");
    const no = this.expression();
    this.depth--;
    return call("_?_:_", mark.at, [condition, yes, no]);
  }

  private or(): Expr {
    let left = this.and();
    for (let op = this.accept("||"); op !== undefined; op = this.accept("||")) {
      left = call("_||_", op.at, [left, this.and()]);
    }
    return left;
  }

  private and(): Expr {
    let left = this.relation();
    for (let op = this.accept("&&"); op !== undefined; op = this.accept("&&")) {
      left = call("_&&_", op.at, [left, this.relation()]);
    }
    return left;
  }

  private relation(): Expr {
    let left = this.addition();
    for (;;) {
      const token = this.peek();
      if (token.kind !== "symbol" || !RELATIONS.has(token.text)) return left;
      this.take();
      left = call(token.text === "in" ? "@in" : `_${token.text}_`, token.at, [left, this.addition()]);
    }
  }

  private addition(): Expr {
    let left = this.multiplication();
    for (;;) {
      const op = this.accept("+") ?? this.accept("-");
      if (op === undefined) return left;
      left = call(`_${op.text}_`, op.at, [left, this.multiplication()]);
    }
  }

  private multiplication(): Expr {
    let left = this.unary();
    for (;;) {
      const op = this.accept("*") ?? this.accept("/") ?? this.accept("%");
      if (op === undefined) return left;
      left = call(`_${op.text}_`, op.at, [left, this.unary()]);
    }
  }

  private unary(): Expr {
    const first = this.peek();
    if (!this.is("!") && !this.is("-")) return this.member();
    let count = 0;
    while (this.accept(first.text) !== undefined) count++;
    const token = this.peek();
    // A minus before a number belongs to it: the least integer has no positive counterpart.
    const isNumber = token.kind === "int" || token.kind === "double";
    if (first.text === "-" && count % 2 === 1 && isNumber) {
      this.take();
      return this.members(constant(token, first.at, "-"));
    }
    const operand = this.member();
    return count % 2 === 0 ? operand : call(first.text === "!" ? "!_" : "-_", first.at, [operand]);
  }

  private member(): Expr {
    return this.members(this.primary());
  }

  private members(primary: Expr): Expr {
    let expr = primary;
    for (;;) {
      const dot = this.accept(".");
      if (dot !== undefined) {
        const optional = this.accept("?") !== undefined;
        const name = this.take();
        if (name.kind !== "ident") {
          throw this.fault(name, `Syntax error: no viable alternative at input '.${name.text}'`);
        }
        const open = optional ? undefined : this.accept("(");
        if (open === undefined) {
          expr = { op: "select", at: dot.at, operand: expr, field: name.text, test: false, optional };
        } else {
          expr = this.memberCall(expr, name, open);
        }
        continue;
      }
      const bracket = this.accept("[");
      if (bracket === undefined) return this.is("{") ? this.message(expr) : expr;
      const optional = this.accept("?") !== undefined;
      const index = this.expression();
      this.expect("]");
      expr = call(optional ? "_[?_]" : "_[_]", bracket.at, [expr, index]);
    }
  }

  /** `Name{field: value}`. */
  private message(type: Expr): Expr {
    const name = qualifiedName(type);
    if (name === undefined) return type;
    const open = this.expect("{");
    while (!this.is("}")) {
      this.accept("?");
      const field = this.take();
      if (field.kind !== "ident") {
        throw this.fault(field, `Syntax error: mismatched input '${field.text}' expecting '}'`);
      }
      this.expect(":");
      this.expression();
      if (this.accept(",") === undefined) break;
    }
    this.expect("}");
    this.messages.push({ at: open.at, message: `undeclared reference to '${name}' (in container '')` });
    return type;
  }

  private args(): Expr[] {
    const args: Expr[] = [];
    if (this.accept(")") !== undefined) return args;
    do args.push(this.expression());
    while (this.accept(",") !== undefined);
    this.expect(")");
    return args;
  }

  private memberCall(target: Expr, name: Token, open: Token): Expr {
    const args = this.args();
    const macro = this.memberMacro(target, name.text, args, open.at);
    return macro ?? { op: "call", at: open.at, name: name.text, target, args };
  }

  private memberMacro(target: Expr, name: string, args: readonly Expr[], at: number): Expr | undefined {
    const walk = (kind: Walk, count: 1 | 2, filter: Expr | undefined, body: Expr | undefined): Expr => ({
      op: "walk",
      at,
      walk: kind,
      range: target,
      variables: args.slice(0, count).map((arg) => this.variable(arg)),
      filter,
      body,
    });
    const [a, b, c, d] = args;
    switch (name) {
      case "all":
      case "exists":
      case "exists_one":
      case "existsOne": {
        const kind = name === "existsOne" ? "exists_one" : name;
        if (args.length === 2) return walk(kind, 1, undefined, b);
        if (args.length === 3) return walk(kind, 2, undefined, c);
        return undefined;
      }
      case "map":
        if (args.length === 2) return walk("map", 1, undefined, b);
        return args.length === 3 ? walk("map", 1, b, c) : undefined;
      case "sortBy":
        return args.length === 2 ? walk("sortBy", 1, undefined, b) : undefined;
      case "filter":
        return args.length === 2 ? walk("filter", 1, b, undefined) : undefined;
      case "transformList":
      case "transformMap":
      case "transformMapEntry":
        if (args.length === 3) return walk(name, 2, undefined, c);
        return args.length === 4 ? walk(name, 2, c, d) : undefined;
      case "optMap":
      case "optFlatMap":
        if (args.length !== 2 || a === undefined || b === undefined) return undefined;
        return { op: "optMap", at, flat: name === "optFlatMap", target, variable: this.variable(a), body: b };
      default:
        return undefined;
    }
  }

  private variable(arg: Expr): string {
    if (arg.op === "ident") return arg.name;
    throw new ParseFailure([{ at: arg.at, message: "argument is not an identifier" }]);
  }

  private primary(): Expr {
    const token = this.take();
    switch (token.kind) {
      case "int":
      case "uint":
      case "double":
      case "string":
      case "bytes":
        return constant(token, token.at, "");
      case "ident":
        return this.identifier(token);
      case "symbol":
        break;
      default: {
        const message = `Syntax error: mismatched input '<EOF>' expecting ${EXPRESSION_START}`;
        throw this.fault(token, message);
      }
    }
    if (token.text === "(") {
      const inner = this.expression();
      this.expect(")");
      return inner;
    }
    if (token.text === "[") return this.list(token);
    if (token.text === "{") return this.map(token);
    if (token.text === "." && this.peek().kind === "ident") return this.identifier(this.take());
    throw this.fault(token, `Syntax error: extraneous input '${token.text}' expecting ${EXPRESSION_START}`);
  }

  private identifier(token: Token): Expr {
    const { text, at } = token;
    if (text === "true" || text === "false") {
      return { op: "const", at, constant: { type: "bool", value: text === "true" } };
    }
    if (text === "null") return { op: "const", at, constant: { type: "null", value: null } };
    if (RESERVED.has(text)) throw this.fault(token, `reserved identifier: ${text}`);
    const open = this.accept("(");
    if (open === undefined) return { op: "ident", at, name: text };
    const args = this.args();
    if (text === "has") {
      const [arg] = args;
      if (args.length !== 1 || arg === undefined || arg.op !== "select" || arg.optional) {
        throw new ParseFailure([{ at: arg?.at ?? open.at, message: "invalid argument to has() macro" }]);
      }
      return { ...arg, test: true };
    }
    return call(text, open.at, args);
  }

  private list(open: Token): Expr {
    const items: Entry[] = [];
    while (!this.is("]")) {
      const optional = this.accept("?") !== undefined;
      items.push({ optional, value: this.expression() });
      if (this.accept(",") === undefined) break;
    }
    this.expect("]");
    return { op: "list", at: open.at, items };
  }

  private map(open: Token): Expr {
    const entries: (Entry & { key: Expr })[] = [];
    while (!this.is("}")) {
      const optional = this.accept("?") !== undefined;
      const key = this.expression();
      this.expect(":");
      entries.push({ optional, key, value: this.expression() });
      if (this.accept(",") === undefined) break;
    }
    this.expect("}");
    return { op: "map", at: open.at, entries };
  }
}

function call(name: string, at: number, args: readonly Expr[]): Expr {
  return { op: "call", at, name, target: undefined, args };
}

const INT_MAX = 2n ** 63n - 1n;

function constant(token: Token, at: number, sign: "" | "-"): Expr {
  const value = (of: Constant): Expr => ({ op: "const", at, constant: of });
  switch (token.kind) {
    case "int": {
      const magnitude = BigInt(token.text);
      const number = sign === "-" ? -magnitude : magnitude;
      if (number > INT_MAX || number < -INT_MAX - 1n) {
        throw new ParseFailure([{ at, message: "invalid int literal" }]);
      }
      return value({ type: "int", value: number });
    }
    case "uint": {
      const number = BigInt(token.text);
      if (number >= 2n ** 64n) throw new ParseFailure([{ at, message: "invalid uint literal" }]);
      return value({ type: "uint", value: number });
    }
    case "double":
      return value({ type: "double", value: Number(`${sign}${token.text}`) });
    case "bytes":
      return value({ type: "bytes", value: token.bytes ?? new Uint8Array() });
    default:
      return value({ type: "string", value: token.value ?? "" });
  }
}
