import { ManualClock } from "@windlass/clock";
import { expect, test } from "vitest";
import { HotLoopDetector } from "./hot-loop.ts";

const key = { namespace: "default", name: "web" };
const flap = (...paths: string[]) => [{ target: "Deployment default/web", paths: () => paths }];

function detector() {
  const clock = new ManualClock();
  const found = new HotLoopDetector({ clock, threshold: 3, windowMs: 1_000 });
  return { clock, found };
}

test("the field that differs most often is named, whichever came first", () => {
  const { found } = detector();
  const writes = [flap("spec.replicas"), flap("spec.image"), flap("spec.image"), flap("spec.image")];
  const loops = writes.map((write) => found.observe(key, 1, write));
  expect(loops).toEqual([
    undefined,
    undefined,
    undefined,
    { cause: "own", reconciles: 4, seconds: 0, target: "Deployment default/web", path: "spec.image" },
  ]);
});

test("it is said once, and again only after the loop had ended", async () => {
  const { clock, found } = detector();
  const loops = () =>
    Array.from({ length: 6 }, () => found.observe(key, 1, flap("a"))).filter(Boolean).length;
  expect(loops()).toBe(1);
  expect(loops()).toBe(0);
  await clock.advance(1_001);
  expect(loops()).toBe(1);
});

test("what happened to another generation, another object or a namesake of before does not count", () => {
  const { found } = detector();
  for (const name of ["web", "db"])
    for (let count = 0; count < 3; count++)
      expect(found.observe({ ...key, name }, 1, flap("a"))).toBeUndefined();
  expect(found.observe(key, 2, flap("a"))).toBeUndefined();
  found.forget({ ...key, name: "db" });
  expect(found.observe({ ...key, name: "db" }, 1, flap("a"))).toBeUndefined();
});

test("slow writes and reconciles that write nothing are no loop", async () => {
  const { clock, found } = detector();
  for (let count = 0; count < 10; count++) {
    expect(found.observe(key, 1, flap("a"))).toBeUndefined();
    expect(found.observe(key, 1, [])).toBeUndefined();
    await clock.advance(400);
  }
});

test("writes that others' changes lead to are no loop, own writes that come back are none of these", () => {
  const { found } = detector();
  let version = 0;
  const reconcile = (options: { readonly isStirred: boolean }) => {
    version += 2;
    // A watch may bring a write before the server's answer does.
    found.heard(key, String(version));
    if (options.isStirred) found.heard(key, String(version + 1));
    return found.observe(key, 1, flap("status.ready"), [String(version)]);
  };
  for (let count = 0; count < 20; count++) expect(reconcile({ isStirred: true })).toBeUndefined();
  const loops = Array.from({ length: 4 }, () => reconcile({ isStirred: false })).filter(Boolean);
  expect(loops).toMatchObject([{ cause: "own", reconciles: 4 }]);
});

test("writes without end are reported, even when others write too", () => {
  const { found } = detector();
  const loops = Array.from({ length: 31 }, (_, count) => {
    found.heard(key, undefined);
    return found.observe(key, 1, flap("spec.replicas"), [String(count)]);
  });
  expect(loops.filter(Boolean)).toMatchObject([{ cause: "shared", reconciles: 31, path: "spec.replicas" }]);
});
