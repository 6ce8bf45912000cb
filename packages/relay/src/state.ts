/** The two ends of a relay: who connected, and where the connection leads. */
export type Side = "client" | "upstream";

/** How a relay ended. */
export type Outcome =
  /** Both sides ended their half, and each received all that the other had sent. */
  | { readonly how: "closed" }
  /** A side broke off before that: it closed without an end, or its socket failed. */
  | { readonly how: "lost"; readonly side: Side; readonly error: Error | undefined }
  /** A limit of the options was reached. */
  | { readonly how: "limit"; readonly limit: "idle" | "total" }
  /** `abort` was called. */
  | { readonly how: "aborted"; readonly reason: unknown };

/**
 * One direction: `flowing`; `ending`, when its source has ended and its sink has yet to flush;
 * `done`.
 */
export type Direction = "flowing" | "ending" | "done";

/** A relay: both directions, each named for its source, or the outcome. */
export type State =
  | { readonly at: "joined"; readonly client: Direction; readonly upstream: Direction }
  | { readonly at: "over"; readonly outcome: Outcome };

/** What can happen to a relay. */
export type Event =
  /** `side` will send no more: its FIN, or TLS close_notify, has been read. */
  | { readonly type: "ended"; readonly side: Side }
  /** Everything that `side` sent, and its end, has been written to the other side. */
  | { readonly type: "flushed"; readonly side: Side }
  /** The socket of `side` is closed. */
  | { readonly type: "closed"; readonly side: Side; readonly error: Error | undefined }
  | { readonly type: "limit"; readonly limit: "idle" | "total" }
  | { readonly type: "aborted"; readonly reason: unknown };

/** Both directions flow. */
export const joined: State = { at: "joined", client: "flowing", upstream: "flowing" };

/**
 * The state after an event. Pure. The first outcome stands: nothing changes a relay that is over.
 */
export function step(state: State, event: Event): State {
  if (state.at === "over") return state;
  switch (event.type) {
    case "ended":
      return state[event.side] === "flowing" ? { ...state, [event.side]: "ending" } : state;
    case "flushed": {
      if (state[event.side] !== "ending") return state;
      const after: State = { ...state, [event.side]: "done" };
      const isClosed = after.client === "done" && after.upstream === "done";
      return isClosed ? { at: "over", outcome: { how: "closed" } } : after;
    }
    case "closed": {
      // A side that has sent and received all may close before the other has received the last of
      // it.
      const isDone = state[event.side] !== "flowing" && state[otherSide(event.side)] === "done";
      if (isDone && event.error === undefined) return state;
      return { at: "over", outcome: { how: "lost", side: event.side, error: event.error } };
    }
    case "limit":
      return { at: "over", outcome: { how: "limit", limit: event.limit } };
    case "aborted":
      return { at: "over", outcome: { how: "aborted", reason: event.reason } };
  }
}

/** The side that is not `side`. */
export function otherSide(side: Side): Side {
  return side === "client" ? "upstream" : "client";
}
