import { EVENT_ID, type Event, getScalarValue, parseEvents, SCALAR_STYLE } from "js-yaml";
import { MAX_DEPTH } from "./parse-json.ts";

/** A collection that has been begun. Sequences and documents have no keys. */
interface Open {
  readonly start: number;
  readonly seen: Set<string> | undefined;
  key: string | undefined;
  keyStart: number;
}

/**
 * Says of each key that a mapping of a YAML document has already that it is there again, with the
 * line of its value, and in the order in which values end. Anything but a well-formed document has
 * been refused before.
 */
export function repeatedKeys(text: string): string[] {
  const complaints: string[] = [];
  const open: Open[] = [];
  const lines = new Lines(text);
  const ended = (start: number, key: string | undefined): void => {
    const around = open.at(-1);
    if (around?.seen === undefined) return;
    if (around.key === undefined) {
      around.key = key ?? "";
      around.keyStart = start;
      return;
    }
    if (around.seen.has(around.key)) {
      const line = lines.at(start < 0 ? around.keyStart : start);
      complaints.push(`line ${line}: key ${around.key} already set in map`);
    }
    // Merging is no key, and may be done several times.
    if (around.key !== '"<<"') around.seen.add(around.key);
    around.key = undefined;
  };
  for (const event of parseEvents(text, { maxDepth: MAX_DEPTH })) {
    switch (event.type) {
      case EVENT_ID.DOCUMENT:
      case EVENT_ID.SEQUENCE:
      case EVENT_ID.MAPPING: {
        const seen = event.type === EVENT_ID.MAPPING ? new Set<string>() : undefined;
        open.push({ start: startOf(event), seen, key: undefined, keyStart: 0 });
        break;
      }
      case EVENT_ID.POP: {
        const collection = open.pop();
        if (collection) ended(collection.start, undefined);
        break;
      }
      case EVENT_ID.SCALAR:
        ended(startOf(event), fieldName(text, event));
        break;
      case EVENT_ID.ALIAS:
        ended(startOf(event), undefined);
    }
  }
  return complaints;
}

function startOf(event: Event): number {
  switch (event.type) {
    case EVENT_ID.SEQUENCE:
    case EVENT_ID.MAPPING:
      return event.start;
    case EVENT_ID.ALIAS:
      return event.anchorStart;
    case EVENT_ID.SCALAR: {
      const block = event.style === SCALAR_STYLE.LITERAL_BLOCK || event.style === SCALAR_STYLE.FOLDED_BLOCK;
      // The text of a block begins on the line after its indicator.
      return block && event.valueStart > 0 ? event.valueStart - 1 : event.valueStart;
    }
    default:
      return -1;
  }
}

/** A key as it is shown: numbers and booleans are other keys than texts that look like them. */
function fieldName(text: string, event: Extract<Event, { type: typeof EVENT_ID.SCALAR }>): string {
  const written = getScalarValue(text, event);
  if (event.style === SCALAR_STYLE.PLAIN) {
    if (/^(true|yes|on)$/i.test(written)) return "true";
    if (/^(false|no|off)$/i.test(written)) return "false";
    if (/^[-+]?(\d+(?:\.\d*)?|\.\d+)(e[-+]?\d+)?$/i.test(written)) return String(Number(written));
  }
  return JSON.stringify(written);
}

/** Which line of a text a place is on. */
class Lines {
  readonly #ends: number[] = [];

  constructor(text: string) {
    for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) this.#ends.push(at);
  }

  at(offset: number): number {
    let [low, high] = [0, this.#ends.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#ends[middle] as number) < offset) low = middle + 1;
      else high = middle;
    }
    return low + 1;
  }
}
