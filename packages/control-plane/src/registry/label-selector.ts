import type { LabelSelector } from "@windlass/kinds/builtin";
import { type Json, textOf } from "../json.ts";
import { badRequest } from "../status.ts";

/** Whether an object's labels match. */
export type LabelMatcher = (labels: { readonly [key: string]: Json } | undefined) => boolean;

type Operator = "exists" | "!" | "=" | "!=" | "in" | "notin" | ">" | "<";

interface Requirement {
  readonly key: string;
  readonly operator: Operator;
  readonly values: readonly string[];
}

const namePart = /^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/;
const subdomain = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const valueForm = /^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$/;

/**
 * Parses a `labelSelector` query parameter. Empty matches everything.
 *
 * @throws StatusError 400, in the words of the real server.
 */
export function parseLabelSelector(text: string): LabelMatcher {
  const requirements = new Parser(text).parse();
  return (labels) => requirements.every((requirement) => meets(requirement, labels));
}

/**
 * A `metav1.LabelSelector`, as workloads, policies and webhooks carry it. Absent matches nothing,
 * empty everything.
 */
export function selectorMatcher(selector: Json | LabelSelector | undefined): LabelMatcher {
  if (!isSelector(selector)) return () => false;
  const requirements: Requirement[] = [];
  for (const [key, value] of Object.entries(selector.matchLabels ?? {})) {
    requirements.push({ key, operator: "=", values: [value] });
  }
  for (const { key, operator, values = [] } of selector.matchExpressions ?? []) {
    const known = { In: "in", NotIn: "notin", Exists: "exists", DoesNotExist: "!" } as const;
    if (!Object.hasOwn(known, operator)) return () => false;
    requirements.push({ key, operator: known[operator as keyof typeof known], values });
  }
  return (labels) => requirements.every((requirement) => meets(requirement, labels));
}

/** Selectors are validated when they are written, so that an object is one. */
function isSelector(selector: Json | LabelSelector | undefined): selector is LabelSelector {
  return typeof selector === "object" && selector !== null && !Array.isArray(selector);
}

/** The selector in the string form that `scale` carries: `app=web,tier in (a,b)`. */
export function selectorString(selector: Json | LabelSelector | undefined): string {
  if (!isSelector(selector)) return "";
  const parts = Object.entries(selector.matchLabels ?? {}).map(([key, value]): [string, string] => [
    key,
    `${key}=${value}`,
  ]);
  for (const { key, operator, values = [] } of selector.matchExpressions ?? []) {
    const list = `(${[...values].sort().join(",")})`;
    const text = {
      In: `${key} in ${list}`,
      NotIn: `${key} notin ${list}`,
      Exists: key,
      DoesNotExist: `!${key}`,
    };
    parts.push([key, text[operator as keyof typeof text] ?? key]);
  }
  return parts
    .sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
    .map(([, text]) => text)
    .join(",");
}

function meets(
  { key, operator, values }: Requirement,
  labels: { readonly [key: string]: Json } | undefined,
): boolean {
  const present = labels !== undefined && labels !== null && Object.hasOwn(labels, key);
  const value = present ? textOf(labels[key]) : "";
  switch (operator) {
    case "exists":
      return present;
    case "!":
      return !present;
    case "=":
    case "in":
      return present && values.includes(value);
    case "!=":
    case "notin":
      return !present || !values.includes(value);
    case ">":
      return present && /^-?\d+$/.test(value) && Number(value) > Number(values[0]);
    case "<":
      return present && /^-?\d+$/.test(value) && Number(value) < Number(values[0]);
  }
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
        throw badRequest(`found '${token}', expected: !, identifier, or 'end of string'`);
      }
      requirements.push(this.#requirement());
      const after = this.#next();
      if (after === "") return requirements;
      if (after !== ",") throw badRequest(`found '${after}', expected: ',' or 'end of string'`);
      const following = this.#peek();
      if (following !== "!" && !isIdentifier(following)) {
        throw badRequest(`found '${following}', expected: identifier after ','`);
      }
    }
  }

  #requirement(): Requirement {
    if (this.#peek() === "!") {
      this.#next();
      return { key: this.#key(), operator: "!", values: [] };
    }
    const key = this.#key();
    const token = this.#peek();
    if (token === "" || token === ",") return { key, operator: "exists", values: [] };
    const operator = this.#operator();
    if (operator === "in" || operator === "notin") return { key, operator, values: this.#values(key) };
    const value = this.#exactValue();
    if (operator === ">" || operator === "<") {
      if (!/^[+-]?\d+$/.test(value)) {
        throw unparsable(
          `values[0]: Invalid value: ${quote(value)}: for 'Gt', 'Lt' operators, the value must be an integer`,
        );
      }
    } else {
      checkValue(key, value, 0);
    }
    return { key, operator, values: [value] };
  }

  #key(): string {
    const token = this.#next();
    if (!isIdentifier(token)) throw unparsable(`found '${token}', expected: identifier`);
    checkKey(token);
    return token;
  }

  #operator(): Exclude<Operator, "exists" | "!"> {
    const token = this.#next();
    switch (token) {
      case "=":
      case "==":
        return "=";
      case "!=":
      case "in":
      case "notin":
      case ">":
      case "<":
        return token;
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

  #values(key: string): string[] {
    const open = this.#next();
    if (open !== "(") throw unparsable(`found '${open}' expected: '('`);
    const values: string[] = [];
    if (this.#peek() === ")") {
      this.#next();
      return [""];
    }
    for (;;) {
      const token = this.#next();
      if (token === ",") {
        if (values.length === 0) values.push("");
        if (this.#peek() === "," || this.#peek() === ")") values.push("");
      } else if (token === ")") {
        values.forEach((value, index) => {
          checkValue(key, value, index);
        });
        return values;
      } else if (isIdentifier(token)) {
        values.push(token);
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
    if (/\s/.test(text[at] as string)) {
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
  return badRequest(`unable to parse requirement: ${why}`);
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
