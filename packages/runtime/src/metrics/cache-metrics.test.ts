import { expect, test } from "vitest";
import { setup, Widget } from "../cache/test-cache.fixture.ts";
import { watchCache } from "./cache-metrics.ts";
import { Registry } from "./registry.ts";

function itemsIn(registry: Registry): readonly string[] {
  return registry
    .render()
    .split("\n")
    .filter((line) => line.startsWith("windlass_cache_items{"));
}

test("informers of one kind count together, and a closed one no longer", async () => {
  const { cache, server, settle } = setup();
  const registry = new Registry();
  watchCache(registry, cache);
  for (const name of ["a", "b"]) server.put("default", name);
  const whole = cache.informer(Widget);
  const part = cache.informer(Widget, { metadataOnly: true });
  await settle();
  await Promise.all([whole.synced, part.synced]);
  const labels = 'group="example.com",kind="Widget",namespace=""';
  expect(itemsIn(registry)).toEqual([`windlass_cache_items{${labels}} 4`]);
  whole.release();
  part.release();
  await settle();
  expect(itemsIn(registry)).toEqual([]);
});
