import type { KubernetesObject } from "@windlass/client";
import { ConfigMap } from "@windlass/kinds/builtin";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Child, child } from "./child.ts";
import { applyInOrder } from "./child-order.ts";

const named = (name: string, options: Child<typeof ConfigMap>["options"] = {}) =>
  child(ConfigMap, { metadata: { name } }, options);
const nameOf = ({ object }: Child) => (object as KubernetesObject).metadata.name;
const nothingApplied = () => undefined;

/**
 * Applies and records; what is listed in `unready` never becomes ready, what is in `failing` fails.
 */
async function run(children: readonly Child[], failing: readonly string[] = []) {
  const order: string[] = [];
  const result = await applyInOrder(children, {
    applied: nothingApplied,
    apply: async (one) => {
      const name = nameOf(one);
      if (failing.includes(name)) throw new Error(name);
      order.push(name);
      return { metadata: { name } };
    },
  });
  return { order, waiting: result.waiting.map(nameOf), failures: result.failures.map(String) };
}

describe("children", () => {
  test("without an order are applied at the same time, a bounded number at once", async () => {
    let now = 0;
    let most = 0;
    const children = Array.from({ length: 30 }, (_, index) => named(`c${index}`));
    await applyInOrder(children, {
      applied: nothingApplied,
      apply: async (one) => {
        now += 1;
        most = Math.max(most, now);
        await Promise.resolve();
        now -= 1;
        return { metadata: { name: nameOf(one) } };
      },
    });
    expect(most).toBe(8);
  });

  test("come after those that they name, however they are listed", async () => {
    const first = named("first");
    const second = named("second", { after: [first] });
    const third = named("third", { after: [second, first] });
    expect((await run([third, second, first])).order).toEqual(["first", "second", "third"]);
  });

  test("wait while one that they come after is being deleted, whatever its readyWhen says", async () => {
    const first = named("first", { readyWhen: () => true });
    const second = named("second", { after: [first] });
    const deletionTimestamp = "2026-01-01T00:00:00Z";
    const { waiting } = await applyInOrder([first, second], {
      applied: nothingApplied,
      apply: async (one) => ({ metadata: { name: nameOf(one), deletionTimestamp } }),
    });
    expect(waiting).toEqual([second]);
  });

  test("wait while one that they come after is not ready, and hold up no others", async () => {
    const slow = named("slow", { readyWhen: () => false });
    const waits = named("waits", { after: [slow] });
    const later = named("later", { after: [waits] });
    expect(await run([slow, waits, later, named("free")])).toEqual({
      order: ["slow", "free"],
      waiting: ["waits", "later"],
      failures: [],
    });
  });

  test("wait while one that they come after fails; all failures are reported, in the order of the list", async () => {
    const a = named("a");
    const b = named("b");
    const after = named("after", { after: [b] });
    expect(await run([a, after, b, named("c")], ["b", "a"])).toEqual({
      order: ["c"],
      waiting: ["after"],
      failures: ["Error: a", "Error: b"],
    });
  });

  test("may come after one that was applied by itself, and must not after one that is not applied", async () => {
    const alone = named("alone");
    const follows = named("follows", { after: [alone] });
    const apply = async (one: Child) => ({ metadata: { name: nameOf(one) } });
    const { waiting } = await applyInOrder([follows], {
      apply,
      applied: () => ({ metadata: { name: "alone" } }),
    });
    expect(waiting).toEqual([]);
    await expect(applyInOrder([follows], { apply, applied: nothingApplied })).rejects.toThrow(
      "ConfigMap follows comes after ConfigMap alone, which is not among the children; list it too",
    );
  });

  test("are applied exactly once, and only if all before them are ready, whatever the order", async () => {
    const shape = fc.array(
      fc.record({ before: fc.array(fc.nat(20)), ready: fc.boolean(), fails: fc.boolean() }),
      { maxLength: 12 },
    );
    await fc.assert(
      fc.asyncProperty(shape, fc.infiniteStream(fc.nat()), async (nodes, chance) => {
        const made: Child[] = [];
        for (const [index, { before, ready }] of nodes.entries()) {
          const after = before.flatMap((one) => made[index === 0 ? -1 : one % index] ?? []);
          made.push(named(`n${index}`, { after, readyWhen: () => ready }));
        }
        const failing = nodes.flatMap(({ fails }, index) => (fails ? [`n${index}`] : []));
        const listed = made
          .map((one) => [one, chance.next().value ?? 0] as const)
          .toSorted(([, a], [, b]) => a - b)
          .map(([one]) => one);
        const { order, waiting, failures } = await run(listed, failing);
        const isUp = (one: Child) => order.includes(nameOf(one)) && nodes[made.indexOf(one)]?.ready === true;
        for (const one of made) {
          const name = nameOf(one);
          const isDue = (one.options.after ?? []).every(isUp);
          const isApplied = order.includes(name);
          expect(waiting.includes(name)).toBe(!isDue);
          expect(isApplied).toBe(isDue && !failing.includes(name));
          for (const before of one.options.after ?? [])
            if (isApplied) expect(order.indexOf(nameOf(before))).toBeLessThan(order.indexOf(name));
        }
        expect(new Set(order).size).toBe(order.length);
        expect(order.length + waiting.length + failures.length).toBe(made.length);
      }),
    );
  });
});
