import { type AnyKind, metadataOnly } from "@windlass/client";
import { type Clock, type Random, sleep } from "@windlass/clock";
import type { InformerScope } from "./contract.ts";
import { Pace, turn } from "./pace.ts";
import {
  type Effect,
  initialState,
  type Opening,
  patienceMs,
  type ReflectorEvent,
  type ReflectorState,
  step,
} from "./reflector.ts";
import { type ScannedEvent, scanEvent, scanList } from "./scan.ts";
import { type Source, troubleOf } from "./source.ts";
import { MalformedObjectError } from "./stored-object.ts";

export type ChangeType = "ADDED" | "MODIFIED" | "DELETED";

/** Takes what the reflector receives. */
export interface Sink {
  /** A full list starts: forget what was collected for an earlier one. */
  begin(): void;
  /** An object of the list that is being received, or its end. @throws MalformedObjectError */
  collect(type: ChangeType, bytes: Buffer, start: number, end: number): void;
  /** What was collected is everything there is at this version. */
  commit(version: string): Promise<void>;
  /** The kind is not served, so there is no object of it. */
  clear(): Promise<void>;
  /** An object changed. @returns its version. @throws MalformedObjectError */
  change(type: ChangeType, bytes: Buffer, start: number, end: number): string;
  /** Everything up to this version has been received. */
  bookmark(version: string): void;
  /** The reflector went from one state to another. */
  moved(state: ReflectorState): void;
  /** A request is about to be made. */
  opening(opening: Opening): void;
  /** The server gave a sign of life. */
  heard(): void;
}

export interface ReflectorOptions {
  readonly source: Source;
  readonly kind: AnyKind;
  readonly scope: InformerScope;
  readonly clock: Clock;
  readonly random: Random;
  readonly sink: Sink;
  /** Objects per page where the server does not stream. */
  readonly pageSize: number;
}

/** Beyond what the server was asked for, a watch is given this long to end. */
const DEADLINE_MARGIN_MS = 30_000;

const INITIAL_EVENTS_END = "k8s.io/initial-events-end";

/** Keeps the sink up to date until the signal is aborted. Resolves then; never rejects but for a fault in the sink itself. */
export async function runReflector(options: ReflectorOptions, signal: AbortSignal): Promise<void> {
  const run = new ReflectorRun(options, signal);
  await run.start();
}

class ReflectorRun {
  readonly #options: ReflectorOptions;
  readonly #signal: AbortSignal;
  #state: ReflectorState = initialState;
  #next: Effect | undefined;
  readonly #pace: Pace;

  constructor(options: ReflectorOptions, signal: AbortSignal) {
    this.#options = options;
    this.#signal = signal;
    this.#pace = new Pace(options.clock);
  }

  async start(): Promise<void> {
    await this.#tell({ type: "start" });
    for (let effect = this.#next; effect && !this.#signal.aborted; effect = this.#next) {
      this.#next = undefined;
      if (effect.do === "wait") await this.#wait(effect.ms);
      else if (effect.do === "open") await this.#open(effect.opening);
    }
  }

