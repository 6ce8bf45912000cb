/** What kept a request from doing its work, in the terms that decide what happens next. */
export type RequestFailure =
  /** The version asked for is too old (410 in any form): only a fresh list helps. */
  | { readonly is: "expired"; readonly message: string }
  /**
   * What is held may not be what the server has, even under the same version: the version asked for
   * is from the server's future, so it went back in time (a backup was restored), or what it sent
   * could not be read in full. Only a fresh list helps, and nothing that is held may be reused for
   * what that brings.
   */
  | { readonly is: "unreliable"; readonly message: string }
  /** The server does not take the request as it is (400, 403, 422). */
  | { readonly is: "refused"; readonly message: string; readonly forGood: boolean }
  /** The server does not serve this kind. */
  | { readonly is: "missing"; readonly message: string }
  /** The server ended a watch with another error. */
  | { readonly is: "broken"; readonly message: string }
  /**
   * No server answered. Retries burden no server, so they are frequent, and do not count as
   * failures of a server that answers later.
   */
  | { readonly is: "unreachable"; readonly message: string; readonly isOutage?: boolean }
  /** Anything else: 5xx, 429. It may pass. */
  | {
      readonly is: "passing";
      readonly message: string;
      readonly retryAfterMs?: number;
      /** Every kind fails so: no server answers, or none accepts our credentials. */
      readonly isOutage?: boolean;
    };

/** What is remembered from one state to the next. */
export interface Memory {
  /** The newest version seen; where a watch resumes. */
  readonly version: string | undefined;
  /**
   * Whether to ask for the current objects as a stream. False once the server has shown that it
   * cannot.
   */
  readonly streams: boolean;
  /** Failures in a row, for the backoff. */
  readonly failures: number;
  /** Whether each of those failures was that no server answered. */
  readonly isUnreachable: boolean;
  /** When an expired version last led to a list without a wait. */
  readonly relistedAt: number | undefined;
  /** Since when it has watched without a failure. */
  readonly healthySince: number | undefined;
  /**
   * Whether what is held may be reused for what a list brings, where their versions are the same.
   */
  readonly isReliable: boolean;
}

/** Where the reflector stands. */
export type ReflectorState = Memory &
  (
    | { readonly at: "stopped" }
    /** Receives the current objects as the start of a watch. */
    | { readonly at: "streaming" }
    /** Receives the current objects page by page. */
    | { readonly at: "listing"; readonly page: string | undefined }
    /** Receives changes. */
    | { readonly at: "watching"; readonly openedAt: number; readonly heard: boolean }
    /** Waits out a failure. */
    | { readonly at: "waiting"; readonly next: "list" | "watch"; readonly why: RequestFailure }
  );

/** What the state of a reflector depends on. */
export type ReflectorEvent =
  | { readonly type: "start" }
  /** An object came, with this version. */
  | { readonly type: "object"; readonly version: string }
  | { readonly type: "bookmark"; readonly version: string; readonly endsInitial: boolean }
  /** A page of a list came, whole. */
  | { readonly type: "page"; readonly version: string; readonly next: string | undefined }
  /** The server ended the stream cleanly. */
  | { readonly type: "closed" }
  /** Nothing came for as long as `patience` says. */
  | { readonly type: "silent" }
  | { readonly type: "failed"; readonly failure: RequestFailure }
  /** The wait is over. */
  | { readonly type: "waited" };

/** A request for objects. */
export type Opening =
  | { readonly as: "stream"; readonly version: string; readonly timeoutSeconds: number }
  | { readonly as: "list"; readonly version: string; readonly page: string | undefined }
  | { readonly as: "watch"; readonly version: string; readonly timeoutSeconds: number };

/** What is known of a full list before it comes. */
export interface ListStart {
  /** Whether an object of the same version as the one held may be treated as the same. */
  readonly reusesHeld: boolean;
  /**
   * Whether it will show every write that was answered by now: one that asks for no version is read
   * from what the server has at present.
   */
  readonly isConsistent: boolean;
}

/** How objects that came are taken: one of a watch, or a page of a list. */
export type Take =
  /** They belong to the list under way. */
  | "collect"
  /** They change what is held. */
  | "apply";

/** What is to be done after a step. */
export type Effect =
  /** Forget what was collected: a full list starts. */
  | { readonly do: "begin"; readonly list: ListStart }
  /** What was collected is the whole state at this version: put it in the place of what is held. */
  | { readonly do: "commit"; readonly version: string }
  /** The kind was removed, and its objects with it. */
  | { readonly do: "clear" }
  /** Everything up to this version has been received. */
  | { readonly do: "reach"; readonly version: string }
  /** Leave the present request and make this one. */
  | { readonly do: "open"; readonly opening: Opening }
  | { readonly do: "wait"; readonly ms: number };

/** The result of a step: the next state, and what is to be done. */
export interface Transition {
  /**
   * Whether the objects that came are taken, and how; undefined where they are dropped. Done before
   * the state is entered: what could not be taken has not been seen, and a watch resumes before it.
   */
  readonly take?: Take;
  readonly state: ReflectorState;
  /** What follows, in this order. */
  readonly effects: readonly Effect[];
}

