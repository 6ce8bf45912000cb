import {
  boolYaml11Tag,
  CORE_SCHEMA,
  constructFromEvents,
  DUMP_SCHEMA,
  defineScalarTag,
  dump,
  EVENT_ID,
  type Event,
  load,
  mergeTag,
  NOT_RESOLVED,
  parseEvents,
  YAMLException,
} from "js-yaml";
import { exactNumber, type Json, type JsonObject } from "../json.ts";
import { nextTurn, type Steps, TurnBudget } from "../steps.ts";
import { firstDocument, hasContent } from "./first-document.ts";
import { MAX_DEPTH, type Parsed, ParseError } from "./parse-json.ts";
import { setField } from "./paths.ts";
import { repeatedKeys } from "./repeated-keys.ts";

/**
 * Integers as Go reads them in YAML: of 64 bits, exactly, with `_` anywhere, and octal with a zero
 * before.
 */
const goIntegerTag = defineScalarTag("tag:yaml.org,2002:int", {
  implicit: true,
  implicitFirstChars: "-+0123456789".split(""),
  resolve: (source) => {
    const plain = source.replaceAll("_", "");
    const [, sign, binary, octal, hexadecimal, decimal] =
      /^([-+]?)(?:0b([01]+)|0o?([0-7]+)|0x([\da-f]+)|(0|[1-9]\d*))$/i.exec(plain) ?? [];
    const digits = binary ?? octal ?? hexadecimal ?? decimal;
    if (digits === undefined) return NOT_RESOLVED;
    const prefix = binary ? "0b" : octal ? "0o" : hexadecimal ? "0x" : "";
    const value = BigInt(`${prefix}${digits}`) * (sign === "-" ? -1n : 1n);
    // Beyond, it is a float.
    return BigInt.asIntN(64, value) === value || BigInt.asUintN(64, value) === value ? value : NOT_RESOLVED;
  },
  identify: (value) =>
    typeof value === "bigint" || (Number.isInteger(value) && /^-?\d+$/.test(String(value))),
  represent: (value) => String(value),
});

/**
 * The API server's YAML: 1.2 but for integers, `yes`, `no`, `on`, `off` and merge keys, which are
 * as in 1.1.
 */
const SCHEMA = CORE_SCHEMA.withTags(goIntegerTag, boolYaml11Tag, mergeTag);
const WRITTEN = DUMP_SCHEMA.withTags(goIntegerTag);

/** Writes YAML, as the API server answers with. */
export function yamlText(value: Json): string {
  return dump(value, { schema: WRITTEN, sortKeys: true, noRefs: true });
}

/** More values than this cannot have been written by hand: they come from aliases of aliases. */
const MAX_VALUES = 1_000_000;

/**
 * Reads the first YAML document. Aliases become copies, so the result is a tree like any parsed
 * JSON.
 *
 * @throws ParseError
 */
export function parseYaml(stream: string): Parsed {
  return parseDocument(firstDocument(stream));
}

function parseDocument(text: string): Parsed {
  // js-yaml takes no document for a fault, and Go for null.
  if (!hasContent(text)) return { value: null, duplicates: [] };
  let duplicates: string[] = [];
  let loaded: unknown;
  try {
    loaded = load(text, { schema: SCHEMA, maxDepth: MAX_DEPTH });
  } catch (error) {
    if (!(error instanceof YAMLException)) throw error;
    if (error.reason !== "duplicated mapping key") throw new ParseError(`yaml: ${describe(error)}`);
    duplicates = repeatedKeys(text);
    loaded = reload(text);
  }
  return { value: new Copier().copy(loaded, 0), duplicates };
}

/** Texts with more characters than this are not read in one go. */
const longText = 100_000;

/**
 * As {@link parseYaml}; of a long text with turns of the event loop in between. Finding its nodes
 * takes one turn, making values of them many. Where nodes depend on others, as aliases and merged
 * mappings do, and where something is wrong, it is read in one go.
 *
 * @throws ParseError
 */
export function* parseYamlInSteps(stream: string): Steps<Parsed> {
  const text = firstDocument(stream);
  if (text.length <= longText) return parseDocument(text);
  const events = eventsOf(text);
  yield nextTurn;
  const value = events && (yield* new EventReader(text, events).read());
  return value === undefined ? parseDocument(text) : { value, duplicates: [] };
}

function eventsOf(text: string): Event[] | undefined {
  try {
    return text.includes("<<") ? undefined : parseEvents(text, { maxDepth: MAX_DEPTH });
  } catch (error) {
    if (error instanceof YAMLException) return undefined;
    throw error;
  }
}

/** A list or a mapping of more events than this is not made in one go. */
const eventsPerTurn = 10_000;

/** Makes a value of the events of a YAML document, in groups of some thousands. */
class EventReader {
  readonly #text: string;
  readonly #events: Event[];
  readonly #copier = new Copier();
  /** Where lists and mappings of many events begin and end. */
  readonly #long = new Map<number, number>();

  constructor(text: string, events: Event[]) {
    this.#text = text;
    this.#events = events;
  }

