import fc from "fast-check";
import { expect, test } from "vitest";
import { type Answer, type Restart, step, taskOf } from "./restart.ts";

const drainMs = 600_000;
const silentMs = 15_000;

/**
 * A scheduler with its workers, and an operator that may die between any two of its effects. What
 * the operator knows is read afresh each time, as it is stored.
 */
class Model {
  now = 0;
  /** What was asked for, and what the Deployment has. */
  wanted = 0;
  applied = 0;
  /** The revision of the process, and what it has in its memory. */
  running = 0;
  isDrained = false;
  executing = 0;
  queued = 0;
  /** Whether the operator reaches it. */
  isReachable = true;
  isRefused = false;
  stored: Restart | undefined;
  /** Since when the operator has waited, and has not got an answer. */
  waitingSince: number | undefined;
  silentSince: number | undefined;
  /** Actions that a restart by the operator has ended before their time was over. */
  lost = 0;
  /** Those that run while it is replaced, because they were waited for long enough. */
  #doomed = 0;

  reconcile(effects: number): void {
    let left = effects;
    const may = () => left-- > 0;
    const isDue = !this.isRefused && this.wanted !== this.applied;
    const seen = {
      isDue,
      serving: String(this.applied),
      isUp: this.running === this.applied,
      isStopped: false,
      now: this.now,
      drainMs,
      silentMs,
    };
    if (!isDue) this.waitingSince = undefined;
    const task = taskOf(this.stored, seen);
    let answer: Answer | undefined;
    if (task) {
      if (!may()) return;
      answer = this.#ask(task);
    }
    const { state, mayRestart } = step(this.stored, answer, seen);
    if (mayRestart && isDue) {
      if (!may()) return;
      this.#apply();
    }
    if (!may()) return;
    this.stored = state;
    if (state && isDue) this.waitingSince ??= this.now;
  }

  #ask(task: "drain" | "undrain"): Answer {
    if (!this.isReachable) {
      this.silentSince ??= this.now;
      return { is: "silent", why: "" };
    }
    this.silentSince = undefined;
    this.isDrained = task === "drain";
    this.#assign();
    return { is: "done", executing: this.executing };
  }

  #apply(): void {
    const isOver = this.now >= (this.waitingSince ?? 0) + drainMs;
    const isSilent = this.silentSince !== undefined && this.now >= this.silentSince + silentMs;
    // One that does not answer cannot be drained either.
    this.#doomed = isSilent ? Number.POSITIVE_INFINITY : isOver ? this.executing : 0;
    this.applied = this.wanted;
  }

  /** The new process takes the place of the old one. */
  roll(): void {
    if (this.running === this.applied) return;
    this.running = this.applied;
    this.lost += Math.max(0, this.executing - this.#doomed);
    this.#forget();
  }

  /** The process ends by itself: nothing that the operator did. */
  crash(): void {
    this.#forget();
    // Its drains are lost with it, and what starts until it is replaced is too.
    if (this.running !== this.applied) this.#doomed = Number.POSITIVE_INFINITY;
  }

  #forget(): void {
    this.queued += this.executing;
    this.executing = 0;
    this.#doomed = 0;
    this.isDrained = false;
    this.#assign();
  }

  enqueue(): void {
    this.queued += 1;
    this.#assign();
  }

  complete(): void {
    this.executing = Math.max(0, this.executing - 1);
    this.#assign();
  }

  #assign(): void {
    if (this.isDrained) return;
    const free = Math.max(0, 4 - this.executing);
    const taken = Math.min(free, this.queued);
    this.queued -= taken;
    this.executing += taken;
  }
}

type Happening =
  | { readonly do: "want"; readonly revision: number }
  | { readonly do: "reconcile"; readonly effects: number }
  | { readonly do: "wait"; readonly ms: number }
  | { readonly do: "enqueue" | "complete" | "roll" | "crash" | "outage" | "refuse" };

const happening: fc.Arbitrary<Happening> = fc.oneof(
  fc.record({ do: fc.constant("want" as const), revision: fc.nat(2) }),
  { weight: 6, arbitrary: fc.record({ do: fc.constant("reconcile" as const), effects: fc.nat(3) }) },
  fc.record({ do: fc.constant("wait" as const), ms: fc.integer({ min: 1, max: 200_000 }) }),
  {
    weight: 3,
    arbitrary: fc
      .constantFrom("enqueue" as const, "complete" as const, "roll" as const)
      .map((one) => ({ do: one })),
  },
  fc.constantFrom("crash" as const, "outage" as const, "refuse" as const).map((one) => ({ do: one })),
);

function happen(model: Model, what: Happening): void {
  switch (what.do) {
    case "want":
      model.wanted = what.revision;
      return;
    case "reconcile":
      model.reconcile(what.effects);
      return;
    case "wait":
      model.now += what.ms;
      return;
    case "outage":
      model.isReachable = !model.isReachable;
      return;
    case "refuse":
      model.isRefused = !model.isRefused;
      return;
    default:
      model[what.do]();
  }
}

test("no change ends a running action before its time, whenever the operator dies", () => {
  fc.assert(
    fc.property(fc.array(happening, { maxLength: 80, size: "max" }), (all) => {
      const model = new Model();
      for (const one of all) {
        happen(model, one);
        expect(model.lost).toBe(0);
        // The next operator knows that workers are drained.
        if (model.isDrained) expect(model.stored).toBeDefined();
      }
    }),
  );
});

test("in the end what was wanted runs, and workers get actions", () => {
  fc.assert(
    fc.property(fc.array(happening, { maxLength: 80, size: "max" }), (all) => {
      const model = new Model();
      for (const one of all) happen(model, one);
      model.isReachable = true;
      model.isRefused = false;
      for (let look = 0; look < 10; look++) {
        model.reconcile(3);
        model.complete();
        model.roll();
        model.now += drainMs / 4;
      }
      expect(model).toMatchObject({ running: model.wanted, isDrained: false, stored: undefined });
    }),
  );
});
