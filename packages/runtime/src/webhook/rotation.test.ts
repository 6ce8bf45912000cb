import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  type Authorities,
  type Dated,
  type Leaf,
  leafStep,
  type RotationRules,
  sharedStep,
  stepped,
  trustedOf,
  trustFor,
} from "./rotation.ts";

/** In minutes of the model: lives are short, so that a run sees several rotations. */
const rules: RotationRules = { authorityLifetimeMs: 9_000, leafLifetimeMs: 900, settleMs: 30, skewMs: 10 };
/** How long an API server may be behind what is stored. */
const lag = 25;
/** How long a replica may be cut off, or too busy to look. */
const maxGap = 150;

const never = { trustedForMs: () => undefined };
const steady = (notAfter: number, retired: readonly Dated[] = []): Authorities<Dated> => ({
  at: "steady",
  signer: { id: "a", notAfter },
  retired,
});

describe("the shared authorities", () => {
  test("are founded when there are none, or the signer has expired", () => {
    expect(sharedStep({ at: "none" }, { now: 0, ...never }, rules)).toEqual({ do: "found" });
    expect(sharedStep(steady(100), { now: 100, ...never }, rules)).toEqual({ do: "found" });
  });

  test("get a next one when the last third of the signer's life begins", () => {
    expect(sharedStep(steady(9_000), { now: 5_999, ...never }, rules)).toEqual({ do: "wait", lookAt: 6_000 });
    expect(sharedStep(steady(9_000), { now: 6_000, ...never }, rules)).toEqual({ do: "announce" });
  });

  test("let the next one sign only once everyone has trusted it for a while", () => {
    const shared: Authorities<Dated> = {
      at: "announcing",
      signer: { id: "a", notAfter: 9_000 },
      next: { id: "b", notAfter: 15_000 },
      retired: [],
    };
    const look = (trusted: number | undefined, now = 6_000) => ({ now, trustedForMs: () => trusted });
    expect(sharedStep(shared, look(undefined), rules)).toEqual({ do: "wait", lookAt: 8_990 });
    expect(sharedStep(shared, look(29), rules)).toEqual({ do: "wait", lookAt: 6_001 });
    expect(sharedStep(shared, look(30), rules)).toEqual({ do: "promote" });
    expect(sharedStep(shared, look(undefined, 8_990), rules)).toEqual({ do: "promote" });
    const promoted = stepped(shared, { do: "promote" }, { now: 6_000 }, rules, () => expect.unreachable());
    expect(promoted).toEqual({ at: "steady", signer: shared.next, retired: [shared.signer] });
  });

  test("keep the old one until all that it signed has expired", () => {
    const old = { id: "old", notAfter: 1_000 };
    const shared = steady(9_000, [old]);
    expect(sharedStep(shared, { now: 1_010, ...never }, rules)).toEqual({ do: "wait", lookAt: 1_011 });
    expect(sharedStep(shared, { now: 1_011, ...never }, rules)).toEqual({ do: "retire" });
    const after = stepped(shared, { do: "retire" }, { now: 1_011 }, rules, () => expect.unreachable());
    expect(trustedOf(after).map(({ id }) => id)).toEqual(["a"]);
  });
});

describe("a replica's leaf", () => {
  const serving = (issuer: string, notAfter: number): Leaf => ({ at: "serving", issuer, notAfter });

  test("is renewed when the last third of its life begins", () => {
    expect(leafStep(serving("a", 900), steady(9_000), { now: 599, ...never }, rules).do).toBe("keep");
    expect(leafStep(serving("a", 900), steady(9_000), { now: 600, ...never }, rules).do).toBe("mint");
  });

  test("of another authority is kept until the signer is trusted, or it ends itself", () => {
    const leaf = serving("old", 900);
    const trusted = { trustedForMs: () => 30 };
    expect(leafStep(leaf, steady(9_000), { now: 500, ...never }, rules).do).toBe("keep");
    expect(leafStep(leaf, steady(9_000), { now: 500, ...trusted }, rules).do).toBe("mint");
    expect(leafStep(leaf, steady(9_000), { now: 890, ...never }, rules).do).toBe("mint");
  });

  test("is not made over and over when it cannot outlive its signer", () => {
    expect(leafStep(serving("a", 1_000), steady(1_000), { now: 950, ...never }, rules)).toEqual({
      do: "keep",
      lookAt: 1_000,
    });
  });
});

