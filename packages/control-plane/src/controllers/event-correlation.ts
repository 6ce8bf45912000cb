/** The parts of an event by which repetitions are found. */
export interface Saying {
  /** What it is about: the same text for the same object. */
  readonly about: string;
  /** The part of the object it is about, or "". */
  readonly fieldPath: string;
  readonly type: string;
  readonly reason: string;
  readonly message: string;
}

/** What the correlator decided. */
export type Correlated =
  /** Dropped: too many events about this object lately. */
  | { readonly at: "dropped" }
  /** An event of its own. `remember` its name, so that it can be counted. */
  | {
      readonly at: "new";
      readonly message: string;
      readonly count: number;
      readonly remember: (name: string) => void;
    }
  /** The event of this name is counted once more, and says this now. */
  | { readonly at: "again"; readonly message: string; readonly name: string; readonly count: number };

/**
 * This many different messages with one reason about one object get events of their own; later ones
 * share one.
 */
const similarLimit = 10;
/** Similar events are forgotten after this time without another one. */
const similarMs = 600_000;
/** The token bucket for events about one object: its size, and the time per token. */
const burst = 25;
const refillMs = 300_000;
/** So many of each kind of memory are kept, the least recently used forgotten first. */
const remembered = 4_096;

/**
 * Correlates events as client-go's recorders do: repeated events are counted, similar ones are
 * aggregated once there are many, and objects with too many events are rate-limited.
 */
export function eventCorrelator(): (saying: Saying, nowMs: number) => Correlated {
  const counts = new Memory<{ readonly count: number; readonly name: string | undefined }>();
  const similar = new Memory<{ readonly messages: Set<string>; readonly lastMs: number }>();
  const buckets = new Memory<{ readonly tokens: number; readonly atMs: number }>();

  function combine({ about, fieldPath, type, reason, message }: Saying, now: number) {
    const kind = JSON.stringify([about, type, reason]);
    const known = similar.get(kind);
    const messages = known && now - known.lastMs <= similarMs ? known.messages : new Set<string>();
    const isNew = !messages.has(message);
    messages.add(message);
    similar.set(kind, { messages, lastMs: now });
    if (messages.size < similarLimit) {
      return { key: JSON.stringify([about, fieldPath, type, reason, message]), message };
    }
    if (isNew) messages.delete(message);
    return { key: kind, message: `(combined from similar events): ${message}` };
  }

  function mayTell(about: string, now: number): boolean {
    const { tokens, atMs } = buckets.get(about) ?? { tokens: burst, atMs: now };
    const filled = Math.min(burst, tokens + Math.max(0, now - atMs) / refillMs);
    buckets.set(about, { tokens: filled < 1 ? filled : filled - 1, atMs: now });
    return filled >= 1;
  }

  return (saying, now) => {
    const { key, message } = combine(saying, now);
    const known = counts.get(key);
    const count = (known?.count ?? 0) + 1;
    counts.set(key, { count, name: known?.name });
    if (!mayTell(saying.about, now)) return { at: "dropped" };
    if (known?.name !== undefined) return { at: "again", message, name: known.name, count };
    return { at: "new", message, count, remember: (name) => counts.set(key, { count, name }) };
  };
}

/** A least-recently-used cache. */
class Memory<Value> {
  readonly #values = new Map<string, Value>();

  get(key: string): Value | undefined {
    return this.#values.get(key);
  }

  set(key: string, value: Value): void {
    this.#values.delete(key);
    this.#values.set(key, value);
    const oldest = this.#values.keys().next();
    if (this.#values.size > remembered && !oldest.done) this.#values.delete(oldest.value);
  }
}
