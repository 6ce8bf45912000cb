/** A label selector that is malformed. */
export class SelectorError extends Error {
  override readonly name = "SelectorError";
  readonly code = "SELECTOR_INVALID";

  /** The text that the API server answers with. */
  readonly reason: string;

  constructor(message: string, reason: string = message) {
    super(message);
    this.reason = reason;
  }
}

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
  readonly matchLabels?: Readonly<Record<string, string>> | null | undefined;
  readonly matchExpressions?:
    | readonly {
        readonly key: string;
        readonly operator: string;
        readonly values?: readonly string[] | null | undefined;
      }[]
    | null
    | undefined;
}

type Labels = Readonly<Record<string, unknown>>;

/**
 * Reads the text form of a label selector by the API server's grammar: `a=b`, `a==b`, `a!=b`,
 * `a in (b,c)`, `a notin (b,c)`, `a`, `!a`, `a>1`, `a<1`, joined by commas. The empty text selects
 * everything.
 *
 * @throws SelectorError, for what the server would answer with 400.
 */
export function parseSelector(text: string): readonly Requirement[] {
  try {
    return new Parser(text).parse();
  } catch (error) {
    if (!(error instanceof Malformed)) throw error;
    const shown = text.length > 200 ? `${text.slice(0, 200)}…` : text;
    throw new SelectorError(`label selector ${JSON.stringify(shown)}: ${error.message}`, error.message);
  }
}

