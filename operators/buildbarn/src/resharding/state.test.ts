import { expect, test } from "vitest";
import { mapText, type Resharding, type Seen, shardMap, shardsOf, step } from "./state.ts";

const seen = (own: Partial<Seen> = {}): Seen => ({
  wanted: 3,
  ready: 3,
  running: 3,
  clients: [],
  now: 1_000_000,
  hold: 60_000,
  ...own,
});
const [from, to] = [2, 3];

test("nothing happens while there are as many shards as wanted", () => {
  const stable: Resharding = { phase: "Stable", shards: 3 };
  expect(step(stable, seen())).toEqual({ state: stable, waitingFor: undefined });
});

test("new shards are ready before a client hears of them", () => {
  const starting = step({ phase: "Stable", shards: 2 }, seen()).state;
  expect(starting).toEqual({ phase: "Starting", from, to });
  expect([shardsOf(starting), mapText(shardMap(starting, "reads"))]).toEqual([3, "2"]);
  expect(step(starting, seen({ ready: 2 }))).toEqual({
    state: starting,
    waitingFor: "2 of 3 shards are ready",
  });
  expect(step(starting, seen()).state.phase).toBe("Bridging");
});

test("a change that no client has heard of is taken back at once, and no later one is", () => {
  const back = seen({ wanted: 2, clients: [{ name: "pod f", map: "2", results: "reads" }] });
  expect(step({ phase: "Starting", from, to }, back).state).toEqual({ phase: "Stable", shards: 2 });
  for (const phase of ["Bridging", "Redirecting", "Switching"] as const)
    expect(step({ phase, from, to }, back).state).toEqual({ phase, from, to });
});

test("all who read results look in both places before any client writes to the new one", () => {
  const bridging: Resharding = { phase: "Bridging", from, to };
  expect(mapText(shardMap(bridging, "reads"))).toBe("2+3");
  // Workers read no results, and are spared a rollout.
  expect(mapText(shardMap(bridging, "writes"))).toBe("2");
  const worker = { name: "pod worker-9", map: "2", results: "writes" } as const;
  const late = { name: "pod frontend-1", map: "2", results: "reads" } as const;
  expect(step(bridging, seen({ clients: [worker, late] }))).toEqual({
    state: bridging,
    waitingFor: "1 of 2 clients have another shard map: pod frontend-1 is to have 2+3",
  });
  const redirecting = step(bridging, seen({ clients: [worker, { ...late, map: "2+3" }] })).state;
  expect(redirecting).toEqual({ phase: "Redirecting", from, to });
  for (const use of ["reads", "writes"] as const) expect(mapText(shardMap(redirecting, use))).toBe("2-3");
});

test("every client has both maps, pods that are stopping too, before the copying begins", () => {
  const redirecting: Resharding = { phase: "Redirecting", from, to };
  const clients = [
    { name: "pod frontend-1", map: "2-3", results: "reads" },
    { name: "pod worker-9", map: "2", results: "writes" },
  ] as const;
  expect(step(redirecting, seen({ clients }))).toEqual({
    state: redirecting,
    waitingFor: "1 of 2 clients have another shard map: pod worker-9 is to have 2-3",
  });
  expect(step(redirecting, seen({ clients: clients.slice(0, 1) })).state).toEqual({
    phase: "Copying",
    from,
    to,
    since: 1_000_000,
  });
});

test("copying lasts as long as it is told to, and says when it is over", () => {
  const copying: Resharding = { phase: "Copying", from, to, since: 1_000_000 };
  expect(step(copying, seen({ now: 1_059_999 }))).toMatchObject({ state: copying, until: 1_060_000 });
  expect(step(copying, seen({ now: 1_060_000 })).state).toEqual({ phase: "Switching", from, to });
});

test("shards stop once no client asks them, and the change is over once they have", () => {
  const switching: Resharding = { phase: "Switching", from: 3, to: 2 };
  const late = [{ name: "pod w", map: "3-2", results: "writes" as const }];
  expect(step(switching, seen({ wanted: 2, clients: late })).state).toEqual(switching);
  const retiring = step(switching, seen({ wanted: 2 })).state;
  expect(shardsOf(retiring)).toBe(2);
  expect(step(retiring, seen({ wanted: 2, running: 3 })).waitingFor).toBe("1 shards are stopping");
  expect(step(retiring, seen({ wanted: 2, running: 2 })).state).toEqual({ phase: "Stable", shards: 2 });
});
