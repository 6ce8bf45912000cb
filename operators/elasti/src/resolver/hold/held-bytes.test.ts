import fc from "fast-check";
import { expect, test } from "vitest";
import { HeldBytes } from "./held-bytes.ts";

test("one service leaves half of the bytes to others", () => {
  const bytes = new HeldBytes(100);
  const [stuck, other] = [{}, {}];
  expect(bytes.change(stuck, 0, 50)).toBe(true);
  expect(bytes.change(stuck, 0, 1)).toBe(false);
  expect(bytes.change(other, 0, 50)).toBe(true);
  expect(bytes.change(stuck, 50, 0)).toBe(true);
  expect(bytes.total).toBe(50);
});

test("the bytes in use are never more than there are, and none are left when all are given back", () => {
  const changes = fc.array(fc.tuple(fc.nat(3), fc.nat(9), fc.nat(60)), { maxLength: 60 });
  fc.assert(
    fc.property(changes, (asked) => {
      const bytes = new HeldBytes(100);
      const holders = [{}, {}, {}, {}];
      const charged = new Map<string, number>();
      for (const [holder, request, to] of asked) {
        const id = `${holder} ${request}`;
        const from = charged.get(id) ?? 0;
        if (bytes.change(holders[holder] as object, from, to)) charged.set(id, to);
        expect(bytes.total).toBe([...charged.values()].reduce((sum, one) => sum + one, 0));
        expect(bytes.total).toBeLessThanOrEqual(100);
      }
      for (const [id, from] of charged) bytes.change(holders[Number(id[0])] as object, from, 0);
      expect(bytes.total).toBe(0);
    }),
  );
});
