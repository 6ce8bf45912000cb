import { type AnyKind, metadataOnly, statusOf, TransportError } from "@windlass/client";
import { knownVersion, loadMessages, messageOf } from "@windlass/client/protobuf";
import { type Clock, type Random, sleep } from "@windlass/clock";
import type { InformerScope } from "./contract.ts";
import { type ListWatcher, requestFailureOf } from "./list-watcher.ts";
import { Pace, turn } from "./pace.ts";
import { MalformedObjectError, type Received, receive } from "./received.ts";
import {
  type Effect,
  initialState,
  type ListStart,
  type Opening,
  patienceMs,
  type ReflectorEvent,
  type ReflectorState,
  step,
  type Transition,
} from "./reflector.ts";
import { jsonFormat, protobufFormat, type WireFormat } from "./wire-format.ts";

/** What happened to an object, by the name of its watch event. */
export type ChangeType = "ADDED" | "MODIFIED" | "DELETED";

/** Takes what the reflector receives. */
export interface ReflectorSink {
  /** A full list starts: forget what was collected for an earlier one. */
  begin(list: ListStart): void;
  /** An object of the list that is being received, or its end. @throws MalformedObjectError */
  collect(type: ChangeType, object: Received): void;
  /** What was collected is everything there is at this version. */
  commit(version: string): Promise<void>;
  /** The kind is not served, so there is no object of it. */
  clear(): Promise<void>;
  /** An object changed. @throws MalformedObjectError */
  change(type: ChangeType, object: Received): void;
  /** Everything up to this version has been received. */
  bookmark(version: string): void;
  /** The reflector went from one state to another. */
  moved(state: ReflectorState): void;
  /** A request is about to be made. */
  opening(opening: Opening): void;
  /** The server gave a sign of life. @param now by the monotonic clock */
  heard(now: number): void;
}

/** What a reflector needs: where it lists and watches, and what takes the objects. */
export interface ReflectorOptions {
  readonly source: ListWatcher;
  readonly kind: AnyKind;
  readonly scope: InformerScope;
  readonly clock: Clock;
  readonly random: Random;
  readonly sink: ReflectorSink;
  /** Objects per page where the server does not stream. */
  readonly pageSize: number;
}

/** Beyond what the server was asked for, a watch is given this long to end. */
const DEADLINE_MARGIN_MS = 30_000;

/**
 * The most that a page of a list may be, decompressed. 500 objects of the largest size that etcd
 * stores are less, and so is the whole list of most servers that do not know pages.
 */
const LARGEST_PAGE = 2 ** 30;

/** The server has no protobuf for the kind. */
const NOT_ACCEPTABLE = 406;

const INITIAL_EVENTS_END = "k8s.io/initial-events-end";

/** Keeps a sink up to date. */
export class Reflector {
  readonly #options: ReflectorOptions;
  readonly #signal: AbortSignal;
  readonly #json: WireFormat;
  #state: ReflectorState = initialState;
  #next: Effect | undefined;
  readonly #pace: Pace;
  #isJsonOnly = false;
  /** Why what is held cannot be relied on, until it has been asked for again. */
  #doubt: string | undefined;
  #watchdog: RequestWatchdog | undefined;

  constructor(options: ReflectorOptions, signal: AbortSignal) {
    this.#options = options;
    this.#signal = signal;
    this.#json = jsonFormat(options.source);
    this.#pace = new Pace(options.clock);
  }

  /**
   * Asks for JSON from now on, and for everything again. For when what the server sends as protobuf
   * is not understood in full.
   */
  readJson(): void {
    if (this.#isJsonOnly) return;
    this.#isJsonOnly = true;
    this.distrust("what the server sent was not read in full");
  }

  /** Asks for everything again: what is held is not what the server has. */
  distrust(why: string): void {
    this.#doubt = why;
    this.#watchdog?.abort();
  }

  /**
   * Runs until the signal is aborted. Resolves then; never rejects except for a fault in the sink
   * itself.
   */
  async run(): Promise<void> {
    await this.#tell({ type: "start" });
    for (let effect = this.#next; effect && !this.#signal.aborted; effect = this.#next) {
      this.#next = undefined;
      if (effect.do === "wait") await this.#wait(effect.ms);
      else if (effect.do === "open") await this.#open(effect.opening);
    }
  }

  async #tell(event: ReflectorEvent): Promise<void> {
    await this.#perform(this.#move(event));
  }