  async #tell(event: ReflectorEvent): Promise<void> {
    await this.#perform(this.#step(event));
  }

  /** Does what a step asks for; a request or a wait is left for the loop in `start`. */
  async #perform(effects: readonly Effect[]): Promise<void> {
    for (const effect of effects) {
      if (effect.do === "begin") this.#options.sink.begin();
      else if (effect.do === "commit") await this.#options.sink.commit(effect.version);
      else if (effect.do === "clear") await this.#options.sink.clear();
      else this.#next = effect;
    }
  }

  #step(event: ReflectorEvent): readonly Effect[] {
    const { clock, random, sink } = this.#options;
    const before = this.#state;
    // Chance is drawn only where it is used, so that the number of objects does not shift the sequence.
    const chance = event.type === "object" || event.type === "bookmark" ? 0 : random.next();
    const { state, effects } = step(before, event, { now: clock.monotonic(), chance });
    this.#state = state;
    if (state.at !== before.at || state.failures !== before.failures) sink.moved(state);
    return effects;
  }

  async #wait(ms: number): Promise<void> {
    try {
      await sleep(this.#options.clock, ms, this.#signal);
    } catch (error) {
      if (this.#signal.aborted) return;
      throw error;
    }
    await this.#tell({ type: "waited" });
  }

  async #open(opening: Opening): Promise<void> {
    this.#options.sink.opening(opening);
    const deadlineMs = opening.as === "list" ? undefined : opening.timeoutSeconds * 1000 + DEADLINE_MARGIN_MS;
    const attention = new Attention(this.#options.clock, this.#signal, () => this.#patience(), deadlineMs);
    try {
      if (opening.as === "list") await this.#list(opening, attention);
      else await this.#watch(opening, attention);
      if (!this.#next && !this.#signal.aborted) await this.#tell({ type: "closed" });
    } catch (error) {
      if (this.#signal.aborted) return;
      if (attention.isLost) await this.#tell({ type: "silent" });
      else await this.#tell({ type: "trouble", trouble: troubleOf(error) });
    } finally {
      attention.end();
    }
  }

  #patience(): number {
    const { at } = this.#state;
    return at === "streaming" || at === "listing" ? patienceMs[at] : patienceMs.watching;
  }

  async #list(opening: Extract<Opening, { as: "list" }>, attention: Attention): Promise<void> {
    const { source, pageSize, sink } = this.#options;
    const { version, page } = opening;
    const chunks: Uint8Array[] = [];
    const body = source.listBytes(this.#kind(), {
      ...this.#selection(),
      limit: pageSize,
      ...(page === undefined ? {} : { continue: page }),
      ...(version === "" ? {} : { resourceVersion: version, resourceVersionMatch: "NotOlderThan" }),
      signal: attention.signal,
    });
    for await (const chunk of body) {
      attention.heard();
      chunks.push(chunk);
    }
    sink.heard();
    const bytes = Buffer.concat(chunks);
    const list = scanList(bytes);
    if (!list) throw new MalformedObjectError(`the server sent ${bytes.length} bytes that are not a list`);
    for (let item = 0; item < list.items.length; item += 2) {
      this.#pace.begin();
      sink.collect("ADDED", bytes, list.items[item] ?? 0, list.items[item + 1] ?? 0);
      if (this.#pace.isSliceOver()) await turn();
    }
    await this.#tell({
      type: "page",
      version: list.resourceVersion,
      next: list.continue === "" ? undefined : list.continue,
    });
  }

  async #watch(opening: Exclude<Opening, { as: "list" }>, attention: Attention): Promise<void> {
    const { source, sink } = this.#options;
    const { version, timeoutSeconds } = opening;
    const lines = source.watchLines(this.#kind(), {
      ...this.#selection(),
      ...(version === "" ? {} : { resourceVersion: version }),
      ...(opening.as === "stream"
        ? { sendInitialEvents: true, resourceVersionMatch: "NotOlderThan" as const }
        : {}),
      allowWatchBookmarks: true,
      timeoutSeconds,
      signal: attention.signal,
    });
    for await (const line of lines) {
      this.#pace.begin();
      attention.heard();
      sink.heard();
      const event = this.#receive(line);
      if (event) {
        const effects = this.#step(event);
        if (effects.length > 0) {
          await this.#perform(effects);
          if (this.#next) return;
        }
      }
      if (this.#pace.isSliceOver()) await turn();
      if (this.#signal.aborted) return;
    }
  }

  /** Gives a line to the sink. @returns what it means for the state. */
  #receive(line: Buffer): ReflectorEvent | undefined {
    const { sink } = this.#options;
    const event: LocatedEvent = scanEvent(line) ?? rewriteEvent(line);
    switch (event.type) {
      case "ADDED":
      case "MODIFIED":
      case "DELETED": {
        const bytes = event.line ?? line;
        if (this.#state.at !== "streaming")
          return { type: "object", version: sink.change(event.type, bytes, event.start, event.end) };
        sink.collect(event.type, bytes, event.start, event.end);
        return undefined;
      }
      case "BOOKMARK": {
        const object = parseObject(line, event);
        const version = object.metadata?.resourceVersion ?? "";
        const endsInitial = object.metadata?.annotations?.[INITIAL_EVENTS_END] === "true";
        if (this.#state.at === "watching" && version !== "") sink.bookmark(version);
        return { type: "bookmark", version, endsInitial };
      }
      case "ERROR": {
        const trouble = troubleOf(parseObject(line, event));
        return {
          type: "trouble",
          trouble:
            trouble.is === "passing" && trouble.retryAfterMs === undefined
              ? { ...trouble, is: "broken" }
              : trouble,
        };
      }
      default:
        throw new MalformedObjectError(`the server sent a watch event of type ${JSON.stringify(event.type)}`);
    }
  }

  #kind(): AnyKind {
    return this.#options.scope.metadataOnly ? metadataOnly(this.#options.kind) : this.#options.kind;
  }

  #selection() {
    const { namespace, labelSelector, fieldSelector } = this.#options.scope;
    return {
      ...(namespace === undefined ? {} : { namespace }),
      ...(labelSelector === undefined ? {} : { labelSelector }),
      ...(fieldSelector === undefined ? {} : { fieldSelector }),
    };
  }
}

