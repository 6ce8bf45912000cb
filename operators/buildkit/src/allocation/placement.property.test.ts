import { systemRandom } from "@windlass/clock";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { addKey, poolKeyring, verifyToken } from "../tokens/index.ts";
import type { Worker } from "../worker/index.ts";
import { newAllocation, tokenOf } from "./claim-token.ts";
import { jobHash, operationId, parseOperationId } from "./job.ts";
import { placements } from "./placement.ts";
import { preferred } from "./rendezvous.ts";
import { fairOrder, type Waiting } from "./turns.ts";

const start = Date.UTC(2026, 0, 1);
const rules = { reuse: "pool", affinityWaitMs: 10_000 } as const;

/** A worker as its pool's controller describes it. */
function worker(name: string, status: Worker["status"] = { phase: "Idle" }, owner?: string): Worker {
  const allocation = owner === undefined ? {} : { allocation: allocationOf(owner) };
  return {
    metadata: { namespace: "builds", name, generation: 1 },
    spec: { poolRef: { name: "ci" }, slot: 0, ...allocation },
    status: { observedGeneration: 1, ...status },
  } as Worker;
}

function allocationOf(owner: string) {
  const iso = new Date(start).toISOString();
  return { jobId: "j", tokenHash: "0".repeat(64), requestedBy: owner, allocatedAt: iso, expiresAt: iso };
}

const waiting = fc.record({
  owner: fc.constantFrom("anna", "bert", "carl"),
  requestedAt: fc.integer({ min: start - 60_000, max: start }),
  priority: fc.constantFrom(0, 0, 0, 5),
  affinityKey: fc.constantFrom(undefined, "shop", "site"),
});
const queue = fc
  .array(waiting, { maxLength: 12 })
  .map((all): Waiting[] => all.map((one, index) => ({ ...one, name: `r${index}` })));
const pool = fc
  .array(
    fc.record({
      phase: fc.constantFrom("Idle", "Allocated", "Provisioning", "Failed"),
      lastUsedBy: fc.constantFrom(undefined, "anna", "bert"),
      affinityKey: fc.constantFrom(undefined, "shop", "site", "docs"),
      seen: fc.boolean(),
    }),
    { maxLength: 8 },
  )
  .map((all) =>
    all.map(({ phase, lastUsedBy, affinityKey, seen }, index) =>
      worker(
        `w${index}`,
        {
          phase: phase as "Idle",
          ...(seen ? {} : { observedGeneration: 0 }),
          ...(lastUsedBy === undefined
            ? {}
            : { lastUsedBy, allocationCount: 1, lastActivityAt: new Date(start - 1).toISOString() }),
          ...(affinityKey === undefined ? {} : { affinityKey }),
        },
        phase === "Allocated" ? "carl" : undefined,
      ),
    ),
  );

