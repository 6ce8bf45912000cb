import { isVisible, mostElements, mostRepeats } from "./cel-types.ts";
import { follow, segmentsOf } from "./field-path.ts";
import type { Problems } from "./refusal.ts";
import { own, type StructuralSchema, type ValidationRule } from "./structural.ts";

const reasons = ["FieldValueInvalid", "FieldValueForbidden", "FieldValueRequired", "FieldValueDuplicate"];

/**
 * Finds in a CEL rule what can be found without compiling it: fields that do not exist, brackets
 * that do not close, old values where there are none to compare with. The API server compiles every
 * rule and has the last word.
 */
export function checkRule(
  rule: ValidationRule,
  node: StructuralSchema,
  path: string,
  place: FieldLocation,
  problems: Problems,
): void {
  const say = (message: string) => problems.add(path, `the rule ${JSON.stringify(rule.rule)} ${message}`);
  if (rule.rule.trim() === "") {
    problems.add(path, "a rule must not be empty");
    return;
  }
  const code = withoutStrings(rule.rule);
  if (code === undefined) {
    say("has a string that does not end");
    return;
  }
  const unbalanced = unbalancedBracket(code);
  if (unbalanced !== undefined) say(`has a ${unbalanced} without its other half`);
  const old = /\boldSelf\b/.test(code);
  if (old && !place.correlatable) {
    say(
      "compares with oldSelf inside a list whose items cannot be matched with their former selves; make the list a .check(listMap(…)), or put the rule on the list",
    );
  }
  if (comparisonsCost(code, node) * (place.repeats ?? mostRepeats(node)) > costLimit) {
    say(
      "costs more than the API server allows, since it may compare very many long values; give them a .max(…), or the list around them",
    );
  }
  if (rule.optionalOldSelf === true && !old) say("sets optionalOldSelf and does not use oldSelf");
  const spoken = withoutStrings(rule.messageExpression ?? "") ?? "";
  for (const [missing, why] of [...unknownFields(code, node), ...unknownFields(spoken, node)]) {
    say(`uses ${missing}, ${why}`);
  }
  checkMessage(rule, say);
  if (rule.reason !== undefined && !reasons.includes(rule.reason)) {
    say(`has the reason ${JSON.stringify(rule.reason)}; it must be one of ${reasons.join(", ")}`);
  }
  if (rule.fieldPath !== undefined) {
    const segments = segmentsOf(rule.fieldPath);
    const target = segments === undefined ? undefined : follow(node, segments);
    if (target === undefined || target.at === "nothing") {
      say(`has the fieldPath ${JSON.stringify(rule.fieldPath)}, which is not a field of the schema`);
    } else if (target.at === "field" && target.inList) {
      say(`has the fieldPath ${JSON.stringify(rule.fieldPath)}, which must not lead into a list`);
    }
  }
}

/** What the API server allows a rule to cost, by its estimate. */
const costLimit = 10_000_000;

