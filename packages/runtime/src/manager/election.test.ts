import { seededRandom } from "@windlass/clock";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  candidate,
  type Election,
  type ElectionEvent,
  type ElectionRules,
  type ElectionStep,
  type LeaseRecord,
  type StoredLease,
  step,
} from "./election.ts";

const rules: ElectionRules = {
  identity: "me",
  leaseDurationMs: 15_000,
  renewDeadlineMs: 10_000,
  retryPeriodMs: 2_000,
};
const wall = "2026-01-01T00:00:00.000000Z";
const held = (holderIdentity: string, renewTime = wall): StoredLease => ({
  resourceVersion: "7",
  record: { holderIdentity, leaseDurationSeconds: 15, acquireTime: wall, renewTime, leaseTransitions: 3 },
});

function play(...events: readonly ElectionEvent[]): ElectionStep {
  let at: ElectionStep = { state: candidate, action: { do: "read" } };
  for (const event of events) at = step(rules, at.state, event);
  return at;
}

describe("one candidate", () => {
  test("creates the lease when there is none", () => {
    const { action } = play({ type: "read", now: 0, wall, lease: undefined });
    expect(action).toEqual({
      do: "create",
      record: {
        holderIdentity: "me",
        leaseDurationSeconds: 15,
        acquireTime: wall,
        renewTime: wall,
        leaseTransitions: 0,
      },
    });
  });

  test("takes a released lease at once, and counts the transition", () => {
    const { action } = play({ type: "read", now: 0, wall, lease: held("") });
    expect(action).toMatchObject({
      do: "update",
      resourceVersion: "7",
      record: { holderIdentity: "me", leaseTransitions: 4 },
    });
  });

  test("leaves another's lease alone for as long as it has seen it unchanged for less than the lease's duration", () => {
    const first: ElectionEvent = { type: "read", now: 100, wall, lease: held("other") };
    expect(play(first, { type: "read", now: 15_099, wall, lease: held("other") }).action.do).toBe("wait");
    expect(play(first, { type: "read", now: 15_100, wall, lease: held("other") }).action.do).toBe("update");
  });

  test("judges by when it saw a change, not by the stamps in the record", () => {
    const renewed = held("other", "1999-01-01T00:00:00.000000Z");
    const { action } = play(
      { type: "read", now: 0, wall, lease: held("other") },
      { type: "read", now: 14_000, wall, lease: renewed },
      { type: "read", now: 28_000, wall, lease: renewed },
    );
    expect(action.do).toBe("wait");
  });

  test("waits as long as the holder's own duration asks, if that is longer", () => {
    const patient = { ...held("other"), record: { ...held("other").record, leaseDurationSeconds: 60 } };
    const { action } = play(
      { type: "read", now: 0, wall, lease: patient },
      { type: "read", now: 59_000, wall, lease: patient },
    );
    expect(action.do).toBe("wait");
  });

  test("counts the renew deadline from before the renewal was sent", () => {
    const { state } = play({ type: "wrote", now: 4_000, sentAt: 1_000, lease: held("me") });
    expect(state).toMatchObject({ at: "leading", until: 11_000 });
  });

  test("renews with a single write", () => {
    const { action } = play(
      { type: "wrote", now: 0, sentAt: 0, lease: held("me") },
      { type: "tick", now: 2_000, wall },
    );
    expect(action).toMatchObject({ do: "update", resourceVersion: "7", record: { leaseTransitions: 3 } });
  });

  test("stops leading when it could not renew by the deadline", () => {
    const leading: ElectionEvent = { type: "wrote", now: 0, sentAt: 0, lease: held("me") };
    expect(play(leading, { type: "failed", now: 9_999, because: "unreachable" }).state.at).toBe("leading");
    expect(play(leading, { type: "failed", now: 10_000, because: "unreachable" }).state.at).toBe("following");
  });

  test("stops leading when it reads that another holds the lease", () => {
    const { state } = play(
      { type: "wrote", now: 0, sentAt: 0, lease: held("me") },
      { type: "failed", now: 2_000, because: "conflict" },
      { type: "read", now: 2_001, wall, lease: held("other") },
    );
    expect(state.at).toBe("following");
  });

  test("creates a lease that was deleted under it, and leads again only when that has succeeded", () => {
    const { state, action } = play(
      { type: "wrote", now: 0, sentAt: 0, lease: held("me") },
      { type: "failed", now: 2_000, because: "missing" },
      { type: "read", now: 2_001, wall, lease: undefined },
    );
    expect(state.at).toBe("following");
    expect(action.do).toBe("create");
  });

  test("gives the holder of a lease that was deleted the time that the lease would have given it", () => {
    const events: ElectionEvent[] = [
      { type: "read", now: 0, wall, lease: held("other") },
      { type: "read", now: 14_000, wall, lease: undefined },
      { type: "tick", now: 16_000, wall },
    ];
    expect(play(...events, { type: "read", now: 28_999, wall, lease: undefined }).action.do).toBe("wait");
    expect(play(...events, { type: "read", now: 29_000, wall, lease: undefined }).action.do).toBe("create");
    // It was free when it was seen. Another replica may have taken it before it was deleted.
    expect(play({ type: "read", now: 0, wall, lease: held("") }, events[1] as ElectionEvent).action.do).toBe(
      "wait",
    );
  });

  test("releases the lease when it stops while leading, and only then", () => {
    const leading: ElectionEvent = { type: "wrote", now: 0, sentAt: 0, lease: held("me") };
    expect(play(leading, { type: "stop", now: 1, wall }).action).toMatchObject({
      do: "release",
      resourceVersion: "7",
      record: { holderIdentity: "", leaseDurationSeconds: 1 },
    });
    expect(
      play({ type: "read", now: 0, wall, lease: held("other") }, { type: "stop", now: 1, wall }).action.do,
    ).toBe("end");
  });
});