describe("placements", () => {
  test("give a worker to one request at most, and only one that can be claimed", () => {
    fc.assert(
      fc.property(queue, pool, (requests, workers) => {
        const placed = [...placements(requests, workers, start, rules).values()];
        expect(new Set(placed).size).toBe(placed.length);
        for (const { spec, status, metadata } of placed) {
          expect(spec.allocation).toBeUndefined();
          expect(status).toMatchObject({ phase: "Idle", observedGeneration: metadata.generation });
        }
      }),
    );
  });

  test("leave no worker idle that a request in the queue could have, except during the wait for affinity", () => {
    fc.assert(
      fc.property(queue, pool, (requests, workers) => {
        const later = start + rules.affinityWaitMs;
        const idle = workers.filter(
          ({ status }) => status?.phase === "Idle" && status.observedGeneration === 1,
        );
        expect(placements(requests, workers, later, rules).size).toBe(Math.min(requests.length, idle.length));
      }),
    );
  });

  test("wait for the worker that has a project's cache also where it was released a moment ago, and has not said so yet", () => {
    const { requestedBy, tokenHash } = allocationOf("anna");
    const held = worker("home");
    const released = (affinityKey: string): Worker => ({
      ...held,
      metadata: { ...held.metadata, generation: 3 },
      spec: { ...held.spec, lastAllocation: { requestedBy, tokenHash, affinityKey } },
    });
    const request = { name: "r", owner: "anna", requestedAt: start, priority: 0, affinityKey: "shop" };
    const placed = (home: Worker, now = start) => placements([request], [home, worker("other")], now, rules);
    expect(placed(released("shop")).size).toBe(0);
    expect(placed(released("site")).get("r")?.metadata.name).toBe("other");
    expect(placed(released("shop"), start + rules.affinityWaitMs).get("r")?.metadata.name).toBe("other");
  });

  test("do not depend on the order in which a replica learned of things", () => {
    fc.assert(
      fc.property(queue, pool, (requests, workers) => {
        const names = (all: ReadonlyMap<string, Worker>) =>
          [...all].map(([request, { metadata }]) => `${request} ${metadata.name}`).sort();
        expect(names(placements(requests.toReversed(), workers.toReversed(), start, rules))).toEqual(
          names(placements(requests, workers, start, rules)),
        );
      }),
    );
  });

  test.for([
    ["never", []],
    ["sameIdentity", ["anna"]],
    ["pool", ["anna", "bert"]],
  ] as const)("with reuse %s give a worker that anna has used to %j", ([reuse, expected]) => {
    const used = worker("w0", { phase: "Idle", lastUsedBy: "anna", allocationCount: 1 });
    const may = ["anna", "bert"].filter((owner) => {
      const request = { name: "r", owner, requestedAt: start, priority: 0 };
      return placements([request], [used], start, { ...rules, reuse }).size > 0;
    });
    expect(may).toEqual(expected);
  });

  test("with reuse sameAffinity give a worker to the same project alone", () => {
    const used = worker("w0", { phase: "Idle", lastUsedBy: "anna", allocationCount: 1, affinityKey: "shop" });
    const given = (affinityKey: string | undefined) =>
      placements(
        [{ name: "r", owner: "bert", requestedAt: start, priority: 0, affinityKey }],
        [used],
        start,
        {
          ...rules,
          reuse: "sameAffinity",
        },
      ).size;
    expect([given("shop"), given("site"), given(undefined)]).toEqual([1, 0, 0]);
  });
});

describe("turns", () => {
  test("between requests of the same priority, no owner comes twice before another that waits has come once", () => {
    fc.assert(
      fc.property(queue, (requests) => {
        const order = fairOrder(requests, []);
        expect(order).toHaveLength(requests.length);
        for (const priority of [0, 5]) {
          const level = order.filter((one) => one.priority === priority);
          for (const [index, { owner }] of level.entries()) {
            const before = level.slice(0, index);
            const mine = before.filter((one) => one.owner === owner).length;
            for (const other of level.slice(index + 1))
              expect(before.filter((one) => one.owner === other.owner).length).toBeGreaterThanOrEqual(mine);
          }
        }
        expect(order.map(({ priority }) => priority)).toEqual(
          order.map(({ priority }) => priority).sort((a, b) => b - a),
        );
      }),
    );
  });

  test("of one owner come in the order of asking", () => {
    fc.assert(
      fc.property(queue, (requests) => {
        for (const priority of [0, 5]) {
          const mine = fairOrder(requests, []).filter(
            (one) => one.owner === "anna" && one.priority === priority,
          );
          expect(mine.map(({ requestedAt }) => requestedAt)).toEqual(
            mine.map(({ requestedAt }) => requestedAt).sort((a, b) => a - b),
          );
        }
      }),
    );
  });

  test("go first to an owner that has none, then to the one served longest ago", () => {
    const request = (owner: string, at: number) => ({
      name: owner,
      owner,
      requestedAt: start + at,
      priority: 0,
    });
    const served = (owner: string, at: number) =>
      worker(`w-${owner}`, {
        phase: "Idle",
        lastUsedBy: owner,
        lastActivityAt: new Date(start + at).toISOString(),
      });
    const workers = [worker("w", { phase: "Running" }, "rich"), served("late", 5), served("early", 1)];
    const asked = [request("rich", 0), request("late", 1), request("early", 2), request("new", 3)];
    expect(fairOrder(asked, workers).map(({ owner }) => owner)).toEqual(["new", "early", "late", "rich"]);
  });
});

