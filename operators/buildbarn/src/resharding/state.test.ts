import { expect, test } from "vitest";
import { type Layout, parseLayout, type ShardPod } from "./layout.ts";
import { mapText, parseMap, type Resharding, type Seen, shardMap, shardsOf, step } from "./state.ts";

function at(text: string): Layout {
  const parsed = parseLayout(text);
  if (!parsed) throw new Error(text);
  return parsed;
}
const pods = (...numbers: number[]): ShardPod[] => numbers.map((number) => ({ ring: "a", number }));
const seen = (own: Partial<Seen> = {}): Seen => ({
  wanted: at("3"),
  ready: pods(0, 1, 2),
  leaving: 0,
  clients: [],
  now: 1_000_000,
  hold: 60_000,
  drainTimeout: 300_000,
  ...own,
});
const [from, to, since] = [at("2"), at("3"), 1_000_000];

test("nothing happens while there are as many shards as wanted", () => {
  const stable: Resharding = { phase: "Stable", at: to };
  expect(step(stable, seen())).toEqual({ state: stable, waitingFor: undefined });
});

test("new shards are ready before a client uses them", () => {
  const starting = step({ phase: "Stable", at: from }, seen()).state;
  expect(starting).toEqual({ phase: "Starting", from, to, since });
  expect([shardsOf(starting), mapText(shardMap(starting, "reads"))]).toEqual([{ a: 3, b: 0 }, "2"]);
  expect(step(starting, seen({ ready: pods(0, 1) }))).toEqual({
    state: starting,
    waitingFor: "2 of 3 shards are ready",
  });
  expect(step(starting, seen()).state.phase).toBe("Bridging");
});

test("a change that no client uses yet is taken back at once, and no later one is", () => {
  const back = seen({ wanted: from, clients: [{ name: "pod f", map: "2", results: "reads" }] });
  expect(step({ phase: "Starting", from, to, since }, back).state).toEqual({ phase: "Stable", at: from });
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

test("copying lasts as long as it is set to, and reports when it is over", () => {
  const copying: Resharding = { phase: "Copying", from, to, since: 1_000_000 };
  expect(step(copying, seen({ now: 1_059_999 }))).toMatchObject({ state: copying, until: 1_060_000 });
  expect(step(copying, seen({ now: 1_060_000 })).state).toEqual({ phase: "Switching", from, to });
});

test("shards stop once no client asks them, and the change is over once they have", () => {
  const switching: Resharding = { phase: "Switching", from: to, to: from };
  const late = [{ name: "pod w", map: "3-2", results: "writes" as const }];
  expect(step(switching, seen({ wanted: from, clients: late })).state).toEqual(switching);
  const retiring = step(switching, seen({ wanted: from })).state;
  expect(shardsOf(retiring)).toEqual({ a: 2, b: 0 });
  expect(step(retiring, seen({ wanted: from, leaving: 1 })).waitingFor).toBe("1 shards are stopping");
  expect(step(retiring, seen({ wanted: from })).state).toEqual({ phase: "Stable", at: from });
});

test("mirrors move no blob: clients go over in one rollout, once all are there", () => {
  const starting: Resharding = { phase: "Starting", from: at("2"), to: at("2m"), since };
  const ready = [...pods(0, 1), { ring: "b", number: 0 }, { ring: "b", number: 1 }] as const;
  const some = seen({ wanted: at("2m"), ready: ready.slice(0, 3) });
  expect(step(starting, some)).toEqual({ state: starting, waitingFor: "3 of 4 shards are ready" });
  expect(step(starting, { ...some, ready }).state).toEqual({
    phase: "Switching",
    from: at("2"),
    to: at("2m"),
  });
});

test("a shard that is drained and does not answer is waited for, but not for ever", () => {
  const starting: Resharding = { phase: "Starting", from: at("3"), to: at("3d1"), since };
  const lost = { wanted: at("3d1"), ready: pods(0, 2) };
  const waiting = step(starting, seen({ ...lost, now: since + 299_999 }));
  expect(waiting).toMatchObject({ state: starting, until: since + 300_000 });
  expect(waiting.waitingFor).toContain("shard 1 is to be drained and not ready");
  expect(step(starting, seen({ ...lost, now: since + 300_000 })).state.phase).toBe("Switching");
  // One that answers is copied from.
  expect(step(starting, seen({ ...lost, ready: pods(0, 1, 2) })).state.phase).toBe("Bridging");
});

test.for([
  ["3", "2"],
  ["3", "2m"],
  ["3", "3w2d2"],
  ["3d1", "3d2"],
])("from %s to %s moves more than what a lost shard keeps, and waits for it", ([before = "", after = ""]) => {
  const starting: Resharding = { phase: "Starting", from: at(before), to: at(after), since };
  const ready = [...pods(0, 1), { ring: "b", number: 0 }, { ring: "b", number: 1 }] as const;
  const { state, waitingFor, until } = step(starting, seen({ wanted: at(after), ready, now: since + 1e9 }));
  expect([state, until]).toEqual([starting, undefined]);
  expect(waitingFor).toContain("shard 2 is not ready, and keeps what has to be copied");
});

test.for([
  "",
  "0",
  "-1",
  "3x",
  "3d",
  "3w",
  "3mm",
  "3d9",
  "3w1.1",
  "2+",
  "+2",
  "2-3-4",
  "2+3m-4",
  "9999999999",
])("%j is no map", (text) => {
  expect(parseMap(text)).toBeUndefined();
});
