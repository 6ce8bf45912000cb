import { type Clock, ManualClock } from "@windlass/clock";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { Failure } from "../failure.ts";
import { HoldBudget } from "./budget.ts";
import { Dispatcher, type DispatcherOwner, type Slot, type Ticket, type Waiter } from "./dispatcher.ts";
import { type SlowStart, usualSlowStart } from "./load.ts";

const HOLD_MS = 10_000;
const MAX_CONCURRENCY = 3;

/** A request that records its outcome. */
class Request implements Waiter<string> {
  readonly id: number;
  /** By when it has to have ceased to wait. */
  deadline = Number.POSITIVE_INFINITY;
  ticket: Ticket<string> | undefined;
  slot: Slot<string> | undefined;
  readonly outcomes: string[] = [];
  readonly #onDispatch: (request: Request) => void;

  constructor(id: number, onDispatch: (request: Request) => void) {
    this.id = id;
    this.#onDispatch = onDispatch;
  }

  dispatch(slot: Slot<string>): void {
    this.outcomes.push("dispatched");
    this.slot = slot;
    this.ticket = undefined;
    this.#onDispatch(this);
  }

  refuse({ why }: Failure): void {
    this.outcomes.push(why);
    this.ticket = undefined;
  }
}

/** A service with one port. */
class Owner implements DispatcherOwner {
  readonly #budget: HoldBudget;
  readonly #most: number;
  readonly dispatcher: Dispatcher<string>;
  demands = 0;

  constructor(
    clock: Clock,
    budget: HoldBudget,
    most: number,
    slowStart: SlowStart = { initial: 2, doublingMs: 100 },
  ) {
    this.#budget = budget;
    this.#most = most;
    this.dispatcher = new Dispatcher<string>(rules("forward"), {
      clock,
      owner: this,
      slowStart,
      open: ({ address }) => address,
      retire: () => undefined,
    });
  }

  get held(): number {
    return this.dispatcher.held;
  }

  mayHold(): boolean {
    return this.held < this.#most && this.#budget.take(this);
  }

  letGo(): void {
    this.#budget.release(this);
  }

  demanded(): void {
    this.demands += 1;
  }

  evict(): void {
    this.dispatcher.evict();
  }
}

const refusal = { why: "unavailable", message: "no quota", retryAfterSeconds: 1 } as const;

function rules(dispatch: "forward" | "hold" | "refuse") {
  return {
    isHeld: dispatch === "hold",
    refusal: dispatch === "refuse" ? refusal : undefined,
    holdMs: HOLD_MS,
    maxConcurrencyPerEndpoint: MAX_CONCURRENCY,
  };
}

const command = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant("request" as const), of: fc.nat(2) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("leave" as const), which: fc.nat() }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant("connect" as const), which: fc.nat() }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant("answer" as const), which: fc.nat() }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant("release" as const), which: fc.nat() }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("retry" as const), which: fc.nat() }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("update" as const),
      of: fc.nat(2),
      endpoints: fc.subarray(["a", "b", "c"]),
      dispatch: fc.constantFrom("forward" as const, "forward" as const, "hold" as const, "refuse" as const),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("close" as const), of: fc.nat(2) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("advance" as const), ms: fc.nat(4_000) }) },
);

