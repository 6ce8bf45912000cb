import type { AnyObject, ResourceKind } from "@windlass/client";
import { ManualClock, seededRandom } from "@windlass/clock";
import { onTestFinished } from "vitest";
import { type CacheOptions, createCache } from "./cache.ts";
import type { CacheEvent } from "./contract.ts";
import { ModelServer } from "./model-server.fixture.ts";

export const Widget: ResourceKind = {
  group: "example.com",
  version: "v1",
  kind: "Widget",
  plural: "widgets",
  scope: "Namespaced",
};
export const Gadget: ResourceKind = { ...Widget, kind: "Gadget", plural: "gadgets" };

/** A cache on a model server, on a clock that stands still. Stops with the test. */
export function setup(options: Partial<CacheOptions> = {}) {
  const clock = new ManualClock();
  const server = new ModelServer();
  const warnings: string[] = [];
  const nothing = () => undefined;
  const cache = createCache({
    source: server,
    clock,
    random: seededRandom(1),
    log: {
      debug: nothing,
      info: nothing,
      warn: (_, text) => warnings.push(text),
      error: (_, text) => warnings.push(text),
    },
    ...options,
  });
  onTestFinished(() => cache.stop());
  const settle = () => clock.advance(0);
  const names = () => cache.list(Widget).map((object) => object.metadata.name);
  return { clock, server, cache, warnings, settle, names };
}

/** Writes events down as one line each. */
export function listen(informer: { subscribe(handler: (event: CacheEvent<AnyObject>) => void): () => void }) {
  const heard: string[] = [];
  const stop = informer.subscribe((event) => {
    const { name, resourceVersion } = event.object.metadata;
    heard.push(
      `${event.type}${event.type === "added" && event.initial ? "*" : ""} ${name}@${resourceVersion}`,
    );
  });
  return { heard, stop };
}