/**
 * One candidate in the simulation: its own clock's origin, its state, and until when it stands
 * still.
 */
interface Player {
  readonly rules: ElectionRules;
  readonly origin: number;
  state: Election;
  stalledUntil: number;
  led: boolean;
  /** Told to stop: it releases the lease, if it holds it, at its next step. */
  leaves: boolean;
  isReleasing: boolean;
}

interface Simulated {
  readonly players: number;
  readonly chaosUntilMs: number;
  readonly endMs: number;
  /** Whether a client deletes the lease, once all candidates have seen it. @default false */
  readonly deletes?: boolean;
  /**
   * Whether the leader is asked to stop now and then, as long as two others are left.
   *
   * @default false
   */
  readonly releases?: boolean;
}

/**
 * Plays candidates against a model of the server over a network that delays and loses, until
 * `endMs`.
 */
function simulate(
  seed: number,
  { players, chaosUntilMs, endMs, deletes = false, releases = false }: Simulated,
) {
  const random = seededRandom(seed);
  const pick = (max: number) => Math.floor(random.next() * max);
  let server: StoredLease | undefined;
  let version = 0;
  let now = 0;
  const agenda: { at: number; order: number; run: () => void }[] = [];
  const schedule = (after: number, run: () => void) =>
    agenda.push({ at: now + after, order: agenda.length, run });
  const all: Player[] = Array.from({ length: players }, (_, index) => ({
    rules: { ...rules, identity: `p${index}` },
    origin: pick(1_000_000),
    state: candidate,
    stalledUntil: 0,
    led: false,
    leaves: false,
    isReleasing: false,
  }));
  const leaders = () =>
    all.filter(({ state, origin }) => state.at === "leading" && now + origin < state.until);
  const overlaps: number[] = [];

  const chaotic = () => now < chaosUntilMs;
  const latency = () => (chaotic() && random.next() < 0.2 ? pick(20_000) : 1 + pick(50));
  const lost = () => chaotic() && random.next() < 0.2;

  /** Hands an event to a player, later if it stands still, with the time at which it is handled. */
  const deliver = (player: Player, make: (local: number) => ElectionEvent) => {
    const go = () => {
      if (now < player.stalledUntil) {
        schedule(player.stalledUntil - now, go);
        return;
      }
      // Whether the release succeeds or not, the candidate has stopped.
      const event: ElectionEvent = player.isReleasing ? { type: "released" } : make(now + player.origin);
      let next = step(player.rules, player.state, event);
      if (player.leaves) {
        player.leaves = false;
        next = step(player.rules, next.state, { type: "stop", now: now + player.origin, wall: stamp() });
      }
      player.state = next.state;
      player.isReleasing = next.action.do === "release";
      if (player.state.at === "leading") player.led = true;
      perform(player, next);
    };
    go();
  };

  /**
   * Sends a request: it may be lost on the way there or back, and is abandoned after five seconds
   * either way.
   */
  const send = (player: Player, serve: () => (local: number) => ElectionEvent) => {
    let isSettled = false;
    const settle = (make: (local: number) => ElectionEvent) => {
      if (isSettled) return;
      isSettled = true;
      deliver(player, make);
    };
    schedule(5_000, () => settle((local) => ({ type: "failed", now: local, because: "unreachable" })));
    if (lost()) return;
    schedule(latency(), () => {
      const answer = serve();
      if (!lost()) schedule(latency(), () => settle(answer));
    });
  };

  const stamp = () => `${now}`;
  const perform = (player: Player, { action }: ElectionStep) => {
    if (chaotic() && random.next() < 0.05) player.stalledUntil = now + pick(30_000);
    if (action.do === "wait")
      schedule(action.ms, () => deliver(player, (local) => ({ type: "tick", now: local, wall: stamp() })));
    else if (action.do === "read")
      send(player, () => {
        const lease = server;
        return (local) => ({ type: "read", now: local, wall: stamp(), lease });
      });
    else if (action.do !== "end") {
      const sentAt = now + player.origin;
      const record: LeaseRecord = action.record;
      const expected = action.do === "create" ? undefined : action.resourceVersion;
      send(player, () => {
        if (server?.resourceVersion !== expected) {
          const because = server ? "conflict" : "missing";
          return (local) => ({ type: "failed", now: local, because });
        }
        version += 1;
        // Some have seen that it was free, and not yet who took it.
        if (deletes && server?.record.holderIdentity === "") schedule(pick(1_000), deleteLease);
        const lease = { resourceVersion: String(version), record };
        server = lease;
        return (local) => ({ type: "wrote", now: local, sentAt, lease });
      });
    }
  };

  for (const player of all)
    schedule(pick(3_000), () => deliver(player, (local) => ({ type: "tick", now: local, wall: stamp() })));
  // Once: a create that is under way while others create and delete the lease may land after all of
  // that.
  let isDeleted = false;
  const deleteLease = () => {
    if (isDeleted) return;
    isDeleted = all.every(({ state }) => state.at === "stopped" || state.seen);
    if (isDeleted) server = undefined;
    else schedule(1_000, deleteLease);
  };
  // The first creates have arrived by then, however late.
  if (deletes && !releases) schedule(30_000 + pick(chaosUntilMs - 30_000), deleteLease);
  const stopLeader = () => {
    const [leader] = leaders();
    const left = all.filter(
      ({ state, leaves, isReleasing }) => state.at !== "stopped" && !leaves && !isReleasing,
    ).length;
    if (leader && left > 2) leader.leaves = true;
    if (left > 2 && chaotic()) schedule(pick(20_000), stopLeader);
  };
  if (releases) schedule(30_000 + pick(20_000), stopLeader);
  while (agenda.length > 0) {
    agenda.sort((a, b) => a.at - b.at || a.order - b.order);
    const next = agenda.shift();
    if (!next || next.at > endMs) break;
    now = next.at;
    next.run();
    if (leaders().length > 1) overlaps.push(now);
  }
  now = endMs;
  return { overlaps, leaders: leaders().length, everLed: all.filter((one) => one.led).length };
}

