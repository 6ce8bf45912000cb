import fc from "fast-check";
import { expect, test } from "vitest";
import { apiServerNames, serviceNames } from "../certificates/index.ts";
import { allNames, outerNames, withOwnNames } from "./outer-names.ts";
import { BuildKitPool, type Pool } from "./pool.ts";

const apiNames = apiServerNames({ namespace: "buildkit-system", hostnames: ["api.example.com"] });
const outside = ["a.example.com", "b.example.com"];
const names = [
  ...outside,
  "api.example.com",
  // As a pool may have them that was stored before they were refused.
  "one.left",
  "one.left.svc",
  "buildkit-controller-api.buildkit-system.svc",
];
const keys = ["left", "right"].flatMap((namespace) => ["one", "two"].map((name) => ({ namespace, name })));

const nat = (max: number) => fc.nat({ max });
const event = fc.oneof(
  fc.record({
    does: fc.constant("ask" as const),
    index: nat(3),
    names: fc.array(fc.constantFrom(undefined, ...names), { minLength: 3, maxLength: 3 }),
  }),
  fc.record({ does: fc.constant("go" as const), index: nat(3) }),
  fc.record({ does: fc.constant("look" as const), index: nat(3) }),
);

/** Pools, and what the operator makes of them. */
class Pools {
  readonly #pools = new Map<number, Pool>();
  #created = 0;

  get all(): readonly Pool[] {
    return [...this.#pools.values()];
  }

  ask(index: number, [external, route, ingress]: readonly (string | undefined)[]): void {
    const block = (hostname: string | undefined) =>
      hostname === undefined ? {} : { enabled: true, hostname };
    const before = this.#pools.get(index);
    const creationTimestamp =
      before?.metadata.creationTimestamp ?? new Date(1_000 * this.#created++).toISOString();
    const { namespace = "", name = "" } = keys[index] ?? {};
    const spec = {
      networking: { external: block(external) },
      gateway: { gatewayAPI: block(route), ingress: block(ingress) },
    };
    const pool = BuildKitPool.make({ namespace, name, creationTimestamp }, spec, before?.status);
    this.#pools.set(index, pool);
    // What is given up is seen to be, before anyone asks for it again.
    if (pool.status?.hostnames?.some((one) => !outerNames(pool).includes(one))) this.look(index);
  }

  go(index: number): void {
    this.#pools.delete(index);
  }

  /** A reconcile. Undefined if there is no such pool. */
  look(index: number) {
    const asked = this.#pools.get(index);
    if (!asked) return undefined;
    const poolsBy = (name: string) => this.all.filter((one) => allNames(one).includes(name));
    const { pool, fault } = withOwnNames(asked, { apiNames, poolsBy });
    const had = asked.status?.hostnames ?? [];
    const has = outerNames(pool);
    this.#pools.set(index, { ...asked, status: { ...asked.status, hostnames: [...has] } });
    return { asked, had, has, fault };
  }
}

test("no pool gets a name of the API, of a Service or of another namespace, nor loses what it has to another", () => {
  fc.assert(
    fc.property(fc.array(event, { maxLength: 40 }), (events) => {
      const pools = new Pools();
      const isOurs = (name: string, { metadata }: Pool) =>
        pools.all.some(
          (one) =>
            one.metadata.namespace === metadata.namespace &&
            one.metadata.name !== metadata.name &&
            outerNames(one).includes(name) &&
            one.status?.hostnames?.includes(name),
        );
      for (const one of events) {
        if (one.does === "ask") pools.ask(one.index, one.names);
        else if (one.does === "go") pools.go(one.index);
        const looked = one.does === "look" ? pools.look(one.index) : undefined;
        if (looked) {
          const { asked, had, has, fault } = looked;
          const kept = had.filter((name) => outside.includes(name) && outerNames(asked).includes(name));
          expect(has).toEqual(expect.arrayContaining(kept));
          const shared = outside.filter((name) => outerNames(asked).includes(name) && isOurs(name, asked));
          expect(has).toEqual(expect.arrayContaining(shared));
          expect(fault === undefined).toBe(has.length === outerNames(asked).length);
          for (const name of outerNames(asked))
            if (!has.includes(name)) expect(fault?.message).toContain(`hostname: ${name} is `);
        }
        const having = (name: string) => pools.all.filter(({ status }) => status?.hostnames?.includes(name));
        for (const name of outside)
          expect(new Set(having(name).map(({ metadata }) => metadata.namespace)).size).toBeLessThanOrEqual(1);
        for (const name of apiNames) expect(having(name)).toEqual([]);
        for (const { metadata } of having("one.left.svc")) expect(metadata).toMatchObject(keys[0] ?? {});
      }
      // Whatever nobody else has is given in the end.
      for (const index of keys.keys()) pools.look(index);
      for (const index of keys.keys()) pools.look(index);
      const isThere = pools.all.some(({ metadata }) => serviceNames(metadata).includes("one.left"));
      for (const { metadata, status } of pools.all)
        if (isThere && metadata.namespace === "right") expect(status?.hostnames).not.toContain("one.left");
      for (const name of outside) {
        const asking = pools.all.filter((one) => outerNames(one).includes(name));
        const having = asking.filter(({ status }) => status?.hostnames?.includes(name));
        expect(having.length > 0).toBe(asking.length > 0);
      }
    }),
    { numRuns: 500 },
  );
});