  /** @returns undefined if the document must be read in one go */
  *read(): Steps<Json | undefined> {
    if (!(yield* this.#isPlain())) return undefined;
    const end = this.#long.get(1);
    if (end === undefined) return undefined;
    try {
      return yield* this.#container(1, end, 0);
    } catch (error) {
      if (error instanceof YAMLException || error instanceof Irregular) return undefined;
      throw error;
    }
  }

  /** Whether there is one document without aliases. */
  *#isPlain(): Steps<boolean> {
    const open: number[] = [];
    const budget = new TurnBudget(200_000);
    for (const [index, { type }] of this.#events.entries()) {
      if (budget.spend(1)) yield nextTurn;
      if (type === EVENT_ID.ALIAS || (type === EVENT_ID.DOCUMENT && index > 0)) return false;
      if (type === EVENT_ID.POP) {
        const start = open.pop() as number;
        if (index - start > eventsPerTurn) this.#long.set(start, index);
      } else if (type !== EVENT_ID.SCALAR) open.push(index);
    }
    return true;
  }

  *#container(start: number, end: number, depth: number): Steps<Json> {
    const opening = this.#events[start] as Event;
    const isList = opening.type === EVENT_ID.SEQUENCE;
    if ("tagStart" in opening && opening.tagStart >= 0) throw new Irregular();
    const list: Json[] = [];
    const fields: JsonObject = {};
    const add = (first: number, last: number) => {
      if (first === last) return;
      const made = this.#make(opening, this.#events.slice(first, last), depth);
      if (Array.isArray(made)) for (const item of made) list.push(item);
      else for (const name of Object.keys(made)) addField(fields, name, made[name] as Json);
    };
    /** Where what has not been made begins. */
    let from = start + 1;
    for (let at = from; at < end; ) {
      const item = at;
      if (!isList && (this.#events[at++] as Event).type !== EVENT_ID.SCALAR) throw new Irregular();
      const close = this.#long.get(at);
      if (close === undefined) {
        at = this.#after(at);
        if (at - from < eventsPerTurn) continue;
        add(from, at);
        from = at;
        yield nextTurn;
        continue;
      }
      add(from, item);
      const inner = yield* this.#container(at, close, depth + 1);
      if (isList) list.push(inner);
      else addField(fields, this.#nameAt(opening, item), inner);
      at = close + 1;
      from = at;
    }
    add(from, end);
    return isList ? list : fields;
  }

  /** The event after a node. */
  #after(start: number): number {
    let depth = 0;
    for (let at = start; ; at++) {
      const { type } = this.#events[at] as Event;
      if (type === EVENT_ID.POP) depth--;
      else if (type !== EVENT_ID.SCALAR) depth++;
      if (depth === 0) return at + 1;
    }
  }

  /** The name of the field whose key is an event. */
  #nameAt(opening: Event, key: number): string {
    const value: Event[] = [{ ...opening, type: EVENT_ID.SEQUENCE } as Event, { type: EVENT_ID.POP }];
    const [name] = Object.keys(this.#make(opening, [this.#events[key] as Event, ...value], 0));
    if (name === undefined) throw new Irregular();
    return name;
  }

  #make(opening: Event, content: Event[], depth: number): Json[] | JsonObject {
    const ends: Event[] = [{ type: EVENT_ID.POP }, { type: EVENT_ID.POP }];
    const events = [this.#events[0] as Event, opening, ...content, ...ends];
    const [made] = constructFromEvents(events, { source: this.#text, schema: SCHEMA });
    return this.#copier.copy(made, depth) as Json[] | JsonObject;
  }
}

/** Thrown where a document cannot be made in groups. */
class Irregular extends Error {}

function addField(fields: JsonObject, name: string, value: Json): void {
  if (Object.hasOwn(fields, name)) throw new Irregular();
  setField(fields, name, value);
}

function reload(text: string): unknown {
  try {
    return load(text, { schema: SCHEMA, json: true, maxDepth: MAX_DEPTH });
  } catch (error) {
    if (!(error instanceof YAMLException)) throw error;
    throw new ParseError(`yaml: ${describe(error)}`);
  }
}

function describe(error: YAMLException): string {
  return error.mark === undefined ? error.reason : `line ${error.mark.line + 1}: ${error.reason}`;
}

class Copier {
  private values = 0;

  copy(value: unknown, depth: number): Json {
    if (++this.values > MAX_VALUES) throw new ParseError("yaml: document contains excessive aliasing");
    if (depth > MAX_DEPTH) throw new ParseError("exceeded max depth");
    if (value === null || value === undefined) return null;
    switch (typeof value) {
      case "string":
      case "boolean":
        return value;
      case "number":
        // It is written as JSON and read again: a float that is whole is an integer then.
        if (Number.isFinite(value)) return exactNumber(String(value));
        throw new ParseError(
          `json: unsupported value: ${Number.isNaN(value) ? "NaN" : value > 0 ? "+Inf" : "-Inf"}`,
        );
      case "bigint":
        return exactNumber(String(value));
      case "object":
        return Array.isArray(value)
          ? value.map((item) => this.copy(item, depth + 1))
          : this.copyFields(value, depth);
      default:
        throw new ParseError(`yaml: unsupported value of type ${typeof value}`);
    }
  }

  private copyFields(value: object, depth: number): JsonObject {
    const copy: JsonObject = {};
    for (const [name, inner] of Object.entries(value)) setField(copy, name, this.copy(inner, depth + 1));
    return copy;
  }
}