/** The requirements of a selector in its object form. The empty one selects everything. */
export function requirementsOf(selector: LabelSelector): readonly Requirement[] {
  const equal = Object.entries(selector.matchLabels ?? {}).map(([key, value]) =>
    fromObject(key, "In", [value]),
  );
  const expressions = (selector.matchExpressions ?? []).map(({ key, operator, values: given }) => {
    const values = given ?? [];
    if (operator === "In" || operator === "NotIn" || operator === "Exists" || operator === "DoesNotExist")
      return fromObject(key, operator, values);
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
      return typeof value === "string" && values.includes(value);
    case "NotIn":
      return typeof value !== "string" || !values.includes(value);
    case "Exists":
      return value !== undefined;
    case "DoesNotExist":
      return value === undefined;
    case "Gt":
    case "Lt": {
      const [bound = ""] = values;
      if (typeof value !== "string" || !isInteger(value)) return false;
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

/** Why a text is not a selector, in the API server's words. */
class Malformed extends Error {}

const namePart = /^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/;
const subdomain = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const valueForm = /^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$/;

function fromObject(key: string, operator: Requirement["operator"], values: readonly string[]): Requirement {
  try {
    return checked(key, operator, values);
  } catch (error) {
    throw error instanceof Malformed
      ? new SelectorError(`label selector: ${error.message}`, error.message)
      : error;
  }
}

function checked(key: string, operator: Requirement["operator"], values: readonly string[]): Requirement {
  checkKey(key);
  if ((operator === "In" || operator === "NotIn") && values.length === 0)
    throw unparsable("values: Invalid value: []: for 'in', 'notin' operators, values set can't be empty");
  if ((operator === "Exists" || operator === "DoesNotExist") && values.length > 0)
    throw unparsable("values: Invalid value: values set must be empty for exists and does not exist");
  if ((operator === "Gt" || operator === "Lt") && !isInteger(values[0] ?? ""))
    throw unparsable(
      `values[0]: Invalid value: ${quote(values[0] ?? "")}: for 'Gt', 'Lt' operators, the value must be an integer`,
    );
  for (const [index, value] of values.entries()) checkValue(key, value, index);
  return { key, operator, values };
}

/** A 64-bit integer, as the server reads labels for `Gt` and `Lt`. */
function isInteger(text: string): boolean {
  if (!/^[+-]?\d{1,63}$/.test(text)) return false;
  return BigInt.asIntN(64, BigInt(text.replace(/^\+/, ""))) === BigInt(text.replace(/^\+/, ""));
}

const symbols = ["!=", "==", "=", "!", "(", ")", ",", ">", "<"] as const;
const boundary = new Set(["=", "!", "(", ")", ",", ">", "<", " ", "\t", "\n", "\r"]);

class Parser {
  readonly #tokens: readonly string[];
  #at = 0;

  constructor(text: string) {
    this.#tokens = tokenize(text);
  }

  parse(): Requirement[] {
    const requirements: Requirement[] = [];
    if (this.#peek() === "") return requirements;
    for (;;) {
      const token = this.#peek();
      if (token !== "!" && !isIdentifier(token)) {
        throw new Malformed(`found '${token}', expected: !, identifier, or 'end of string'`);
      }
      requirements.push(this.#requirement());
      const after = this.#next();
      if (after === "") return requirements;
      if (after !== ",") throw new Malformed(`found '${after}', expected: ',' or 'end of string'`);
      const following = this.#peek();
      if (following !== "!" && !isIdentifier(following)) {
        throw new Malformed(`found '${following}', expected: identifier after ','`);
      }
    }
  }

  #requirement(): Requirement {
    if (this.#peek() === "!") {
      this.#next();
      return checked(this.#key(), "DoesNotExist", []);
    }
    const key = this.#key();
    const token = this.#peek();
    if (token === "" || token === ",") return checked(key, "Exists", []);
    const operator = this.#operator();
    const values = operator === "In" || operator === "NotIn" ? this.#set(token) : [this.#exactValue()];
    return checked(key, operator, values);
  }

  #key(): string {
    const token = this.#next();
    if (!isIdentifier(token)) throw unparsable(`found '${token}', expected: identifier`);
    checkKey(token);
    return token;
  }

  #operator(): "In" | "NotIn" | "Gt" | "Lt" {
    const token = this.#next();
    switch (token) {
      case "=":
      case "==":
      case "in":
        return "In";
      case "!=":
      case "notin":
        return "NotIn";
      case ">":
        return "Gt";
      case "<":
        return "Lt";
      default:
        throw unparsable(`found '${token}', expected: in, notin, =, ==, !=, gt, lt`);
    }
  }

  #exactValue(): string {
    const token = this.#peek();
    if (token === "" || token === ",") return "";
    this.#next();
    if (!isIdentifier(token)) throw unparsable(`found '${token}', expected: identifier`);
    return token;
  }

  /** The values after an operator: one, or those in parentheses after `in` and `notin`. */
  #set(operator: string): string[] {
    if (operator !== "in" && operator !== "notin") return [this.#exactValue()];
    const open = this.#next();
    if (open !== "(") throw unparsable(`found '${open}' expected: '('`);
    const values = new Set<string>();
    if (this.#peek() === ")") {
      this.#next();
      return [""];
    }
    for (;;) {
      const token = this.#next();
      if (token === ",") {
        if (values.size === 0) values.add("");
        if (this.#peek() === "," || this.#peek() === ")") values.add("");
      } else if (token === ")") {
        return [...values];
      } else if (isIdentifier(token)) {
        values.add(token);
        const after = this.#peek();
        if (after !== "," && after !== ")") throw unparsable(`found '${after}', expected: ',' or ')'`);
      } else {
        throw unparsable(`found '${token}', expected: ',', ')' or identifier`);
      }
    }
  }

  #peek(): string {
    return this.#tokens[this.#at] ?? "";
  }

  #next(): string {
    return this.#tokens[this.#at++] ?? "";
  }
}

function tokenize(text: string): string[] {
  const tokens: string[] = [];
  let at = 0;
  while (at < text.length) {
    if (/[ \t\r\n]/.test(text[at] as string)) {
      at++;
      continue;
    }
    const symbol = symbols.find((candidate) => text.startsWith(candidate, at));
    if (symbol) {
      tokens.push(symbol);
      at += symbol.length;
      continue;
    }
    let end = at;
    while (end < text.length && !boundary.has(text[end] as string)) end++;
    tokens.push(text.slice(at, end));
    at = end;
  }
  return tokens;
}

function isIdentifier(token: string): boolean {
  return token !== "" && !boundary.has(token[0] as string);
}

function unparsable(why: string) {
  return new Malformed(`unable to parse requirement: ${why}`);
}

function quote(text: string): string {
  return JSON.stringify(text);
}

function checkKey(key: string): void {
  const slash = key.indexOf("/");
  if (key.includes("/", slash + 1) && slash >= 0) {
    throw unparsable(
      `<nil>: Invalid value: ${quote(key)}: a valid label key must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]') with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`,
    );
  }
  const prefix = slash < 0 ? undefined : key.slice(0, slash);
  const name = slash < 0 ? key : key.slice(slash + 1);
  if (prefix !== undefined && (prefix === "" || prefix.length > 253 || !subdomain.test(prefix))) {
    const why =
      prefix === ""
        ? "prefix part must be non-empty"
        : "prefix part a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
    throw unparsable(`<nil>: Invalid value: ${quote(key)}: ${why}`);
  }
  if (name.length > 63 || !namePart.test(name)) {
    const why =
      name === ""
        ? "name part must be non-empty"
        : name.length > 63
          ? "name part must be no more than 63 bytes"
          : "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
    throw unparsable(`<nil>: Invalid value: ${quote(key)}: ${why}`);
  }
}

function checkValue(key: string, value: string, index: number): void {
  const at = `values[${index}][${key}]: Invalid value: ${quote(value)}`;
  if (value.length > 63) throw unparsable(`${at}: must be no more than 63 bytes`);
  if (!valueForm.test(value)) {
    throw unparsable(
      `${at}: a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')`,
    );
  }
}