/** Watches over one request: aborts it when nothing is heard for too long, or when it outlives its deadline. */
class Attention {
  readonly #clock: Clock;
  readonly #abort = new AbortController();
  readonly #patience: () => number;
  readonly #outer: AbortSignal;
  readonly #onOuterAbort = () => this.#abort.abort(this.#outer.reason);
  #lastHeard: number;
  #cancel: () => void = () => undefined;
  readonly #deadline: number;
  isLost = false;

  constructor(clock: Clock, outer: AbortSignal, patience: () => number, deadlineMs: number | undefined) {
    this.#clock = clock;
    this.#outer = outer;
    this.#patience = patience;
    this.#lastHeard = clock.monotonic();
    this.#deadline = deadlineMs === undefined ? Number.POSITIVE_INFINITY : this.#lastHeard + deadlineMs;
    if (outer.aborted) this.#onOuterAbort();
    else {
      outer.addEventListener("abort", this.#onOuterAbort, { once: true });
      this.#look();
    }
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  heard(): void {
    this.#lastHeard = this.#clock.monotonic();
  }

  end(): void {
    this.#cancel();
    this.#outer.removeEventListener("abort", this.#onOuterAbort);
    // A request that is left in the middle is ended by its iterator; this ends one that never answered.
    this.#abort.abort();
  }

  #look(): void {
    const now = this.#clock.monotonic();
    const until = Math.min(this.#lastHeard + this.#patience(), this.#deadline);
    if (now >= until) {
      this.isLost = true;
      this.#abort.abort(new Error("the server was silent for too long"));
      return;
    }
    this.#cancel = this.#clock.schedule(until - now, () => this.#look());
  }
}

/** An event and where its object is: in the line it came in, or in one of its own. */
interface LocatedEvent extends ScannedEvent {
  readonly line?: Buffer;
}

interface PartialEventObject {
  readonly kind?: string;
  readonly metadata?: {
    readonly resourceVersion?: string;
    readonly annotations?: Readonly<Record<string, string>>;
  };
}

function parseObject(
  line: Buffer,
  event: { readonly start: number; readonly end: number; readonly line?: Buffer },
) {
  const bytes = event.line ?? line;
  const parsed = parseJson(bytes.toString("utf8", event.start, event.end), line.length);
  return (typeof parsed === "object" && parsed !== null ? parsed : {}) as PartialEventObject;
}

/** A line that is not written as API servers write it: read it in full, and write it so. */
function rewriteEvent(line: Buffer): LocatedEvent {
  const event = parseJson(line.toString("utf8"), line.length);
  if (typeof event !== "object" || event === null || !("type" in event) || !("object" in event))
    throw new MalformedObjectError(
      `the server sent a line of ${line.length} bytes that is not a watch event`,
    );
  const bytes = Buffer.from(JSON.stringify(event.object));
  return { type: String(event.type), start: 0, end: bytes.length, line: bytes };
}

function parseJson(text: string, bytes: number): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new MalformedObjectError(`the server sent a line of ${bytes} bytes that is not JSON`);
  }
}