/** The time, and a random number, for a step. */
export interface Moment {
  /** Monotonic milliseconds. */
  readonly now: number;
  /** A number in [0, 1). */
  readonly chance: number;
}

/**
 * The first wait after a failure, what each further one multiplies it by, and the longest, before
 * jitter doubles it at most.
 */
export const backoff = { initialMs: 800, factor: 2, maxMs: 30_000, healthyMs: 120_000 } as const;

/**
 * The same while no server answers. Short, for this is how long after its return the server is
 * found again.
 */
export const unreachableBackoff = { initialMs: 400, maxMs: 3_000 } as const;

/**
 * A version that expires sooner than this after a list has something wrong with it, and the next
 * list has to wait.
 */
const RELIST_MS = 10_000;

/**
 * A watch that ends sooner than this without a word counts as a failure, or a server that cannot
 * keep one would be asked without end.
 */
const SHORT_WATCH_MS = 1_000;

/** Where every reflector begins: nothing is known, and a list is the first request. */
export const initialState: ReflectorState = {
  at: "stopped",
  version: undefined,
  streams: true,
  failures: 0,
  isUnreachable: false,
  relistedAt: undefined,
  healthySince: undefined,
  isReliable: true,
};

/**
 * How long each state may receive nothing before the peer counts as dead. A stream that does not
 * say when it is complete is left soon.
 */
export const patienceMs = { streaming: 10_000, listing: 60_000, watching: 120_000 } as const;

const none: readonly Effect[] = [];

/**
 * Decides what to do next. Pure: all IO is in `Reflector`.
 *
 * Flow: stream (or list) the current objects, commit them, watch for changes, resume after a close
 * from the newest version seen. A version that the server no longer has leads to a fresh list,
 * everything else to a wait and another try.
 */
export function step(state: ReflectorState, event: ReflectorEvent, moment: Moment): Transition {
  if (event.type === "start") return list(state, moment, state.version ?? "");
  switch (state.at) {
    case "stopped":
      return stay(state);
    case "streaming":
      return streaming(state, event, moment);
    case "listing":
      return listing(state, event, moment);
    case "watching":
      return watching(state, event, moment);
    case "waiting":
      if (event.type !== "waited") return stay(state);
      return state.next === "list" ? list(state, moment, state.version ?? "") : watch(state, moment);
  }
}

type In<At extends ReflectorState["at"]> = Extract<ReflectorState, { at: At }>;

function streaming(state: In<"streaming">, event: ReflectorEvent, moment: Moment): Transition {
  switch (event.type) {
    case "object":
      return { take: "collect", state, effects: none };
    case "bookmark":
      if (!event.endsInitial) return stay(state);
      // The same stream goes on with changes.
      return {
        state: {
          ...healthy(state, moment, event.version),
          at: "watching",
          openedAt: moment.now,
          heard: true,
        },
        effects: [{ do: "commit", version: event.version }],
      };
    case "silent":
      return list({ ...state, streams: false }, moment, "");
    case "closed":
      return pause(state, moment, "list", {
        is: "passing",
        message: "the server ended the stream of initial objects before it was complete",
      });
    case "failed":
      if (event.failure.is === "refused")
        return pages(event.failure.forGood ? { ...state, streams: false } : state, "");
      return unlisted(state, event.failure, moment);
    default:
      return stay(state);
  }
}

function listing(state: In<"listing">, event: ReflectorEvent, moment: Moment): Transition {
  switch (event.type) {
    case "page": {
      if (event.next !== undefined) return { take: "collect", ...page(state, "", event.next) };
      const next = watch(healthy(state, moment, event.version), moment);
      return {
        take: "collect",
        state: next.state,
        effects: [{ do: "commit", version: event.version }, ...next.effects],
      };
    }
    case "failed":
      return unlisted(state, event.failure, moment);
    case "silent":
    case "closed":
      return pause(state, moment, "list", { is: "passing", message: "the server did not finish the list" });
    default:
      return stay(state);
  }
}

function watching(state: In<"watching">, event: ReflectorEvent, moment: Moment): Transition {
  switch (event.type) {
    case "object":
      return { take: "apply", state: heard(state, moment, event.version), effects: none };
    case "bookmark":
      return {
        state: heard(state, moment, event.version),
        effects: event.version === "" ? none : [{ do: "reach", version: event.version }],
      };
    case "silent":
      // A server sends bookmarks. A server that sends nothing at all from the start may have been
      // asked to go on from its own future, which it waits for silently. A list answers it.
      return state.heard ? watch(state, moment) : list(state, moment, state.version ?? "");
    case "closed":
      if (!state.heard && moment.now - state.openedAt < SHORT_WATCH_MS)
        return pause(state, moment, "watch", {
          is: "passing",
          message: "the server ended the watch at once",
        });
      return watch(state, moment);
    case "failed": {
      const { failure } = event;
      if (failure.is === "expired" || failure.is === "unreliable") return afresh(state, failure, moment);
      // A list says for certain whether the kind was removed, or what else is wrong.
      if (failure.is === "missing") return list(state, moment, state.version ?? "");
      return pause(
        state,
        moment,
        failure.is === "passing" || failure.is === "unreachable" ? "watch" : "list",
        failure,
      );
    }
    default:
      return stay(state);
  }
}

