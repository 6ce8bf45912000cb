/** The phases of a change of the shards, in their order. */
export const reshardingPhases = [
  "Stable",
  "Starting",
  "Bridging",
  "Redirecting",
  "Copying",
  "Switching",
  "Retiring",
] as const;

/**
 * How far a change of the number of shards has come.
 *
 * What goes wrong otherwise: while some clients place blobs by the old map and others by the new
 * one, neither finds what the other wrote, and builds fail. So clients go over by way of both maps.
 *
 * Results are the harder part: they are written to one place only. All who read results must look
 * in both places before the first client writes to the new one; else they run the action again.
 * Workers write results and read none, so they are spared the first of the three rollouts, which
 * would have them drain once more.
 */
export type Resharding =
  /** All clients place blobs on so many shards. */
  | { readonly phase: "Stable"; readonly shards: number }
  /** New shards start. No client asks them yet. */
  | { readonly phase: "Starting"; readonly from: number; readonly to: number }
  /** Clients that read results are rolled to both maps. They write results to the old place. */
  | { readonly phase: "Bridging"; readonly from: number; readonly to: number }
  /** All clients are rolled to both maps, and to writing results to the new place. */
  | { readonly phase: "Redirecting"; readonly from: number; readonly to: number }
  /** All clients have both maps: what is used is copied to its new place. */
  | { readonly phase: "Copying"; readonly from: number; readonly to: number; readonly since: number }
  /** Clients are rolled to the new map. */
  | { readonly phase: "Switching"; readonly from: number; readonly to: number }
  /** Shards that no client asks any more stop. */
  | { readonly phase: "Retiring"; readonly from: number; readonly to: number };

/** How clients place blobs: on so many shards, or on those of two maps at a time. */
export type ShardMap =
  | { readonly is: "single"; readonly shards: number }
  | {
      readonly is: "bridge";
      readonly from: number;
      readonly to: number;
      /** In which of the maps results are written, and looked for first. */
      readonly results: "from" | "to";
    };

/** What a client does with the results of actions. */
export type ResultUse = "reads" | "writes";

/** A client of the shards: a pod, or the template that more pods are made from. */
export interface Client {
  /** For messages, e.g. `pod worker-7f9-x2`. */
  readonly name: string;
  /** The map it was started with, as {@link mapText} writes it; undefined if that is not known. */
  readonly map: string | undefined;
  /** `writes` if it never looks for a result, as workers. */
  readonly results: ResultUse;
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
      return whenClientsHave(state, seen, { ...state, phase: "Redirecting" });
    case "Redirecting":
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

/** Goes on once every client was started with its map of the present state. */
function whenClientsHave(state: Resharding, { clients }: Seen, next: Resharding): Step {
  const behind = clients
    .map(({ name, map, results }) => ({ name, map, wanted: mapText(shardMap(state, results)) }))
    .filter(({ map, wanted }) => map !== wanted)
    .toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const [first] = behind;
  if (!first) return go(next);
  return stay(
    state,
    `${behind.length} of ${clients.length} clients have another shard map: ${first.name} is to have ${first.wanted}`,
  );
}

/** How a client places blobs in a state. */
export function shardMap(state: Resharding, use: ResultUse): ShardMap {
  switch (state.phase) {
    case "Stable":
      return { is: "single", shards: state.shards };
    case "Starting":
      return { is: "single", shards: state.from };
    case "Bridging":
      return use === "writes"
        ? { is: "single", shards: state.from }
        : { is: "bridge", from: state.from, to: state.to, results: "from" };
    case "Redirecting":
    case "Copying":
      return { is: "bridge", from: state.from, to: state.to, results: "to" };
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

/** A map in a word, for annotations of pods: `3`; `2+3` for both with results in the old one, and `2-3` with results in the new one. */
export function mapText(map: ShardMap): string {
  if (map.is === "single") return String(map.shards);
  return `${map.from}${map.results === "from" ? "+" : "-"}${map.to}`;
}