  /** Does what a step asks for; a request or a wait is left for the loop in `run`. */
  async #perform(effects: readonly Effect[]): Promise<void> {
    const { sink } = this.#options;
    for (const effect of effects) {
      switch (effect.do) {
        case "begin":
          sink.begin(effect.list);
          break;
        case "commit":
          await sink.commit(effect.version);
          break;
        case "clear":
          await sink.clear();
          break;
        case "reach":
          sink.bookmark(effect.version);
          break;
        default:
          this.#next = effect;
      }
    }
  }

  /** Decides what an event means. Nothing has changed before {@link Reflector.#enter}. */
  #step(event: ReflectorEvent): Transition {
    const { clock, random } = this.#options;
    // Chance is drawn only where it is used, so that the number of objects does not shift the
    // sequence.
    const chance = event.type === "object" || event.type === "bookmark" ? 0 : random.next();
    return step(this.#state, event, { now: clock.monotonic(), chance });
  }

  #enter(state: ReflectorState): void {
    const before = this.#state;
    this.#state = state;
    if (state.at !== before.at || state.failures !== before.failures) this.#options.sink.moved(state);
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
    if (this.#doubt !== undefined) return this.#relist(this.#doubt);
    this.#options.sink.opening(opening);
    const deadlineMs = opening.as === "list" ? undefined : opening.timeoutSeconds * 1000 + DEADLINE_MARGIN_MS;
    const watchdog = new RequestWatchdog(
      this.#options.clock,
      this.#signal,
      () => this.#patience(),
      deadlineMs,
    );
    this.#watchdog = watchdog;
    const format = await this.#format();
    try {
      if (opening.as === "list") await this.#list(format, opening, watchdog);
      else await this.#watch(format, opening, watchdog);
      if (!this.#next && !this.#signal.aborted) await this.#tell({ type: "closed" });
    } catch (error) {
      if (this.#signal.aborted) return;
      if (this.#doubt !== undefined) await this.#relist(this.#doubt);
      else if (format !== this.#json && statusOf(error)?.code === NOT_ACCEPTABLE) {
        this.#isJsonOnly = true;
        this.#next = { do: "open", opening };
      } else if (watchdog.isLost) await this.#tell({ type: "silent" });
      else await this.#tell({ type: "failed", failure: requestFailureOf(error) });
    } finally {
      watchdog.end();
    }
  }

  async #relist(why: string): Promise<void> {
    this.#doubt = undefined;
    await this.#tell({ type: "failed", failure: { is: "unreliable", message: why } });
  }

  /**
   * Protobuf is a third of the server's work and of ours, but it can only be read by who knows all
   * of the kind's fields.
   */
  async #format(): Promise<WireFormat> {
    const { source, kind, scope } = this.#options;
    const { protobuf } = source;
    if (!protobuf || this.#isJsonOnly) return this.#json;
    await loadMessages();
    if (scope.metadataOnly) return protobufFormat(protobuf);
    if (!messageOf(kind)) return this.#json;
    try {
      const server = await protobuf.serverVersion();
      const known = knownVersion();
      const isKnown =
        server.major < known.major || (server.major === known.major && server.minor <= known.minor);
      return isKnown ? protobufFormat(protobuf) : this.#json;
    } catch {
      // Whatever is wrong with the server, the next request will show it.
      return this.#json;
    }
  }

  #patience(): number {
    const { at } = this.#state;
    return at === "streaming" || at === "listing" ? patienceMs[at] : patienceMs.watching;
  }

  async #list(
    format: WireFormat,
    opening: Extract<Opening, { as: "list" }>,
    watchdog: RequestWatchdog,
  ): Promise<void> {
    const { pageSize, sink, clock } = this.#options;
    const { version, page } = opening;
    const chunks: Uint8Array[] = [];
    let length = 0;
    const body = format.list(this.#kind(), {
      ...this.#selection(),
      limit: pageSize,
      ...(page === undefined ? {} : { continue: page }),
      ...(version === "" ? {} : { resourceVersion: version, resourceVersionMatch: "NotOlderThan" }),
      signal: watchdog.signal,
    });
    for await (const chunk of body) {
      watchdog.heard(clock.monotonic());
      chunks.push(chunk);
      length += chunk.byteLength;
      if (length > LARGEST_PAGE)
        throw new TransportError(
          "RESPONSE_TOO_LARGE",
          `a page of ${pageSize} objects is larger than the ${LARGEST_PAGE} bytes that are read into memory; set a smaller pageSize, or a namespace or selector`,
        );
    }
    sink.heard(clock.monotonic());
    const bytes = Buffer.concat(chunks, length);
    const list = format.scanList(bytes);
    const { take, state, effects } = this.#step({
      type: "page",
      version: list.resourceVersion,
      next: list.continue === "" ? undefined : list.continue,
    });
    if (take !== undefined) await this.#collectPage(bytes, list.items);
    this.#enter(state);
    await this.#perform(effects);
  }

  /** @param items where each object of the page begins and ends */
  async #collectPage(bytes: Buffer, items: readonly number[]): Promise<void> {
    for (let item = 0; item < items.length; item += 2) {
      this.#pace.begin();
      this.#options.sink.collect("ADDED", receive(bytes, items[item] ?? 0, items[item + 1] ?? 0));
      if (this.#pace.isSliceOver()) await turn();
    }
  }

  async #watch(
    format: WireFormat,
    opening: Exclude<Opening, { as: "list" }>,
    watchdog: RequestWatchdog,
  ): Promise<void> {
    const { sink, clock } = this.#options;
    const { version, timeoutSeconds } = opening;
    const received = format.watch(this.#kind(), {
      ...this.#selection(),
      ...(version === "" ? {} : { resourceVersion: version }),
      ...(opening.as === "stream"
        ? { sendInitialEvents: true, resourceVersionMatch: "NotOlderThan" as const }
        : {}),
      allowWatchBookmarks: true,
      timeoutSeconds,
      signal: watchdog.signal,
    });
    for await (const bytes of received) {
      const now = clock.monotonic();
      this.#pace.begin(now);
      watchdog.heard(now);
      sink.heard(now);
      const effects = this.#receive(format, bytes);
      if (effects.length > 0) {
        await this.#perform(effects);
        if (this.#next) return;
      }
      if (this.#pace.isSliceOver()) await turn();
      if (this.#signal.aborted) return;
    }
  }

  /** Takes an event of a watch. @returns what is to be done after it. */
  #receive(format: WireFormat, received: Buffer): readonly Effect[] {
    const { type, start, end, bytes = received } = format.scanEvent(received);
    switch (type) {
      case "ADDED":
      case "MODIFIED":
      case "DELETED":
        return this.#receiveObject(type, receive(bytes, start, end));
      case "BOOKMARK": {
        const { metadata } = format.readBookmark(bytes, start, end);
        const version = metadata?.resourceVersion ?? "";
        const endsInitial = metadata?.annotations?.[INITIAL_EVENTS_END] === "true";
        return this.#move({ type: "bookmark", version, endsInitial });
      }
      case "ERROR": {
        const failure = requestFailureOf(format.readStatus(bytes, start, end));
        return this.#move({
          type: "failed",
          failure:
            failure.is === "passing" && failure.retryAfterMs === undefined
              ? { ...failure, is: "broken" }
              : failure,
        });
      }
      default:
        throw new MalformedObjectError(`the server sent a watch event of type ${JSON.stringify(type)}`);
    }
  }

  #receiveObject(type: ChangeType, object: Received): readonly Effect[] {
    const { sink } = this.#options;
    const { take, state, effects } = this.#step({
      type: "object",
      version: object.scan.resourceVersion,
    });
    if (take === "apply") sink.change(type, object);
    else if (take === "collect") sink.collect(type, object);
    this.#enter(state);
    return effects;
  }

  #move(event: ReflectorEvent): readonly Effect[] {
    const { state, effects } = this.#step(event);
    this.#enter(state);
    return effects;
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

/**
 * Watches over one request: aborts it when nothing is heard for too long, or when it outlives its
 * deadline.
 */
class RequestWatchdog {
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

  /** Ends the request. */
  abort(): void {
    this.#abort.abort(new Error("what is held is to be listed again"));
  }

  heard(now: number): void {
    this.#lastHeard = now;
  }

  end(): void {
    this.#cancel();
    this.#outer.removeEventListener("abort", this.#onOuterAbort);
    // A request that is left in the middle is ended by its iterator; this ends one that never
    // answered.
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
