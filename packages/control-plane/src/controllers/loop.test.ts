import { expect, test } from "vitest";
import { startCluster } from "./cluster.fixture.ts";
import { startLoop, turn } from "./loop.ts";

test("a wait that is not a number is reported, and tried again later and later", async () => {
  await using cluster = await startCluster();
  const panics: string[] = [];
  let runs = 0;
  const loop = startLoop(
    {
      registry: cluster.plane.registry,
      onPanic: (error, where) => panics.push(`${where}: ${String(error)}`),
    },
    {
      name: "waits",
      reconcile: async () => {
        runs++;
        return { requeueAfterMs: Number.NaN };
      },
    },
  );
  loop.add("a");
  while (!loop.idle) await turn();
  expect(panics).toEqual(["waits a: RangeError: requeueAfterMs is not a number"]);
  for (let ms = 0; ms < 1_000; ms += 5) {
    await cluster.clock.advance(5);
    while (!loop.idle) await turn();
  }
  expect(runs).toBeLessThan(10);
  loop.stop();
});
