import { ManualClock, seededRandom } from "@windlass/clock";
import fc from "fast-check";
import { expect, test } from "vitest";
import { createQueue, type Lease, type NamespacedKey } from "./queue.ts";

const keys = ["a/1", "a/2", "a/3", "b/1", "b/2", "/1"] as const;
const key = fc.constantFrom(...keys);

type Command =
  | { do: "add"; key: string; priority: number; after: number }
  | { do: "take" }
  | { do: "done" | "retry" | "retryAfter"; which: number; after: number }
  | { do: "advance"; ms: number };

const command: fc.Arbitrary<Command> = fc.oneof(
  fc.record({
    do: fc.constant("add" as const),
    key,
    priority: fc.integer({ min: -2, max: 2 }),
    after: fc.constantFrom(0, 0, 0, 5, 50),
  }),
  fc.record({ do: fc.constant("take" as const) }),
  fc.record({
    do: fc.constantFrom("done" as const, "retry" as const, "retryAfter" as const),
    which: fc.nat(10),
    after: fc.constantFrom(0, 7, 70),
  }),
  fc.record({ do: fc.constant("advance" as const), ms: fc.constantFrom(1, 10, 100) }),
);

type Key = string | NamespacedKey;

/** A key as an object that is new each time, as events bring it. */
function asObject(text: string): NamespacedKey {
  const [namespace = "", name = ""] = text.split("/");
  return namespace === "" ? { name } : { namespace, name };
}

function asText(given: Key): string {
  return typeof given === "string" ? given : `${given.namespace ?? ""}/${given.name}`;
}

/**
 * What a key owes: the soonest time by which it must be due. Written as one would explain it,
 * without heaps or bands.
 */
interface Debt {
  readyAt: number;
  priority: number;
}

test.each([
  ["strings", (text: string): Key => text],
  ["objects", asObject],
])(
  "of keys that are %s none is lost or handed out twice at a time, and each is due exactly when the soonest request says",
  async (_form, keyOf) => {
    await fc.assert(
      fc.asyncProperty(fc.array(command, { maxLength: 120, size: "max" }), async (commands) => {
        const clock = new ManualClock(0);
        const queue = createQueue<Key>({
          clock,
          random: seededRandom(7),
          backoff: { initial: 20, max: 160, jitter: 0 },
        });
        const owed = new Map<string, Debt>();
        const running = new Map<string, { lease: Lease<Key>; again: Debt | undefined; startedAt: number }>();
        const windows = new Map<string, { failures: number; until: number }>();
        const merge = (before: Debt | undefined, more: Debt): Debt =>
          before
            ? {
                readyAt: Math.min(before.readyAt, more.readyAt),
                priority: Math.max(before.priority, more.priority),
              }
            : more;
        for (const step of commands) {
          const now = clock.monotonic();
          if (step.do === "add") {
            queue.add(keyOf(step.key), { priority: step.priority, after: step.after });
            const debt = { readyAt: now + step.after, priority: step.priority };
            const run = running.get(step.key);
            if (run) run.again = merge(run.again, debt);
            else owed.set(step.key, merge(owed.get(step.key), debt));
          } else if (step.do === "take") {
            const lease = queue.tryTake();
            const due = [...owed].filter(([, debt]) => debt.readyAt <= now);
            expect(lease === undefined).toBe(due.length === 0);
            if (!lease) continue;
            const taken = asText(lease.key);
            const debt = owed.get(taken);
            expect(running.has(taken)).toBe(false);
            expect(debt?.readyAt).toBeLessThanOrEqual(now);
            expect(lease.priority).toBe(debt?.priority);
            expect(lease.attempt).toBe((windows.get(taken)?.failures ?? 0) + 1);
            owed.delete(taken);
            running.set(taken, { lease, again: undefined, startedAt: now });
          } else if (step.do === "advance") {
            await clock.advance(step.ms);
          } else {
            const [name, run] = [...running][step.which % Math.max(1, running.size)] ?? [];
            if (!name || !run) continue;
            running.delete(name);
            let debt = run.again;
            if (step.do === "done") {
              run.lease.done();
              windows.delete(name);
            } else if (step.do === "retryAfter") {
              run.lease.retryAfter(step.after);
              windows.delete(name);
              debt = merge(debt, { readyAt: now + step.after, priority: run.lease.priority });
            } else {
              const open = windows.get(name);
              const inside = open !== undefined && run.startedAt < open.until;
              const failures = inside ? open.failures : (open?.failures ?? 0) + 1;
              const until = inside ? open.until : now + Math.min(160, 20 * 2 ** (failures - 1));
              windows.set(name, { failures, until });
              expect(run.lease.retry()).toBe(Math.max(0, until - now));
              debt = merge(debt, { readyAt: Math.max(now, until), priority: run.lease.priority });
            }
            if (debt) owed.set(name, debt);
          }
          expect(queue.running).toBe(running.size);
          expect(queue.depth + queue.delayed).toBe(owed.size);
          for (const name of keys)
            expect(queue.status(keyOf(name)) !== undefined).toBe(owed.has(name) || running.has(name));
        }
        for (const { lease } of running.values()) lease.done();
        await clock.advance(1000);
        for (let lease = queue.tryTake(); lease; lease = queue.tryTake()) lease.done();
        expect([queue.depth, queue.delayed, queue.running, clock.pending]).toEqual([0, 0, 0, 0]);
      }),
      { numRuns: 300 },
    );
  },
);

