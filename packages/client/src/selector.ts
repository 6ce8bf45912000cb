import { SelectorError } from "./errors.ts";

/** One condition on an object's labels. An object matches a selector if it meets all of them. */
export interface Requirement {
  readonly key: string;
  /** `Gt` and `Lt` compare integers, and exist in the text form alone. */
  readonly operator: "In" | "NotIn" | "Exists" | "DoesNotExist" | "Gt" | "Lt";
  /** Empty for `Exists` and `DoesNotExist`, one for `Gt` and `Lt`. */
  readonly values: readonly string[];
}

/** A selector as workloads, policies and webhook configurations carry it. */
export interface LabelSelector {
  readonly matchLabels?: Readonly<Record<string, string>>;
  readonly matchExpressions?: readonly {
    readonly key: string;
    readonly operator: string;
    readonly values?: readonly string[];
  }[];
}

type Labels = Readonly<Record<string, string>>;

/**
 * Reads the text form of a label selector by the API server's grammar: `a=b`, `a==b`, `a!=b`,
 * `a in (b,c)`, `a notin (b,c)`, `a`, `!a`, `a>1`, `a<1`, joined by commas. The empty text selects
 * everything.
 *
 * @throws SelectorError, for what the server would answer with 400.
 */
export function parseSelector(text: string): readonly Requirement[] {
  return new Parser(text).parse();
}

/** The requirements of a selector in its object form. The empty one selects everything. */
export function requirementsOf(selector: LabelSelector): readonly Requirement[] {
  const equal = Object.entries(selector.matchLabels ?? {}).map(([key, value]) => checked(key, "In", [value]));
  const expressions = (selector.matchExpressions ?? []).map(({ key, operator, values = [] }) => {
    if (operator === "In" || operator === "NotIn" || operator === "Exists" || operator === "DoesNotExist")
      return checked(key, operator, values);
    throw new SelectorError(
      `label selector: operator ${JSON.stringify(operator)} must be one of In, NotIn, Exists, DoesNotExist`,
    );
  });
  return [...equal, ...expressions];
}

/** Whether labels meet all requirements. */
export function matchesSelector(requirements: readonly Requirement[], labels: Labels | undefined): boolean {
  return requirements.every((requirement) => meets(requirement, labels ?? {}));
}

function meets({ key, operator, values }: Requirement, labels: Labels): boolean {
  const value = Object.hasOwn(labels, key) ? labels[key] : undefined;
  switch (operator) {
    case "In":
      return value !== undefined && values.includes(value);
    case "NotIn":
      return value === undefined || !values.includes(value);
    case "Exists":
      return value !== undefined;
    case "DoesNotExist":
      return value === undefined;
    case "Gt":
    case "Lt": {
      const [bound = ""] = values;
      if (value === undefined || !isInteger(value)) return false;
      return operator === "Gt" ? BigInt(value) > BigInt(bound) : BigInt(value) < BigInt(bound);
    }
  }
}

/** The text form, as lists and watches take it. Reads back as the same requirements. */
export function formatSelector(selector: LabelSelector | readonly Requirement[]): string {
  const requirements = isRequirements(selector) ? selector : requirementsOf(selector);
  return requirements.map(formatRequirement).join(",");
}

function isRequirements(
  selector: LabelSelector | readonly Requirement[],
): selector is readonly Requirement[] {
  return Array.isArray(selector);
}

function formatRequirement({ key, operator, values }: Requirement): string {
  switch (operator) {
    case "In":
      return values.length === 1 ? `${key}=${values[0]}` : `${key} in (${values.join(",")})`;
    case "NotIn":
      return values.length === 1 ? `${key}!=${values[0]}` : `${key} notin (${values.join(",")})`;
    case "Exists":
      return key;
    case "DoesNotExist":
      return `!${key}`;
    case "Gt":
      return `${key}>${values[0]}`;
    case "Lt":
      return `${key}<${values[0]}`;
  }
}

