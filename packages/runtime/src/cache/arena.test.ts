import fc from "fast-check";
import { expect, test } from "vitest";
import { Arena, loose } from "./arena.ts";
import { scanObject } from "./scan.ts";
import { StoredObject } from "./stored-object.ts";

function put(arena: Pick<Arena, "store">, text: string): StoredObject {
  const bytes = Buffer.from(`{"metadata":{"name":"x"},"text":${JSON.stringify(text)}}`);
  const scan = scanObject(bytes, 0, bytes.length);
  if (!scan) throw new Error("the test's own object does not scan");
  const stored = new StoredObject(scan, [], "", "");
  arena.store(stored, {
    isJson: true,
    length: bytes.length,
    copyTo: (into, at) => void bytes.copy(into, at),
  });
  return stored;
}

function textOf(arena: Arena, stored: StoredObject): string {
  return (JSON.parse(arena.read(stored).toString()) as { text: string }).text;
}

test("what was stored is read again, packed or not, through any order of adds and removals", () => {
  const step = fc.record({
    remove: fc.boolean(),
    at: fc.nat(1000),
    size: fc.constantFrom(10, 3000, 20_000, 70_000),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 80, size: "max" }), fc.boolean(), (steps, packs) => {
      const arena = new Arena({ packs });
      const held: { stored: StoredObject; text: string }[] = [];
      const gone: { stored: StoredObject; text: string }[] = [];
      for (const { remove, at, size } of steps) {
        if (remove && held.length > 0) {
          const [entry] = held.splice(at % held.length, 1);
          if (!entry) continue;
          arena.release(entry.stored);
          gone.push(entry);
        } else {
          const text = `${at}é`.repeat(Math.ceil(size / 5));
          held.push({ stored: put(arena, text), text });
        }
      }
      // Deleted objects are still readable by their holders.
      for (const { stored, text } of [...held, ...gone]) expect(textOf(arena, stored)).toBe(text);
    }),
    { numRuns: 60 },
  );
});

test("memory is given back when objects are replaced, however often", () => {
  for (const packs of [true, false]) {
    const arena = new Arena({ packs });
    const objects = Array.from({ length: 200 }, (_, index) => put(arena, `${index}`.repeat(1000)));
    const before = arena.reservedBytes;
    for (let round = 0; round < 20; round++) {
      for (const [index, object] of objects.entries()) {
        objects[index] = put(arena, `${index}`.repeat(1000));
        arena.release(object);
      }
    }
    expect(arena.reservedBytes).toBeLessThan(before * 2 + 200_000);
    for (const object of objects) arena.release(object);
    // What is left is the piece that the next object goes into.
    expect(arena.reservedBytes).toBeLessThan(600_000);
  }
});

test("objects that have much in common take a fraction of their size", () => {
  const sizes = [true, false].map((packs) => {
    const arena = new Arena({ packs });
    for (let index = 0; index < 500; index++)
      put(arena, `object number ${index}, otherwise alike `.repeat(100));
    return arena.reservedBytes;
  });
  const [packed = 0, plain = 0] = sizes;
  expect(packed * 5).toBeLessThan(plain);
});

test("releasing twice frees once", () => {
  const arena = new Arena({ packs: true });
  const first = put(arena, "a".repeat(40_000));
  const second = put(arena, "b");
  arena.release(first);
  arena.release(first);
  expect(textOf(arena, second)).toBe("b");
});

test("a loose object needs no arena", () => {
  const arena = new Arena({ packs: true });
  expect(textOf(arena, put(loose, "on its own"))).toBe("on its own");
  expect(arena.reservedBytes).toBe(0);
});