test("each request ends exactly once and in time, no slot or place leaks, and no endpoint has more than it may", {
  timeout: 60_000,
}, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(command, { maxLength: 120, size: "max" }), async (commands) => {
      const clock = new ManualClock();
      const budget = new HoldBudget(12);
      const owners = [0, 1, 2].map(() => new Owner(clock, budget, 8));
      const requests: { readonly request: Request; readonly owner: Owner }[] = [];
      const atEndpoint = new Map<Owner, Map<string, number>>(owners.map((owner) => [owner, new Map()]));
      const count = (owner: Owner, slot: Slot<string>, change: number) => {
        const counts = atEndpoint.get(owner) as Map<string, number>;
        const now = (counts.get(slot.load.resources) ?? 0) + change;
        counts.set(slot.load.resources, now);
        return now;
      };
      const running = () => requests.filter(({ request }) => request.slot !== undefined);
      const isAsking = ({ request }: { readonly request: Request }) => request.ticket !== undefined;
      const end = (request: Request, owner: Owner, how: "release" | "unreachable") => {
        const slot = request.slot as Slot<string>;
        request.slot = undefined;
        count(owner, slot, -1);
        slot[how]();
        // A second time changes nothing.
        slot.release();
      };
      for (const todo of commands) {
        switch (todo.do) {
          case "request": {
            const owner = owners[todo.of] as Owner;
            const request = new Request(requests.length, ({ slot }) => {
              const load = count(owner, slot as Slot<string>, 1);
              expect(load).toBeLessThanOrEqual(MAX_CONCURRENCY * 2);
              expect((slot as Slot<string>).load.inFlight).toBeLessThanOrEqual(MAX_CONCURRENCY);
            });
            requests.push({ request, owner });
            request.deadline = clock.monotonic() + HOLD_MS;
            request.ticket = owner.dispatcher.request(request);
            // Who has an endpoint, or was refused, must not take itself for one that waits.
            if (request.ticket) expect(request.outcomes).toEqual([]);
            break;
          }
          case "leave": {
            const waiting = requests.filter(isAsking);
            const chosen = waiting[todo.which % Math.max(1, waiting.length)];
            if (!chosen?.request.ticket) break;
            chosen.owner.dispatcher.leave(chosen.request.ticket);
            chosen.request.ticket = undefined;
            chosen.request.outcomes.push("left");
            break;
          }
          case "connect":
            running()[todo.which % Math.max(1, running().length)]?.request.slot?.connected();
            break;
          case "answer":
            running()[todo.which % Math.max(1, running().length)]?.request.slot?.answered();
            break;
          case "release": {
            const chosen = running()[todo.which % Math.max(1, running().length)];
            if (chosen) end(chosen.request, chosen.owner, "release");
            break;
          }
          case "retry": {
            const chosen = running()[todo.which % Math.max(1, running().length)];
            if (!chosen) break;
            const { request, owner } = chosen;
            expect(request.outcomes.pop()).toBe("dispatched");
            end(request, owner, "unreachable");
            const leftMs = request.deadline - clock.monotonic();
            const ticket = owner.dispatcher.requestAgain(request, leftMs);
            if (ticket) expect(request.outcomes).toEqual([]);
            if (ticket) request.ticket = ticket;
            break;
          }
          case "update":
            owners[todo.of]?.dispatcher.update(
              rules(todo.dispatch),
              todo.endpoints.map((address) => ({ address, port: 80, podUid: address })),
            );
            break;
          case "close":
            // The service is gone, and comes back as another one.
            owners[todo.of]?.dispatcher.close({ why: "unknown-service" });
            owners[todo.of] = new Owner(clock, budget, 8);
            atEndpoint.set(owners[todo.of] as Owner, new Map());
            break;
          case "advance":
            await clock.advance(todo.ms);
        }
        const held = owners.reduce((sum, owner) => sum + owner.held, 0);
        expect(budget.held).toBe(held);
        expect(held).toBeLessThanOrEqual(12);
        for (const { request } of requests) {
          const ends = request.outcomes.length;
          expect(ends).toBe(request.ticket ? 0 : 1);
          if (request.ticket) expect(clock.monotonic()).toBeLessThan(request.deadline);
        }
        expect(requests.filter(isAsking)).toHaveLength(held);
      }
      // With endpoints that answer, all that wait are served, in time or not.
      for (const owner of owners)
        owner.dispatcher.update(rules("forward"), [{ address: "z", port: 80, podUid: "z" }]);
      for (let round = 0; round < 60; round++) {
        for (const { request, owner } of running()) end(request, owner, "release");
        await clock.advance(10);
      }
      expect(budget.held).toBe(0);
      expect(running()).toEqual([]);
      for (const { request } of requests) expect(request.outcomes).toHaveLength(1);
    }),
    { numRuns: 150 },
  );
});