test("a worker that goes moves only the projects that were on it", () => {
  const names = Array.from({ length: 10 }, (_, index) => `w${index}`);
  const keys = Array.from({ length: 1_000 }, (_, index) => `project-${index}`);
  const at = (from: readonly string[]) =>
    new Map(keys.map((key) => [key, preferred(key, from, (name) => name)]));
  const [before, after] = [at(names), at(names.slice(1))];
  const moved = keys.filter((key) => before.get(key) !== after.get(key));
  expect(moved.length).toBeGreaterThan(50);
  expect(moved.length).toBeLessThan(150);
  for (const key of moved) expect(before.get(key)).toBe("w0");
});

describe("the token of an allocation", () => {
  const cluster = addKey([], start, systemRandom);
  const name = { namespace: "builds", name: "ci" };
  const ring = poolKeyring(cluster, name);
  const job = { pool: name, owner: "anna", jobId: "j" };
  const worker = "ci-worker-0";
  const on = { pool: name, worker };

  test("is made again from what is stored, until it ends", () => {
    const allocation = newAllocation(ring, { job, worker, now: start, ttlMs: 60_000 });
    const first = tokenOf(ring, on, allocation, start);
    const rotated = addKey(addKey(ring, start + 1, systemRandom), start + 2, systemRandom);
    expect(tokenOf(rotated, on, allocation, start + 59_000)).toEqual(first);
    expect(verifyToken(ring, first?.token ?? "", start)).toMatchObject({
      is: "valid",
      allocation: allocation.tokenHash,
    });
    expect(tokenOf(ring, on, allocation, start + 60_000)).toBeUndefined();
  });

  test("ends no later than was asked for, whatever the clock of the replica that makes it again", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: start, max: start + 10_000 }),
        fc.integer({ min: 1_000, max: 24 * 3_600_000 }),
        fc.integer({ min: -60_000, max: 60_000 }),
        (now, ttlMs, skewMs) => {
          const allocation = newAllocation(ring, { job, worker, now, ttlMs });
          expect(Date.parse(allocation.expiresAt)).toBeLessThanOrEqual(now + ttlMs);
          const here = tokenOf(ring, on, allocation, now);
          const there = tokenOf(ring, on, allocation, now + skewMs);
          if (now + skewMs < Date.parse(allocation.expiresAt)) expect(there).toEqual(here);
        },
      ),
    );
  });

  test("cannot be made by another pool, another ring, or for a claim that was altered", () => {
    const allocation = newAllocation(ring, { job, worker, now: start, ttlMs: 60_000 });
    const other = { namespace: "builds", name: "cd" };
    expect(tokenOf(poolKeyring(cluster, other), { pool: other, worker }, allocation, start)).toBeUndefined();
    expect(tokenOf(addKey([], start, systemRandom), on, allocation, start)).toBeUndefined();
    for (const change of [
      { jobId: "k" },
      { requestedBy: "bert" },
      { allocatedAt: new Date(start + 1).toISOString() },
    ])
      expect(tokenOf(ring, on, { ...allocation, ...change }, start)).toBeUndefined();
  });

  test("differs for each job, owner, worker and time", () => {
    const hashes = [
      newAllocation(ring, { job, worker, now: start, ttlMs: 60_000 }),
      newAllocation(ring, { job, worker, now: start + 1, ttlMs: 60_000 }),
      newAllocation(ring, { job, worker: "ci-worker-1", now: start, ttlMs: 60_000 }),
      newAllocation(ring, { job: { ...job, jobId: "k" }, worker, now: start, ttlMs: 60_000 }),
      newAllocation(ring, { job: { ...job, owner: "bert" }, worker, now: start, ttlMs: 60_000 }),
    ].map(({ tokenHash }) => tokenHash);
    expect(new Set(hashes).size).toBe(5);
  });
});

test("an operation's id says its pool and job, and nothing else is one", () => {
  const job = { pool: { namespace: "builds", name: "ci" }, owner: "anna", jobId: "j" };
  expect(parseOperationId(operationId(job))).toEqual({ pool: job.pool, hash: jobHash(job) });
  for (const text of ["", "a.b", "../../x", `builds.ci.${"g".repeat(32)}`, `builds.ci.${"0".repeat(33)}`])
    expect(parseOperationId(text)).toBeUndefined();
});
