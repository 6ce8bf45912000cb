import {
  askedPods,
  isDrainOf,
  isSameLayout,
  isSamePlacement,
  type Layout,
  layoutText,
  parseLayout,
  type Ring,
  ringsOf,
  type ShardPod,
} from "./layout.ts";

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
 * How far a change of the shards has come.
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
  /** All clients place blobs by one layout. */
  | { readonly phase: "Stable"; readonly at: Layout }
  /** New shards start. No client asks them yet. */
  | { readonly phase: "Starting"; readonly from: Layout; readonly to: Layout; readonly since: number }
  /** Clients that read results are rolled to both maps. They write results to the old place. */
  | { readonly phase: "Bridging"; readonly from: Layout; readonly to: Layout }
  /** All clients are rolled to both maps, and to writing results to the new place. */
  | { readonly phase: "Redirecting"; readonly from: Layout; readonly to: Layout }
  /** All clients have both maps: what is used is copied to its new place. */
  | { readonly phase: "Copying"; readonly from: Layout; readonly to: Layout; readonly since: number }
  /** Clients are rolled to the new map. */
  | { readonly phase: "Switching"; readonly from: Layout; readonly to: Layout }
  /** Shards that no client asks any more stop. */
  | { readonly phase: "Retiring"; readonly from: Layout; readonly to: Layout };

/** How clients place blobs: by one layout, or by two at a time. */
export type ShardMap =
  | { readonly is: "single"; readonly at: Layout }
  | {
      readonly is: "bridge";
      readonly from: Layout;
      readonly to: Layout;
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
  /** What the shards should be. */
  readonly wanted: Layout;
  /** The shards that are ready, with the present template. */
  readonly ready: readonly ShardPod[];
  /**
   * How many shards still run that the present state has no place for, those that are stopping
   * included.
   */
  readonly leaving: number;
  /** Every client there is, those that are stopping included. */
  readonly clients: readonly Client[];
  /** The time in milliseconds. */
  readonly now: number;
  /** How long blobs are copied, in milliseconds. */
  readonly hold: number;
  /** How long a shard that is to be drained is waited for if it is not ready, in milliseconds. */
  readonly drainTimeout: number;
}

/** The next state, which may be the same, and what is waited for. */
export interface Step {
  readonly state: Resharding;
  /** Why it goes no further yet. Undefined where nothing is waited for. */
  readonly waitingFor: string | undefined;
  /** When waiting alone brings the next phase, in milliseconds. */
  readonly until?: number;
}

/** Decides what comes next. Pure: the caller stores the state before it acts on it. */
export function step(state: Resharding, seen: Seen): Step {
  switch (state.phase) {
    case "Stable":
      if (isSameLayout(seen.wanted, state.at)) return stay(state);
      return go({ phase: "Starting", from: state.at, to: seen.wanted, since: seen.now });
    case "Starting":
      // No client knows of the change yet, so it can still be taken back.
      if (!isSameLayout(seen.wanted, state.to)) return go({ phase: "Stable", at: state.from });
      return started(state, seen);
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
      if (seen.leaving > 0) return stay(state, `${seen.leaving} shards are stopping`);
      return go({ phase: "Stable", at: state.to });
    default:
      return state satisfies never;
  }
}

/** Goes on once all that clients will ask is there. */
function started(state: Resharding & { phase: "Starting" }, seen: Seen): Step {
  const { from, to } = state;
  const missing = (pods: readonly ShardPod[]) => pods.filter((pod) => !includes(seen.ready, pod));
  const needed = askedPods(to);
  const behind = missing(needed);
  if (behind.length > 0)
    return stay(state, `${needed.length - behind.length} of ${needed.length} shards are ready`);
  const switching = { phase: "Switching", from, to } as const;
  if (isSamePlacement(from, to)) return go(switching);
  // While clients have both maps, a shard that does not answer fails their builds.
  const [lost] = missing(askedPods(from).filter((pod) => !includes(needed, pod)));
  if (!lost) return go({ phase: "Bridging", from, to });
  const name = `shard ${lost.number}${lost.ring === "b" ? " of the mirrors" : ""}`;
  // Only what it keeps would be lost: everything else has its place where it was. So it is with no
  // other change, and that the cache may be lost has to be explicit.
  if (!isDrainOf(from, to))
    return stay(
      state,
      `${name} is not ready, and keeps what has to be copied: to go on without, drain it first`,
    );
  const until = state.since + seen.drainTimeout;
  if (seen.now >= until) return go(switching);
  return {
    ...stay(state, `${name} is to be drained and not ready: what it keeps is copied once it is`),
    until,
  };
}

function includes(pods: readonly ShardPod[], { ring, number }: ShardPod): boolean {
  return pods.some((pod) => pod.ring === ring && pod.number === number);
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
      return { is: "single", at: state.at };
    case "Starting":
      return { is: "single", at: state.from };
    case "Bridging":
      return use === "reads"
        ? { is: "bridge", from: state.from, to: state.to, results: "from" }
        : { is: "single", at: state.from };
    case "Redirecting":
    case "Copying":
      return { is: "bridge", from: state.from, to: state.to, results: "to" };
    case "Switching":
    case "Retiring":
      return { is: "single", at: state.to };
    default:
      return state satisfies never;
  }
}

/** What the shards were before a change, or are. */
export function sourceOf(state: Resharding): Layout {
  return state.phase === "Stable" ? state.at : state.from;
}

/** What the shards will be after a change, or are. */
export function targetOf(state: Resharding): Layout {
  return state.phase === "Stable" ? state.at : state.to;
}

/** The layouts that clients may have in a state. */
function layoutsOf(state: Resharding): readonly Layout[] {
  return state.phase === "Stable" || state.phase === "Retiring"
    ? [targetOf(state)]
    : [sourceOf(state), targetOf(state)];
}

/** How many shards run in each ring in a state. */
export function shardsOf(state: Resharding): Readonly<Record<Ring, number>> {
  const count = (ring: Ring) =>
    Math.max(0, ...layoutsOf(state).map((one) => (ringsOf(one).includes(ring) ? one.shards : 0)));
  return { a: count("a"), b: count("b") };
}

/**
 * A map in a word, for annotations of pods: a layout, such as `3`; `2+3` for both with results in
 * the old one, and `2-3` with results in the new one.
 */
export function mapText(map: ShardMap): string {
  if (map.is === "single") return layoutText(map.at);
  return `${layoutText(map.from)}${map.results === "from" ? "+" : "-"}${layoutText(map.to)}`;
}

/** Reads what {@link mapText} wrote; undefined if it did not. */
export function parseMap(text: string): ShardMap | undefined {
  const [, first = "", sign, second] = /^([^+-]*)(?:([+-])([^+-]*))?$/.exec(text) ?? [];
  const from = parseLayout(first);
  if (!from) return undefined;
  if (second === undefined) return { is: "single", at: from };
  const to = parseLayout(second);
  return to && { is: "bridge", from, to, results: sign === "+" ? "from" : "to" };
}