test("requests go in the order in which they came", async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 40 }), fc.array(fc.nat(39)), async (length, leaving) => {
      const clock = new ManualClock();
      const owner = new Owner(clock, new HoldBudget(100), 100);
      const order: number[] = [];
      const requests = Array.from({ length }, (_, id) => {
        const request = new Request(id, () => order.push(id));
        request.ticket = owner.dispatcher.request(request);
        return request;
      });
      const gone = new Set(leaving.filter((id) => id < length));
      for (const id of gone) {
        const ticket = requests[id]?.ticket;
        if (ticket) owner.dispatcher.leave(ticket);
      }
      owner.dispatcher.update(rules("forward"), [{ address: "a", port: 80, podUid: "a" }]);
      for (let round = 0; round < 200; round++) {
        for (const request of requests) {
          request.slot?.release();
          request.slot = undefined;
        }
        await clock.advance(10);
      }
      expect(order).toEqual(requests.map(({ id }) => id).filter((id) => !gone.has(id)));
    }),
    { numRuns: 50 },
  );
});

test("a service that cannot start takes no room from one that has less than its share", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 4, max: 60 }),
      fc.array(fc.nat(2), { maxLength: 200 }),
      (most, arrivals) => {
        const clock = new ManualClock();
        const budget = new HoldBudget(most);
        const owners = [0, 1, 2].map(() => new Owner(clock, budget, 1_000));
        const share = Math.floor(most / 3);
        const asked = [0, 0, 0];
        for (const of of arrivals) {
          const owner = owners[of] as Owner;
          asked[of] = (asked[of] ?? 0) + 1;
          owner.dispatcher.request(new Request(0, () => undefined));
          for (const [index, { held }] of owners.entries())
            expect(held).toBeGreaterThanOrEqual(Math.min(share, asked[index] ?? 0));
        }
      },
    ),
  );
});

test("a new endpoint gets few requests at first, and soon all of them", async () => {
  const clock = new ManualClock();
  const owner = new Owner(clock, new HoldBudget(100), 100);
  let dispatched = 0;
  for (let id = 0; id < 30; id++)
    owner.dispatcher.request(
      new Request(id, ({ slot }) => {
        dispatched += 1;
        slot?.connected();
      }),
    );
  const many = { ...rules("forward"), maxConcurrencyPerEndpoint: Number.POSITIVE_INFINITY };
  owner.dispatcher.update(many, [{ address: "a", port: 80, podUid: "a" }]);
  expect(dispatched).toBe(2);
  await clock.advance(100);
  expect(dispatched).toBe(4);
  await clock.advance(100);
  expect(dispatched).toBe(8);
  await clock.advance(200);
  expect(dispatched).toBe(30);
});

test("a request that finds room for all who wait, because the timer is late, does not take itself for one that waits", () => {
  let now = 0;
  // Timers of a busy process are late; the clock is not.
  const late: Clock = { now: () => now, monotonic: () => now, schedule: () => () => undefined };
  const owner = new Owner(late, new HoldBudget(100), 100);
  const many = { ...rules("forward"), maxConcurrencyPerEndpoint: Number.POSITIVE_INFINITY };
  owner.dispatcher.update(many, [{ address: "a", port: 80, podUid: "a" }]);
  const ask = (id: number) => {
    const request = new Request(id, ({ slot }) => slot?.connected());
    return { request, ticket: owner.dispatcher.request(request) };
  };
  const first = [0, 1, 2, 3].map(ask);
  expect(first.map(({ ticket }) => ticket !== undefined)).toEqual([false, false, true, true]);
  now += 10_000;
  const { request, ticket } = ask(4);
  expect(request.outcomes).toEqual(["dispatched"]);
  expect(ticket).toBeUndefined();
});

/**
 * Gives waiting requests to one endpoint that has just become ready, and which answers as `answer`
 * does.
 */
