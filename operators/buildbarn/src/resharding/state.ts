/** The phases of a change of the shards, in their order. */
export const reshardingPhases = [
  "Stable",
  "Starting",
  "Bridging",
  "Copying",
  "Switching",
  "Retiring",
] as const;

/**
 * How far a change of the number of shards has come.
 *
 * What goes wrong otherwise: while some clients place blobs by the old map and others by the new
 * one, neither finds what the other wrote, and builds fail. So clients go over in two rollouts, by
 * way of a map that is good beside either.
 */
export type Resharding =
  /** All clients place blobs on so many shards. */
  | { readonly phase: "Stable"; readonly shards: number }
  /** New shards start. No client asks them yet. */
  | { readonly phase: "Starting"; readonly from: number; readonly to: number }
  /** Clients are rolled to both maps. */
  | { readonly phase: "Bridging"; readonly from: number; readonly to: number }
  /** All clients have both maps: what is used is copied to its new place. */
  | { readonly phase: "Copying"; readonly from: number; readonly to: number; readonly since: number }
  /** Clients are rolled to the new map. */
  | { readonly phase: "Switching"; readonly from: number; readonly to: number }
  /** Shards that no client asks any more stop. */
  | { readonly phase: "Retiring"; readonly from: number; readonly to: number };

/** How clients place blobs: on so many shards, or on those of two maps at a time. */
export type ShardMap =
  | { readonly is: "single"; readonly shards: number }
  | { readonly is: "bridge"; readonly from: number; readonly to: number };

/** A client of the shards: a pod, or the template that more pods are made from. */
export interface Client {
  /** For messages, e.g. `pod worker-7f9-x2`. */
  readonly name: string;
  /** The map it was started with, as {@link mapText} writes it; undefined if that is not known. */
  readonly map: string | undefined;
}

/** What a step goes by. */
export interface Seen {
  /** How many shards there should be. */
  readonly wanted: number;
  /** How many shards are ready: all of the present template, from the first on. */
  readonly ready: number;
  /** How many shards still run, those that are stopping included. */
  readonly running: number;
  /** Every client there is, those that are stopping included. */
  readonly clients: readonly Client[];
  /** The time in milliseconds. */
  readonly now: number;
  /** How long blobs are copied, in milliseconds. */
  readonly hold: number;
}

/** The next state, which may be the same, and what is waited for. */
export interface Step {
  readonly state: Resharding;
  /** Why it goes no further yet. Undefined where nothing is waited for. */
  readonly waitingFor: string | undefined;
  /** When waiting alone brings the next phase, in milliseconds. */
  readonly until?: number;
}

/** Decides what comes next. Pure: whoever calls it stores the state before anything goes by it. */
export function step(state: Resharding, seen: Seen): Step {
  switch (state.phase) {
    case "Stable":
      if (seen.wanted === state.shards) return stay(state);
      return go({ phase: "Starting", from: state.shards, to: seen.wanted });
    case "Starting": {
      // No client knows of the change yet, so it can still be taken back.
      if (seen.wanted !== state.to) return go({ phase: "Stable", shards: state.from });
      const needed = Math.max(state.from, state.to);
      if (seen.ready < needed) return stay(state, `${seen.ready} of ${needed} shards are ready`);
      return go({ ...state, phase: "Bridging" });
    }
    case "Bridging":
      return whenClientsHave(state, seen, { ...state, phase: "Copying", since: seen.now });
    case "Copying": {
      const until = state.since + seen.hold;
      if (seen.now < until) return { ...stay(state, "blobs are copied as they are used"), until };
      return go({ phase: "Switching", from: state.from, to: state.to });
    }
    case "Switching":
      return whenClientsHave(state, seen, { ...state, phase: "Retiring" });
    case "Retiring":
      if (seen.running > state.to) return stay(state, `${seen.running - state.to} shards are stopping`);
      return go({ phase: "Stable", shards: state.to });
    default:
      return state satisfies never;
  }
}

function stay(state: Resharding, waitingFor?: string): Step {
  return { state, waitingFor };
}

function go(state: Resharding): Step {
  return { state, waitingFor: undefined };
}

/** Goes on once every client was started with the map of the present state. */
function whenClientsHave(state: Resharding, { clients }: Seen, next: Resharding): Step {
  const wanted = mapText(shardMap(state));
  const behind = clients.filter(({ map }) => map !== wanted);
  if (behind.length === 0) return go(next);
  const [first] = behind.map(({ name }) => name).toSorted();
  return stay(state, `${behind.length} of ${clients.length} clients have another shard map: ${first}`);
}

/** How clients place blobs in a state. */
export function shardMap(state: Resharding): ShardMap {
  switch (state.phase) {
    case "Stable":
      return { is: "single", shards: state.shards };
    case "Starting":
      return { is: "single", shards: state.from };
    case "Bridging":
    case "Copying":
      return { is: "bridge", from: state.from, to: state.to };
    case "Switching":
    case "Retiring":
      return { is: "single", shards: state.to };
    default:
      return state satisfies never;
  }
}

/** How many shards run in a state. */
export function shardsOf(state: Resharding): number {
  switch (state.phase) {
    case "Stable":
      return state.shards;
    case "Retiring":
      return state.to;
    default:
      return Math.max(state.from, state.to);
  }
}

/** A map in a word, for annotations of pods: `3`, or `2-3` for both. */
export function mapText(map: ShardMap): string {
  return map.is === "single" ? String(map.shards) : `${map.from}-${map.to}`;
}