const NAME = /^[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$/;
const SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

function checked(key: string, operator: Requirement["operator"], values: readonly string[]): Requirement {
  if (!isLabelKey(key)) throw new SelectorError(`label selector: ${JSON.stringify(key)} is not a label key`);
  const bad = values.find((value) => !isLabelValue(value));
  if (bad !== undefined)
    throw new SelectorError(`label selector: ${JSON.stringify(bad)} is not a label value (of ${key})`);
  if ((operator === "In" || operator === "NotIn") && values.length === 0)
    throw new SelectorError(`label selector: ${key} needs at least one value`);
  if ((operator === "Exists" || operator === "DoesNotExist") && values.length > 0)
    throw new SelectorError(`label selector: ${key} takes no values with ${operator}`);
  if ((operator === "Gt" || operator === "Lt") && !isInteger(values[0] ?? ""))
    throw new SelectorError(`label selector: ${key} can only be compared with an integer`);
  return { key, operator, values };
}

function isLabelKey(key: string): boolean {
  const slash = key.indexOf("/");
  const name = key.slice(slash + 1);
  if (slash >= 0) {
    const prefix = key.slice(0, slash);
    if (prefix.length > 253 || !SUBDOMAIN.test(prefix)) return false;
  }
  return name.length <= 63 && NAME.test(name);
}

function isLabelValue(value: string): boolean {
  return value === "" || (value.length <= 63 && NAME.test(value));
}

/** A 64-bit integer, as the server reads labels for `Gt` and `Lt`. */
function isInteger(text: string): boolean {
  if (!/^[+-]?\d{1,63}$/.test(text)) return false;
  return BigInt.asIntN(64, BigInt(text.replace(/^\+/, ""))) === BigInt(text.replace(/^\+/, ""));
}

const SYMBOLS = ["==", "!=", "=", "!", "(", ")", ",", ">", "<"] as const;
type Symbols = (typeof SYMBOLS)[number];
type Token = { readonly is: "word"; readonly text: string } | { readonly is: Symbols | "end" };

function tokenize(text: string): Token[] {
  const tokens: Token[] = [];
  let at = 0;
  while (at < text.length) {
    if (/[ \t\r\n]/.test(text[at] ?? "")) {
      at++;
      continue;
    }
    const symbol = SYMBOLS.find((it) => text.startsWith(it, at));
    if (symbol) {
      tokens.push({ is: symbol });
      at += symbol.length;
      continue;
    }
    const [word = ""] = /[^=!(),<> \t\r\n]+/.exec(text.slice(at)) ?? [];
    tokens.push({ is: "word", text: word });
    at += word.length;
  }
  tokens.push({ is: "end" });
  return tokens;
}

class Parser {
  readonly #text: string;
  readonly #tokens: readonly Token[];
  #at = 0;

  constructor(text: string) {
    this.#text = text;
    this.#tokens = tokenize(text);
  }

  parse(): readonly Requirement[] {
    const found: Requirement[] = [];
    if (this.#peek().is === "end") return found;
    for (;;) {
      found.push(this.#requirement());
      const next = this.#take();
      if (next.is === "end") return found;
      if (next.is !== ",") this.#fail(next, "a comma or the end");
    }
  }

  #requirement(): Requirement {
    if (this.#peek().is === "!") {
      this.#take();
      return checked(this.#word("a label key"), "DoesNotExist", []);
    }
    const key = this.#word("a label key");
    if (this.#peek().is === "," || this.#peek().is === "end") return checked(key, "Exists", []);
    const operator = this.#take();
    switch (operator.is) {
      case "=":
      case "==":
        return checked(key, "In", [this.#value()]);
      case "!=":
        return checked(key, "NotIn", [this.#value()]);
      case ">":
        return checked(key, "Gt", [this.#value()]);
      case "<":
        return checked(key, "Lt", [this.#value()]);
      case "word":
        if (operator.text === "in") return checked(key, "In", this.#set());
        if (operator.text === "notin") return checked(key, "NotIn", this.#set());
    }
    return this.#fail(operator, "=, ==, !=, in, notin, > or <");
  }

  /** May be empty: `a=` selects the empty value. */
  #value(): string {
    if (this.#peek().is === "," || this.#peek().is === "end") return "";
    return this.#word("a label value");
  }

  #set(): string[] {
    const open = this.#take();
    if (open.is !== "(") this.#fail(open, "(");
    const values = new Set<string>();
    for (;;) {
      values.add(this.#peek().is === "," || this.#peek().is === ")" ? "" : this.#word("a label value"));
      const next = this.#take();
      if (next.is === ")") return [...values];
      if (next.is !== ",") this.#fail(next, "a comma or )");
    }
  }

  #word(what: string): string {
    const token = this.#take();
    return token.is === "word" ? token.text : this.#fail(token, what);
  }

  #peek(): Token {
    return this.#tokens[this.#at] ?? { is: "end" };
  }

  #take(): Token {
    const token = this.#peek();
    this.#at++;
    return token;
  }

  #fail(found: Token, expected: string): never {
    const what = found.is === "end" ? "the end" : JSON.stringify(found.is === "word" ? found.text : found.is);
    const text = this.#text.length > 200 ? `${this.#text.slice(0, 200)}…` : this.#text;
    throw new SelectorError(`label selector ${JSON.stringify(text)}: expected ${expected}, found ${what}`);
  }
}