/** A watch goes on from this version. */
function heard(state: In<"watching">, moment: Moment, version: string): ReflectorState {
  return {
    ...state,
    ...reached(state),
    heard: true,
    healthySince: state.healthySince ?? moment.now,
    version: version === "" ? state.version : version,
  };
}

/** A failure before the current objects were complete. */
function unlisted(state: ReflectorState, failure: RequestFailure, moment: Moment): Transition {
  if (failure.is === "expired" || failure.is === "unreliable") return afresh(state, failure, moment);
  if (failure.is !== "missing") return pause(state, moment, "list", failure);
  const paused = pause({ ...state, version: undefined }, moment, "list", failure);
  return { state: paused.state, effects: [{ do: "clear" }, ...paused.effects] };
}

/**
 * The version held is of no more use, which is not a failure, whatever went before: list at once,
 * unless that was just done.
 */
function afresh(state: ReflectorState, failure: RequestFailure, moment: Moment): Transition {
  const isReliable = state.isReliable && failure.is !== "unreliable";
  const forgotten = { ...state, ...reached(state), version: undefined, isReliable };
  if (state.relistedAt !== undefined && moment.now - state.relistedAt < RELIST_MS)
    return pause(forgotten, moment, "list", failure);
  return list({ ...forgotten, relistedAt: moment.now }, moment, "");
}

function list(state: ReflectorState, moment: Moment, version: string): Transition {
  if (!state.streams) return pages(state, version);
  return {
    state: { ...memory(state), at: "streaming" },
    effects: [
      begin(state, version),
      { do: "open", opening: { as: "stream", version, timeoutSeconds: timeoutSeconds(moment) } },
    ],
  };
}

/** A list by pages, from the first on. */
function pages(state: ReflectorState, version: string): Transition {
  const first = page(state, version, undefined);
  return { state: first.state, effects: [begin(state, version), ...first.effects] };
}

function page(state: ReflectorState, version: string, next: string | undefined): Transition {
  return {
    state: { ...memory(state), at: "listing", page: next },
    effects: [{ do: "open", opening: { as: "list", version, page: next } }],
  };
}

function begin({ isReliable }: Memory, version: string): Effect {
  return { do: "begin", list: { reusesHeld: isReliable, isConsistent: version === "" } };
}

function watch(state: Memory, moment: Moment): Transition {
  return {
    state: { ...memory(state), at: "watching", openedAt: moment.now, heard: false },
    effects: [
      {
        do: "open",
        opening: { as: "watch", version: state.version ?? "", timeoutSeconds: timeoutSeconds(moment) },
      },
    ],
  };
}

function pause(
  state: ReflectorState,
  moment: Moment,
  next: "list" | "watch",
  why: RequestFailure,
): Transition {
  const isUnreachable = why.is === "unreachable";
  const failures = isUnreachable === state.isUnreachable ? restored(state, moment) : 0;
  const { initialMs, maxMs } = isUnreachable ? unreachableBackoff : backoff;
  const full = Math.min(maxMs, initialMs * backoff.factor ** failures);
  const asked = why.is === "passing" ? (why.retryAfterMs ?? 0) : 0;
  return {
    state: {
      ...memory(state),
      failures: failures + 1,
      isUnreachable,
      healthySince: undefined,
      at: "waiting",
      next,
      why,
    },
    effects: [{ do: "wait", ms: Math.max(asked, full * (1 + moment.chance)) }],
  };
}

function stay(state: ReflectorState): Transition {
  return { state, effects: none };
}

function memory(state: Memory): Memory {
  const { version, streams, failures, isUnreachable, relistedAt, healthySince, isReliable } = state;
  return { version, streams, failures, isUnreachable, relistedAt, healthySince, isReliable };
}

/** A list is complete. */
function healthy(state: Memory, moment: Moment, version: string): Memory {
  return {
    ...memory(state),
    ...reached(state),
    version,
    healthySince: state.healthySince ?? moment.now,
    isReliable: true,
  };
}

/** The server answers: that it did not before is over and done with. */
function reached({ failures, isUnreachable }: Memory): Pick<Memory, "failures" | "isUnreachable"> {
  return { failures: isUnreachable ? 0 : failures, isUnreachable: false };
}

/** Failures long past do not count. */
function restored(state: Memory, moment: Moment): number {
  const isRestored = state.healthySince !== undefined && moment.now - state.healthySince >= backoff.healthyMs;
  return isRestored ? 0 : state.failures;
}

/** Five to ten minutes, so that the watches of many clients do not all end together. */
function timeoutSeconds({ chance }: Moment): number {
  return Math.floor(300 + 300 * chance);
}
