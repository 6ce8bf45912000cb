import fc from "fast-check";
import { expect, test } from "vitest";
import { type ByteRange, Slabs } from "./slabs.ts";

const MiB = 1 << 20;

test("what is kept stays as it was, through any order of puts and releases, and at most half of the memory is idle", () => {
  const step = fc.record({
    release: fc.boolean(),
    at: fc.nat(1000),
    size: fc.constantFrom(100, 30_000, 200_000, MiB),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 150, size: "max" }), (steps) => {
      const slabs = new Slabs();
      const kept: { parcel: ByteRange; byte: number; size: number }[] = [];
      for (const { release, at, size } of steps) {
        if (release && kept.length > 0) {
          const [gone] = kept.splice(at % kept.length, 1);
          if (gone) slabs.release(gone.parcel);
        } else kept.push({ parcel: slabs.put(Buffer.alloc(size, at % 251)), byte: at % 251, size });
      }
      const bytes = kept.reduce((sum, { size }) => sum + size, 0);
      for (const { parcel, byte, size } of kept)
        expect(parcel.bytes.equals(Buffer.alloc(size, byte))).toBe(true);
      // The current slab may be idle as a whole, and each slab has an end that nothing fitted into.
      expect(slabs.reservedBytes).toBeLessThanOrEqual(bytes * 2.4 + 4 * MiB);
    }),
    { numRuns: 50 },
  );
});

test("a parcel that was released can still be read by its holders", () => {
  const slabs = new Slabs();
  const parcel = slabs.put(Buffer.from("gone"));
  slabs.release(parcel);
  for (let count = 0; count < 300; count++) slabs.release(slabs.put(Buffer.alloc(30_000)));
  expect(parcel.bytes.toString()).toBe("gone");
});