describe("trust", () => {
  test("is added and expires, and is never taken away", () => {
    const [a, b] = [
      { id: "a", notAfter: 100 },
      { id: "b", notAfter: 500 },
    ];
    expect(trustFor([], [a], 0, rules)).toEqual([a]);
    expect(trustFor([a, b], [a], 0, rules)).toEqual([a, b]);
    expect(trustFor([a, b], [b], 111, rules)).toEqual([b]);
    const present = [b];
    expect(trustFor(present, [b], 111, rules)).toBe(present);
  });
});

type Command =
  | { readonly do: "pass"; readonly minutes: number }
  | {
      readonly do: "see secret" | "see trust" | "share" | "serve" | "inject" | "crash";
      readonly replica: number;
    };

/**
 * Several replicas, one Secret, one trust store, API servers that lag behind, and clocks that
 * disagree.
 */
class Model {
  time = 100_000;
  secret: { state: Authorities<Dated>; version: number } = { state: { at: "none" }, version: 0 };
  trust: { list: readonly Dated[]; version: number } = { list: [], version: 0 };
  readonly replicas: Replica[];
  /** What was trusted, and from when. */
  readonly history: { from: number; ids: ReadonlySet<string> }[] = [{ from: 0, ids: new Set() }];
  founded = 0;
  rotations = 0;
  #made = 0;

  constructor(skews: readonly number[]) {
    this.replicas = skews.map((skew) => new Replica(this, skew));
  }

  make(now: number): Dated {
    this.#made += 1;
    return { id: `ca-${this.#made}`, notAfter: now + rules.authorityLifetimeMs };
  }

  setTrust(list: readonly Dated[]): void {
    this.trust = { list, version: this.trust.version + 1 };
    this.history.push({ from: this.time, ids: new Set(list.map(({ id }) => id)) });
  }

  pass(minutes: number): void {
    for (let left = minutes; left > 0; left -= 5) {
      this.time += Math.min(left, 5);
      for (const replica of this.replicas) if (this.time - replica.lookedAt >= maxGap) replica.look();
      this.check();
    }
  }

  /** Until the signer wants to be followed by another. */
  passUntilDue(): void {
    this.pass(maxGap + lag);
    const { state } = this.secret;
    if (state.at !== "steady") return;
    this.pass(state.signer.notAfter - rules.authorityLifetimeMs / 3 - this.time - rules.skewMs);
  }

  /** Everything that some API server may still use. */
  #views(): readonly ReadonlySet<string>[] {
    const last = this.history.findLastIndex(({ from }) => from <= this.time - lag);
    this.history.splice(0, last);
    return this.history.map(({ ids }) => ids);
  }

  check(): void {
    for (const { leaf } of this.replicas) {
      if (leaf.at === "none") continue;
      // The very first authority cannot be announced: until it has arrived, no replica is ready.
      const isFirst = leaf.issuer === "ca-1" && !this.#views().every((ids) => ids.has("ca-1"));
      if (isFirst && this.rotations === 0) continue;
      if (!this.#views().every((ids) => ids.has(leaf.issuer)))
        throw new Error(`at ${this.time}: not every API server trusts ${leaf.issuer}`);
      if (leaf.notAfter < this.time + rules.skewMs / 2)
        throw new Error(`at ${this.time}: a leaf of ${leaf.issuer} expired at ${leaf.notAfter}`);
    }
    if (this.founded > 1) throw new Error("an authority was made that no replica had announced");
  }
}

class Replica {
  readonly #model: Model;
  readonly #skew: number;
  #secret: Model["secret"];
  #trust: Model["trust"] | undefined;
  #since = new Map<string, number>();
  leaf: Leaf = { at: "none" };
  lookedAt: number;

  constructor(model: Model, skew: number) {
    this.#model = model;
    this.#skew = skew;
    this.#secret = model.secret;
    this.lookedAt = model.time;
  }

  look(): void {
    this.lookedAt = this.#model.time;
    this.seeSecret();
    this.seeTrust();
    this.share();
    this.serve();
    this.inject();
  }