async function release(
  count: number,
  answer: (end: () => void, clock: ManualClock, slot: Slot<string>) => void,
  connectMs = 0,
  slowStart?: SlowStart,
): Promise<Record<"dispatched" | "most" | "mostConnecting" | "tookMs", number>> {
  const clock = new ManualClock();
  const owner = new Owner(clock, new HoldBudget(count), count, slowStart);
  let [dispatched, running, most, endedAt] = [0, 0, 0, 0];
  let [connecting, mostConnecting] = [0, 0];
  for (let id = 0; id < count; id++)
    owner.dispatcher.request(
      new Request(id, ({ slot }) => {
        dispatched += 1;
        running += 1;
        most = Math.max(most, running);
        const end = () => {
          slot?.answered();
          running -= 1;
          endedAt = clock.monotonic();
          slot?.release();
        };
        mostConnecting = Math.max(mostConnecting, ++connecting);
        clock.schedule(connectMs, () => {
          connecting -= 1;
          slot?.connected();
        });
        answer(end, clock, slot as Slot<string>);
      }),
    );
  const many = { ...rules("forward"), maxConcurrencyPerEndpoint: Number.POSITIVE_INFINITY };
  const began = clock.monotonic();
  owner.dispatcher.update(many, [{ address: "a", port: 80, podUid: "a" }]);
  for (let round = 0; round < 2_000 && (owner.held > 0 || running > 0); round++) await clock.advance(1);
  return { dispatched, most, mostConnecting, tookMs: endedAt - began };
}

test("an endpoint that works on one request at a time gets few at a time, and is never idle", async () => {
  let freeAt = 0;
  const { dispatched, most, tookMs } = await release(1_000, (end, clock) => {
    freeAt = Math.max(freeAt, clock.monotonic()) + 1;
    clock.schedule(freeAt - clock.monotonic(), end);
  });
  expect(dispatched).toBe(1_000);
  expect(most).toBeLessThan(20);
  expect(tookMs).toBeLessThan(1_050);
});

test("an endpoint that only waits for others gets as many at a time as it answers without delay", async () => {
  const { dispatched, most, tookMs } = await release(1_000, (end, clock) => void clock.schedule(50, end));
  expect(dispatched).toBe(1_000);
  expect(most).toBeGreaterThan(200);
  expect(tookMs).toBeLessThan(900);
});

test("5,000 that waited are answered little later than an endpoint needs for them, however long an answer takes", async () => {
  for (const [workMs, waitMs, withinMs] of [
    [0.1, 0, 520],
    [0.1, 40, 700],
    [0.15, 40, 950],
    [0.01, 200, 1_000],
  ] as const) {
    let freeAt = 0;
    const { dispatched, tookMs } = await release(
      5_000,
      (end, clock) => {
        const now = clock.monotonic();
        freeAt = Math.max(freeAt, now) + workMs;
        clock.schedule(freeAt - now + waitMs, end);
      },
      0,
      usualSlowStart,
    );
    expect(dispatched).toBe(5_000);
    expect(tookMs).toBeLessThan(withinMs);
  }
});

test("an endpoint whose answers take longer at times gets more at a time, as long as it answers more", async () => {
  let number = 0;
  const { dispatched, most, tookMs } = await release(
    1_000,
    // A busy node: each answer takes up to six times as long as the quickest.
    (end, clock) => void clock.schedule(20 + ((number++ * 37) % 100), end),
  );
  expect(dispatched).toBe(1_000);
  expect(most).toBeGreaterThan(200);
  expect(tookMs).toBeLessThan(1_000);
});

test("an endpoint that takes its time to take connections has few on their way", async () => {
  const connectMs = 300;
  const { dispatched, mostConnecting } = await release(
    30,
    (end, clock) => void clock.schedule(connectMs + 1, end),
    connectMs,
  );
  expect(mostConnecting).toBe(2);
  // Two at a time, for the two seconds that are looked at.
  expect(dispatched).toBeLessThan(16);
});

test("answers that do not end make room for what waits", async () => {
  const { dispatched } = await release(
    1_000,
    (_end, clock, slot) => void clock.schedule(1, () => slot.answered()),
  );
  expect(dispatched).toBe(1_000);
});
