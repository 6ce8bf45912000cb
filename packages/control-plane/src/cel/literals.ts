import { append } from "../append.ts";
import { type Matcher, PatternError } from "../patterns/index.ts";
import type { Checked } from "./check.ts";
import { parseDuration, parseTimestamp } from "./library/times.ts";
import type { Issue } from "./source.ts";
import type { Expr } from "./syntax.ts";
import { typeName } from "./types.ts";
import { CelError, Uint, type Value } from "./values.ts";

const CONVERSIONS = new Set(["bool", "bytes", "double", "duration", "int", "string", "timestamp", "uint"]);

/**
 * Literals that can only fail when the expression runs: patterns, durations and times that do not
 * parse, wrong formats.
 */
export function literalIssues(checked: Checked, matcher: Matcher): Issue[] {
  const issues: Issue[] = [];
  visit(checked.expr, (expr) => {
    if (expr.op !== "call") return;
    const { name, args, target } = expr;
    const [first, second] = args;
    if (name === "duration" || name === "timestamp") {
      const text = textOf(first);
      if (args.length !== 1 || text === undefined || first === undefined) return;
      const parsed = name === "duration" ? parseDuration(text) : parseTimestamp(text);
      if (parsed === undefined) issues.push({ at: first.at, message: `invalid ${name} argument` });
    } else if (name === "matches") {
      const pattern = target === undefined ? second : first;
      const text = textOf(pattern);
      if (text !== undefined && pattern !== undefined && !isPattern(text, matcher)) {
        issues.push({ at: pattern.at, message: "invalid matches argument" });
      }
    } else if (name === "format" && target !== undefined && first?.op === "list") {
      const template = textOf(target);
      if (template !== undefined) append(issues, formatIssuesOf(template, first, expr.at, checked));
    }
  });
  return issues;
}

/** The error of a conversion of a literal, which is made before the expression ever runs. */
export function constantFault(checked: Checked, matcher: Matcher): string | undefined {
  let fault: string | undefined;
  visit(checked.expr, (expr) => {
    if (expr.op !== "call" || expr.target !== undefined || !CONVERSIONS.has(expr.name)) return;
    const [argument] = expr.args;
    const [overload] = checked.overloadsOf(expr);
    if (argument?.op !== "const" || overload === undefined || fault !== undefined) return;
    const { constant } = argument;
    const value: Value = constant.type === "uint" ? new Uint(constant.value) : constant.value;
    try {
      overload.run([value], matcher);
    } catch (error) {
      if (!(error instanceof CelError)) throw error;
      fault = error.message;
    }
  });
  return fault;
}

function visit(expr: Expr, see: (expr: Expr) => void): void {
  see(expr);
  const each = (part: Expr | undefined): void => {
    if (part !== undefined) visit(part, see);
  };
  switch (expr.op) {
    case "select":
      each(expr.operand);
      break;
    case "call":
      each(expr.target);
      for (const arg of expr.args) each(arg);
      break;
    case "list":
      for (const { value } of expr.items) each(value);
      break;
    case "map":
      for (const { key, value } of expr.entries) {
        each(key);
        each(value);
      }
      break;
    case "walk":
      each(expr.range);
      each(expr.filter);
      each(expr.body);
      break;
    case "optMap":
      each(expr.target);
      each(expr.body);
      break;
    default:
      break;
  }
}

function textOf(expr: Expr | undefined): string | undefined {
  return expr?.op === "const" && expr.constant.type === "string" ? expr.constant.value : undefined;
}

function isPattern(text: string, matcher: Matcher): boolean {
  try {
    matcher.check(text);
    return true;
  } catch (error) {
    if (error instanceof PatternError) return false;
    throw error;
  }
}

/** What each clause of a format takes. */
const CLAUSES: { readonly [verb: string]: { name: string; takes: readonly string[]; words: string } } = {
  d: { name: "decimal", takes: ["int", "uint"], words: "integers" },
  f: { name: "fixed-point", takes: ["double", "int", "uint"], words: "doubles" },
  e: { name: "scientific", takes: ["double", "int", "uint"], words: "doubles" },
  b: { name: "binary", takes: ["int", "uint", "bool"], words: "integers and bools" },
  o: { name: "octal", takes: ["int", "uint"], words: "integers" },
  x: { name: "hex", takes: ["int", "uint", "bytes", "string"], words: "integers, byte buffers, and strings" },
  X: { name: "hex", takes: ["int", "uint", "bytes", "string"], words: "integers, byte buffers, and strings" },
};

function formatIssuesOf(
  template: string,
  list: Expr & { op: "list" },
  at: number,
  checked: Checked,
): Issue[] {
  let next = 0;
  for (const match of template.matchAll(/%(?:\.\d+)?([\s\S]?)/g)) {
    const verb = match[1] as string;
    if (verb === "%") continue;
    if (verb === "") return [{ at, message: "unexpected end of string" }];
    const clause = CLAUSES[verb];
    if (verb !== "s" && clause === undefined) {
      return [{ at, message: `could not parse formatting clause: unrecognized formatting clause "${verb}"` }];
    }
    const item = list.items[next++]?.value;
    if (item === undefined) return [{ at, message: `index ${next - 1} out of range` }];
    const type = typeName(checked.typeOf(item));
    if (clause !== undefined && type !== "dyn" && !clause.takes.includes(type)) {
      const message = `error during formatting: ${clause.name} clause can only be used on ${clause.words}, was given ${type}`;
      return [{ at: item.at, message }];
    }
  }
  return [];
}