  seeSecret(): void {
    this.#secret = this.#model.secret;
  }

  seeTrust(): void {
    this.#trust = this.#model.trust;
    const ids = this.#trust.list.map(({ id }) => id);
    this.#since = new Map(ids.map((id) => [id, this.#since.get(id) ?? this.#model.time]));
  }

  share(): void {
    const { state, version } = this.#secret;
    const step = sharedStep(state, this.#eyes(), rules);
    // The server refuses a write that is based on an old version.
    if (step.do === "wait" || version !== this.#model.secret.version) return;
    if (step.do === "found") this.#model.founded += 1;
    if (step.do === "promote") this.#model.rotations += 1;
    const { now } = this.#eyes();
    const next = stepped(state, step, { now }, rules, () => this.#model.make(now));
    this.#model.secret = { state: next, version: version + 1 };
    this.#secret = this.#model.secret;
  }

  serve(): void {
    const { state } = this.#secret;
    const look = this.#eyes();
    if (leafStep(this.leaf, state, look, rules).do === "keep" || state.at === "none") return;
    const { signer } = state;
    const notAfter = Math.min(look.now + rules.leafLifetimeMs, signer.notAfter);
    this.leaf = { at: "serving", issuer: signer.id, notAfter };
  }

  inject(): void {
    if (!this.#trust || this.#trust.version !== this.#model.trust.version) return;
    const { list } = this.#trust;
    const wanted = trustFor(list, trustedOf(this.#secret.state), this.#eyes().now, rules);
    if (wanted === list) return;
    this.#model.setTrust(wanted);
    this.seeTrust();
  }

  /** Everything in memory is lost; starting again reads the Secret. */
  crash(): void {
    this.leaf = { at: "none" };
    this.#trust = undefined;
    this.#since = new Map();
    this.seeSecret();
  }

  #eyes() {
    return {
      now: this.#model.time + this.#skew,
      trustedForMs: (id: string) => {
        const since = this.#since.get(id);
        return since === undefined ? undefined : this.#model.time - since;
      },
    };
  }
}

describe("several replicas with clocks apart, crashing at any point", () => {
  const commands = fc.array(
    fc.oneof(
      {
        weight: 3,
        arbitrary: fc.record({ do: fc.constant("pass" as const), minutes: fc.integer({ min: 1, max: 15 }) }),
      },
      {
        weight: 7,
        arbitrary: fc.record({
          do: fc.constantFrom("see secret", "see trust", "share", "serve", "inject", "crash"),
          replica: fc.nat({ max: 2 }),
        }),
      },
    ) as fc.Arbitrary<Command>,
    { minLength: 50, maxLength: 300, size: "max" },
  );
  const skews = fc.array(fc.integer({ min: -rules.skewMs / 2, max: rules.skewMs / 2 }), {
    minLength: 1,
    maxLength: 3,
  });

  test("always serve what every API server trusts, and what has not expired", () => {
    let rotations = 0;
    fc.assert(
      fc.property(skews, commands, (apart, sequence) => {
        const model = new Model(apart);
        // Once at the founding, and once more around each of the two rotations that follow.
        for (let round = 0; round < 3; round += 1) {
          for (const command of sequence) {
            if (command.do === "pass") model.pass(command.minutes);
            else run(model.replicas[command.replica % model.replicas.length], command.do);
            model.check();
          }
          model.passUntilDue();
        }
        // Long enough for two more rotations, whatever came before.
        model.pass(2 * rules.authorityLifetimeMs);
        expect(model.rotations).toBeGreaterThanOrEqual(2);
        expect(model.trust.list.length).toBeLessThanOrEqual(3);
        rotations += model.rotations;
      }),
      { numRuns: 300 },
    );
    expect(rotations).toBeGreaterThan(0);
  });
});

function run(replica: Replica | undefined, what: Exclude<Command["do"], "pass">): void {
  if (what === "see secret") replica?.seeSecret();
  else if (what === "see trust") replica?.seeTrust();
  else if (what === "share") replica?.share();
  else if (what === "serve") replica?.serve();
  else if (what === "inject") replica?.inject();
  else replica?.crash();
}
