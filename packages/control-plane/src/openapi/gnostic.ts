import { isObject, type Json, type JsonObject, stringify } from "../json.ts";
import { BackwardWriter } from "../protobuf/writer.ts";
import { nextTurn, type Steps, TurnBudget } from "../steps.ts";

/** How one value of a document is written. */
export type Shape =
  | "string"
  | "boolean"
  | "integer"
  | "number"
  /** Free JSON, which goes as YAML text. */
  | "any"
  | { readonly list: Shape }
  | { readonly message: () => Message }
  /** A map: a message whose field `at` repeats pairs of a name and a value. */
  | { readonly named: Shape; readonly at: number }
  /** A message of which one field is set: which one, the value decides. */
  | { readonly choice: (value: Json) => readonly [number: number, shape: Shape] };

/** A message: what its JSON calls each field, the field's number, and how it is written. */
export interface Message {
  readonly fields: readonly (readonly [key: string, number: number, shape: Shape])[];
  /** The field for keys that start with `x-`. */
  readonly extensions?: number;
}

/** How many bytes are written between two turns of the event loop. */
const bytesPerTurn = 500_000;

/**
 * Writes an OpenAPI document in the protobuf form that clients compiled from gnostic's models read.
 */
export function* encodeDocument(message: Message, document: JsonObject): Steps<Uint8Array> {
  const writer = new BackwardWriter();
  yield* writeInSteps(writer, message, document, new TurnBudget(bytesPerTurn));
  return writer.bytes();
}

/** As `writeMessage`, of the messages around paths and schemas, of which there may be thousands. */
function* writeInSteps(
  writer: BackwardWriter,
  message: Message,
  object: JsonObject,
  budget: TurnBudget,
): Steps<void> {
  for (const [key, number, shape] of descending(message)) {
    const value = Object.hasOwn(object, key) ? object[key] : undefined;
    if (!isObject(value) || typeof shape === "string" || !("message" in shape || "named" in shape)) {
      if (value !== undefined) writeField(writer, number, shape, value);
      continue;
    }
    const end = writer.length;
    if ("message" in shape) yield* writeInSteps(writer, shape.message(), value, budget);
    else {
      for (const name of Object.keys(value).reverse()) {
        const before = writer.length;
        writePair(writer, shape.at, shape.named, name, value[name] as Json);
        if (budget.spend(writer.length - before)) yield nextTurn;
      }
    }
    writer.close(number, end);
  }
}

const byNumber = new WeakMap<Message, Message["fields"]>();

/** Fields from the highest number down: a message is written from its end. */
function descending(message: Message): Message["fields"] {
  let fields = byNumber.get(message);
  if (!fields) {
    fields = [...message.fields].sort(([, a], [, b]) => b - a);
    byNumber.set(message, fields);
  }
  return fields;
}

function writeMessage(writer: BackwardWriter, message: Message, object: JsonObject): void {
  // Extensions have the highest number of every message that has them.
  if (message.extensions !== undefined) {
    const extra = Object.fromEntries(Object.entries(object).filter(([key]) => key.startsWith("x-")));
    writePairs(writer, message.extensions, "any", extra);
  }
  for (const [key, number, shape] of descending(message)) {
    const value = Object.hasOwn(object, key) ? object[key] : undefined;
    if (value !== undefined) writeField(writer, number, shape, value);
  }
}

function writePairs(writer: BackwardWriter, number: number, shape: Shape, pairs: JsonObject): void {
  for (const name of Object.keys(pairs).reverse())
    writePair(writer, number, shape, name, pairs[name] as Json);
}

function writePair(writer: BackwardWriter, number: number, shape: Shape, name: string, value: Json): void {
  const end = writer.length;
  writeField(writer, 2, shape, value);
  writer.text(1, name);
  writer.close(number, end);
}

function writeField(writer: BackwardWriter, number: number, shape: Shape, value: Json): void {
  const end = writer.length;
  switch (shape) {
    case "string":
      if (typeof value === "string") writer.text(number, value);
      return;
    case "boolean":
      if (value === true) writer.integer(number, 1);
      return;
    case "integer":
      if (typeof value === "number" || typeof value === "bigint") writer.integer(number, value);
      return;
    case "number":
      if (typeof value === "number" || typeof value === "bigint") writer.double(number, Number(value));
      return;
    case "any":
      writer.text(2, `${stringify(value)}\n`);
      writer.close(number, end);
      return;
  }
  if ("list" in shape) {
    const items = Array.isArray(value) ? value : [];
    for (let index = items.length - 1; index >= 0; index--) {
      writeField(writer, number, shape.list, items[index] as Json);
    }
    return;
  }
  if ("message" in shape) writeMessage(writer, shape.message(), isObject(value) ? value : {});
  else if ("named" in shape) writePairs(writer, shape.at, shape.named, isObject(value) ? value : {});
  else {
    const [chosen, inner] = shape.choice(value);
    writeField(writer, chosen, inner, value);
  }
  writer.close(number, end);
}