const comparison = /(?<![\w.])(?:self|oldSelf)((?:\.\w+)*)\s*[!=]=\s*(?:self|oldSelf)((?:\.\w+)*)(?![\w.(])/g;

/**
 * The least that the server estimates for the comparisons in a rule: for each a tenth of what there
 * may be to compare.
 */
function comparisonsCost(code: string, node: StructuralSchema): number {
  let cost = 0;
  for (const [, left = "", right = ""] of code.matchAll(comparison)) {
    const sides = [left, right].map((chain) => mostElements(fieldOf(node, chain) ?? {}));
    cost += 2 + Math.ceil(Math.min(...sides) / 10);
  }
  return cost;
}

function fieldOf(node: StructuralSchema, chain: string): StructuralSchema | undefined {
  return chain
    .split(".")
    .slice(1)
    .reduce<StructuralSchema | undefined>((at, name) => own(at?.properties, unescaped(name)), node);
}

function checkMessage(rule: ValidationRule, say: (message: string) => void): void {
  const { message } = rule;
  if (message !== undefined && (message.trim() === "" || /[\r\n]/.test(message))) {
    say("needs a message of one line that is not blank");
  }
  if (message !== undefined && message.length > 2048) say("has a message of more than 2048 characters");
  if (message === undefined && /[\r\n]/.test(rule.rule.trim())) {
    say("spans several lines and so needs a message of its own");
  }
  if (rule.messageExpression?.trim() === "") say("has an empty messageExpression");
}

/** The rule with every string literal emptied, or undefined where one does not end. */
function withoutStrings(rule: string): string | undefined {
  const emptied = rule.replaceAll(
    /[rRbB]{0,2}(?:"""[\s\S]*?"""|'''[\s\S]*?'''|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')/g,
    '""',
  );
  return /["']/.test(emptied.replaceAll('""', "")) ? undefined : emptied;
}

function unbalancedBracket(code: string): string | undefined {
  const pairs: Readonly<Record<string, string>> = { ")": "(", "]": "[", "}": "{" };
  const open: string[] = [];
  for (const [character] of code.matchAll(/[()[\]{}]/g)) {
    const partner = pairs[character];
    if (partner === undefined) open.push(character);
    else if (open.pop() !== partner) return character;
  }
  return open.pop();
}

/**
 * Field chains that start at `self` or `oldSelf` and leave the schema. Calls and indexes end a
 * chain.
 */
function unknownFields(code: string, node: StructuralSchema): Map<string, string> {
  const unknown = new Map<string, string>();
  const chains = code.matchAll(/(?<![\w.])(self|oldSelf)((?:\s*\.\s*\??\s*[A-Za-z_]\w*(?!\w)(?!\s*\())+)/g);
  for (const [, root = "", chain = ""] of chains) {
    let at: StructuralSchema = node;
    let walked = root;
    for (const [, name = ""] of chain.matchAll(/\.\s*\??\s*([A-Za-z_]\w*)/g)) {
      walked += `.${name}`;
      if (at["x-kubernetes-int-or-string"] === true || /^(?:orValue|hasValue|value)$/.test(name)) break;
      const next = own(at.properties, unescaped(name)) ?? at.additionalProperties;
      if (next === undefined) {
        if (at.type !== undefined) unknown.set(walked, "a field that the schema does not have");
        break;
      }
      if (!isVisible(next)) {
        unknown.set(
          walked,
          "whose values may be of any type, which no rule can see; give them one, as z.looseObject({}) has",
        );
        break;
      }
      at = next;
    }
  }
  return unknown;
}

const reserved = new Set(
  "true false null in as break const continue else for function if import let loop package namespace return var void while".split(
    " ",
  ),
);

/** How CEL names a field of this name, or undefined where it has no way to. */
export function celName(field: string): string | undefined {
  if (reserved.has(field)) return `__${field}__`;
  if (!/^[A-Za-z_][\w.\-/]*$/.test(field)) return undefined;
  return field
    .replaceAll("__", "__underscores__")
    .replaceAll(".", "__dot__")
    .replaceAll("-", "__dash__")
    .replaceAll("/", "__slash__");
}

const escapes: Readonly<Record<string, string>> = {
  __underscores__: "__",
  __dot__: ".",
  __dash__: "-",
  __slash__: "/",
};

/** CEL names fields such as `my-field` and `namespace` by escapes; this is the field's own name. */
function unescaped(name: string): string {
  const keyword = /^__([a-z]+)__$/.exec(name);
  if (keyword !== null && !Object.hasOwn(escapes, name)) return keyword[1] ?? name;
  return name.replaceAll(/__(?:underscores|dot|dash|slash)__/g, (code) => escapes[code] ?? code);
}

/** What a rule's cost and meaning owe to the lists and maps around it. */
export interface FieldLocation {
  /** Whether a value here can be matched with the one it replaces, as a transition rule needs. */
  readonly correlatable: boolean;
  /**
   * The most values there can be here; undefined if a list or map on the way has no bound of its
   * own.
   */
  readonly repeats: number | undefined;
}
