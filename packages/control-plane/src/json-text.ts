import { countParts, type Json, type JsonObject, largeParts, stringify } from "./json.ts";
import { nextTurn, type Steps, TurnBudget } from "./steps.ts";

/** How many parts of a value are written between two turns of the event loop. */
const partsPerTurn = 20_000;

/** As `stringify`, of a large value, with turns of the event loop in between. */
export function* stringifyInSteps(value: Json): Steps<string> {
  const text = new LongText();
  yield* text.write(value);
  return text.toString();
}

/** The text of an object whose resourceVersion is not known yet: it goes in between the two. */
export interface TextToStamp {
  readonly before: string;
  readonly after: string;
}

/**
 * The text of a large object without its kind and apiVersion, as it is once its metadata has a
 * resourceVersion.
 */
export function* textToStampInSteps(object: JsonObject): Steps<TextToStamp> {
  const { kind: _kind, apiVersion: _apiVersion, ...fields } = object;
  const outer = cutAt(fields, "metadata");
  const inner = cutAt(fields.metadata as JsonObject, "resourceVersion");
  const texts: string[] = [];
  for (const part of [outer.before, inner.before, inner.after, outer.after]) {
    texts.push((yield* stringifyInSteps(part)).slice(1, -1));
  }
  const [first, second, third, fourth] = texts as [string, string, string, string];
  const comma = (text: string) => (text === "" ? "" : ",");
  return {
    before: `{${first}${comma(first)}"metadata":{${second}${comma(second)}"resourceVersion":`,
    after: `${comma(third)}${third}}${comma(fourth)}${fourth}}`,
  };
}

/** The fields before and after one of them. All are before it where it is not there. */
function cutAt(fields: JsonObject, name: string): { before: JsonObject; after: JsonObject } {
  const entries = Object.entries(fields);
  const at = entries.findIndex(([key]) => key === name);
  const end = at < 0 ? entries.length : at;
  return {
    before: Object.fromEntries(entries.slice(0, end)),
    after: Object.fromEntries(entries.slice(end + 1)),
  };
}

/**
 * The same JSON for people to read: a line for each field and item, further in for each level. The
 * text of numbers is kept. A long text is written with turns of the event loop in between.
 */
export function* indentedInSteps(text: string): Steps<string> {
  const pieces: string[] = [];
  const budget = new TurnBudget(50_000);
  let depth = 0;
  const line = () => `\n${"  ".repeat(depth)}`;
  // Strings; brackets with nothing in them; punctuation; and what is left.
  for (const [token] of text.matchAll(/"(?:[^"\\]|\\.)*"|\{\s*\}|\[\s*\]|[{}[\],:]|[^\s{}[\],:"]+/g)) {
    if (budget.spend(1)) yield nextTurn;
    if (token === "{" || token === "[") {
      depth++;
      pieces.push(token, line());
    } else if (token === "}" || token === "]") {
      depth--;
      pieces.push(line(), token);
    } else if (token === ",") pieces.push(token, line());
    else if (token === ":") pieces.push(": ");
    else pieces.push(token.startsWith("{") ? "{}" : token.startsWith("[") ? "[]" : token);
  }
  return pieces.join("");
}

class LongText {
  readonly #pieces: string[] = [];
  readonly #budget = new TurnBudget(partsPerTurn);

  *write(value: Json): Steps<void> {
    const parts = countParts(value, this.#budget.wide);
    if (parts > largeParts && typeof value === "object" && value !== null) {
      yield* Array.isArray(value) ? this.#list(value) : this.#object(value);
      return;
    }
    if (this.#budget.spend(parts)) yield nextTurn;
    this.#pieces.push(stringify(value));
  }

  *#list(items: readonly Json[]): Steps<void> {
    let group: Json[] = [];
    let size = 0;
    this.#pieces.push("[");
    for (const [index, item] of items.entries()) {
      const parts = countParts(item, this.#budget.wide);
      if (parts > largeParts) {
        if (group.length > 0) this.#pieces.push(stringify(group).slice(1, -1), ",");
        [group, size] = [[], 0];
        yield* this.write(item);
        if (index < items.length - 1) this.#pieces.push(",");
        continue;
      }
      group.push(item);
      size += parts;
      if (size < largeParts || index === items.length - 1) continue;
      this.#pieces.push(stringify(group).slice(1, -1), ",");
      if (this.#budget.spend(size)) yield nextTurn;
      [group, size] = [[], 0];
    }
    if (group.length > 0) this.#pieces.push(stringify(group).slice(1, -1));
    this.#pieces.push("]");
  }

  *#object(fields: JsonObject): Steps<void> {
    let separator = "";
    let group: JsonObject = {};
    let size = 0;
    const flush = () => {
      // Fields that are undefined leave no text.
      const text = stringify(group).slice(1, -1);
      if (text !== "") this.#pieces.push(separator, text);
      if (text !== "") separator = ",";
      [group, size] = [{}, 0];
    };
    this.#pieces.push("{");
    const names = Object.keys(fields);
    yield nextTurn;
    for (const name of names) {
      const value = fields[name] as Json;
      const parts = countParts(value, this.#budget.wide);
      if (parts > largeParts) {
        flush();
        this.#pieces.push(separator, JSON.stringify(name), ":");
        separator = ",";
        yield* this.write(value);
        continue;
      }
      if (name === "__proto__") {
        const own = { value, enumerable: true, writable: true, configurable: true };
        Object.defineProperty(group, name, own);
      } else group[name] = value;
      size += parts;
      if (size < largeParts) continue;
      const written = size;
      flush();
      if (this.#budget.spend(written)) yield nextTurn;
    }
    flush();
    this.#pieces.push("}");
  }

  toString(): string {
    return this.#pieces.join("");
  }
}