describe("several candidates over a bad network", () => {
  test("never lead at the same time, and one leads once the network is well again", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 2 ** 31 }), fc.constantFrom(2, 3), (seed, players) => {
        const run = simulate(seed, { players, chaosUntilMs: 120_000, endMs: 220_000 });
        expect(run.overlaps).toEqual([]);
        expect(run.leaders).toBe(1);
      }),
      { numRuns: 150 },
    );
  });

  test("nor when a client deletes the lease that they have all seen", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 2 ** 31 }), fc.constantFrom(2, 3), (seed, players) => {
        const run = simulate(seed, { players, chaosUntilMs: 120_000, endMs: 220_000, deletes: true });
        expect(run.overlaps).toEqual([]);
        expect(run.leaders).toBe(1);
      }),
      { numRuns: 300 },
    );
  });

  test("nor when leaders release it, and it is deleted before all have seen the next one", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 2 ** 31 }), fc.constantFrom(3, 4, 5), (seed, players) => {
        const run = simulate(seed, {
          players,
          chaosUntilMs: 120_000,
          endMs: 220_000,
          deletes: true,
          releases: true,
        });
        expect(run.overlaps).toEqual([]);
        expect(run.leaders).toBe(1);
      }),
      { numRuns: 300 },
    );
  });

  test("change places now and then, so the property above is about something", () => {
    const runs = Array.from({ length: 40 }, (_, seed) =>
      simulate(seed, { players: 3, chaosUntilMs: 120_000, endMs: 220_000 }),
    );
    expect(runs.some((run) => run.everLed > 1)).toBe(true);
  });
});