test("with N namespaces waiting at one priority, the head of each is among the next N takes", () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.nat(6), fc.nat(20)), { minLength: 1, maxLength: 80, size: "max" }),
      (adds) => {
        const queue = createQueue<string>({ clock: new ManualClock(), random: seededRandom(1) });
        const waiting = new Map<string, string[]>();
        for (const [namespace, name] of adds) {
          const id = `${namespace}/${name}`;
          const lane = waiting.get(String(namespace)) ?? [];
          if (!lane.includes(id)) lane.push(id);
          waiting.set(String(namespace), lane);
          queue.add(id);
        }
        while (waiting.size > 0) {
          const heads = new Set([...waiting.values()].map((lane) => lane[0]));
          for (let take = heads.size; take > 0; take--) {
            const lease = queue.tryTake();
            const namespace = lease?.key.split("/")[0] ?? "";
            expect(lease?.key).toBe(waiting.get(namespace)?.shift());
            expect(heads.delete(lease?.key)).toBe(true);
            if (waiting.get(namespace)?.length === 0) waiting.delete(namespace);
            lease?.done();
          }
          expect(heads.size).toBe(0);
        }
      },
    ),
  );
});

test("whatever is added meanwhile, a key that has aged is taken within agedShare × (those risen further + 1) takes", async () => {
  const scenario = fc.record({
    share: fc.integer({ min: 2, max: 5 }),
    low: fc.array(fc.integer({ min: -5, max: -1 }), { minLength: 1, maxLength: 10, size: "max" }),
    floods: fc.array(fc.integer({ min: 1, max: 3 }), { minLength: 60, maxLength: 60 }),
  });
  await fc.assert(
    fc.asyncProperty(scenario, async ({ share, low, floods }) => {
      const clock = new ManualClock();
      const queue = createQueue<string>({ clock, random: seededRandom(1), ageingMs: 10, agedShare: share });
      for (const [index, priority] of low.entries()) queue.add(`low${index}/x`, { priority });
      await clock.advance(50);
      const risenFurther = (priority: number, index: number) =>
        low.filter((other, at) => other > priority || (other === priority && at < index)).length;
      let serial = 0;
      const takenAt = new Map<string, number>();
      for (const [turn, flood] of floods.entries()) {
        for (let add = 0; add < flood; add++) queue.add(`flood/${serial++}`);
        const lease = queue.tryTake();
        if (lease) takenAt.set(lease.key, turn + 1);
        lease?.done();
      }
      for (const [index, priority] of low.entries())
        expect(takenAt.get(`low${index}/x`)).toBeLessThanOrEqual(share * (risenFurther(priority, index) + 1));
    }),
  );
});
