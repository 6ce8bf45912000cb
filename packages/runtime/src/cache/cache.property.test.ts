import { type AnyObject, ApiError, type ResourceKind } from "@windlass/client";
import { ManualClock, seededRandom } from "@windlass/clock";
import fc from "fast-check";
import { expect, test } from "vitest";
import { createCache } from "./cache.ts";
import { ModelServer } from "./model-server.fixture.ts";

const Widget: ResourceKind = {
  group: "example.com",
  version: "v1",
  kind: "Widget",
  plural: "widgets",
  scope: "Namespaced",
};

interface ObjectKeyOfKind {
  namespace: string;
  name: string;
}

const place: fc.Arbitrary<ObjectKeyOfKind> = fc.record({
  namespace: fc.constantFrom("a", "b"),
  name: fc.constantFrom("1", "2", "3"),
});

type Step =
  | { do: "put" | "remove"; namespace: string; name: string; own: boolean }
  | {
      do:
        | "bookmark"
        | "repeat"
        | "compact"
        | "close"
        | "cut"
        | "pull"
        | "expire"
        | "break"
        | "tick"
        | "vanish";
    }
  | { do: "fault"; code: number; reason: string }
  | { do: "restore"; unseen: readonly ObjectKeyOfKind[]; back: number; puts: readonly ObjectKeyOfKind[] }
  | { do: "wait"; ms: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: place.chain((at) =>
      fc.record({
        do: fc.constantFrom("put" as const, "remove" as const),
        own: fc.boolean(),
        namespace: fc.constant(at.namespace),
        name: fc.constant(at.name),
      }),
    ),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constantFrom(
        "bookmark" as const,
        "repeat" as const,
        "compact" as const,
        "close" as const,
        "cut" as const,
        "pull" as const,
        "expire" as const,
        "break" as const,
        "tick" as const,
        "vanish" as const,
      ),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      { do: "fault" as const, code: 500, reason: "InternalError" },
      { do: "fault" as const, code: 429, reason: "TooManyRequests" },
      { do: "fault" as const, code: 410, reason: "Expired" },
      { do: "fault" as const, code: 403, reason: "Forbidden" },
    ),
  },
  {
    weight: 1,
    arbitrary: fc.integer({ min: 0, max: 8 }).chain((back) =>
      fc.record({
        do: fc.constant("restore" as const),
        unseen: fc.array(place, { maxLength: 4 }),
        back: fc.constant(back),
        // Fewer than it went back by from what was seen: once it has come as far again, nothing
        // shows that it ever did.
        puts: fc.array(place, { maxLength: back === 0 ? 4 : back - 1 }),
      }),
    ),
  },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant("wait" as const), ms: fc.constantFrom(0, 1, 1000, 40_000) }),
  },
);

/**
 * How long it may take until a server that went back in time is found out: two watches that say
 * nothing, and the waits between.
 */
const noticeMs = 600_000;

test("whatever the server does, the cache ends up with its state, and the events report it without a gap or a repeat", async () => {
  const scenario = fc.record({
    steps: fc.array(step, { maxLength: 50, size: "max" }),
    streaming: fc.constantFrom("yes" as const, "refuses" as const, "never ends" as const),
    pageSize: fc.constantFrom(1, 2, 500),
    behind: fc.constantFrom(0, 3),
    seed: fc.nat(),
  });
  await fc.assert(
    fc.asyncProperty(scenario, async ({ steps, streaming, pageSize, behind, seed }) => {
      const clock = new ManualClock();
      const server = new ModelServer();
      server.streaming = streaming;
      server.behind = behind;
      const cache = createCache({ source: server, clock, random: seededRandom(seed), pageSize });
      const informer = cache.informer(Widget);
      informer.addIndex("size", (object) => [String(object.size)]);
      /**
       * Our last write to each name, for as long as the server has not gone back or lost the kind.
       */
      const written = new Map<string, AnyObject>();
      const checkWritten = () => {
        for (const { metadata } of informer.hasSynced ? written.values() : []) {
          const { namespace = "", name, uid } = metadata;
          const read = cache.get(Widget, { namespace, name });
          if (read?.metadata.uid === uid)
            expect(Number(read?.metadata.resourceVersion)).toBeGreaterThanOrEqual(
              Number(metadata.resourceVersion),
            );
          else expect(server.objects.get(`${namespace}/${name}`)?.metadata.uid).not.toBe(uid);
        }
      };
      const told = new Map<string, string>();
      informer.subscribe((event) => {
        checkWritten();
        const { namespace, name, uid, resourceVersion } = event.object.metadata;
        const key = `${namespace}/${name}`;
        const before = told.get(key);
        if (event.type === "added") expect(before).toBeUndefined();
        else expect(before?.split("@")[0]).toBe(uid);
        if (event.type === "updated")
          expect(before).toBe(`${event.old.metadata.uid}@${event.old.metadata.resourceVersion}`);
        if (event.type === "deleted") told.delete(key);
        else told.set(key, `${uid}@${resourceVersion}`);
      });
      let puts = 0;
      // Never the same twice, so that two states of one version can be distinguished.
      const content = () => ({ size: puts % 3, put: ++puts });
      for (const action of steps) {
        if (action.do === "put") {
          const object = server.put(action.namespace, action.name, content());
          if (action.own) {
            cache.wrote(Widget, object);
            written.set(`${action.namespace}/${action.name}`, object);
            if (informer.hasSynced)
              expect(cache.get(Widget, action)?.metadata.resourceVersion).toBe(
                object.metadata.resourceVersion,
              );
          }
        } else if (action.do === "remove") {
          const object = server.remove(action.namespace, action.name);
          if (object && action.own) {
            cache.deleted(Widget, object);
            if (informer.hasSynced) expect(cache.get(Widget, action)).toBeUndefined();
          }
        } else if (action.do === "wait") await clock.advance(action.ms);
        else if (action.do === "fault")
          server.faults.push(
            new ApiError({ kind: "Status", code: action.code, reason: action.reason, message: "fault" }),
          );
        else if (action.do === "bookmark") server.bookmark();
        else if (action.do === "repeat") server.repeat();
        else if (action.do === "compact") server.compact();
        else if (action.do === "close") server.close();
        else if (action.do === "cut") server.cut();
        else if (action.do === "pull") server.pullCable();
        else if (action.do === "expire") server.fail({ code: 410, reason: "Expired" });
        else if (action.do === "break") server.fail({ code: 500, reason: "InternalError" });
        else if (action.do === "tick") server.tick();
        else if (action.do === "restore") {
          await clock.advance(noticeMs);
          written.clear();
          server.pullCable();
          const own = ({ namespace, name }: ObjectKeyOfKind) =>
            cache.wrote(Widget, server.put(namespace, name, content()));
          // Each one is answered, and lost, or not, before the watch brings it.
          for (const one of action.unseen) own(one);
          server.restore(Math.max(100, Number(server.revision) - action.unseen.length - action.back));
          for (const one of action.puts) own(one);
          await clock.advance(noticeMs);
          for (let minute = 0; minute < 3; minute++) {
            server.bookmark();
            await clock.advance(60_000);
          }
        } else {
          written.clear();
          server.isInstalled = false;
          server.close();
          await clock.advance(5000);
          server.isInstalled = true;
        }
        checkWritten();
      }
      server.faults.length = 0;
      await clock.advance(600_000);
      server.bookmark();
      await clock.advance(0);
      const versions = (objects: Iterable<AnyObject>) =>
        [...objects]
          .map(
            ({ metadata }) =>
              `${metadata.namespace}/${metadata.name} ${metadata.uid}@${metadata.resourceVersion}`,
          )
          .sort();
      const contents = (objects: Iterable<AnyObject>) =>
        [...objects]
          .map(({ metadata, put }) => `${metadata.namespace}/${metadata.name} ${String(put)}`)
          .sort();
      const truth = versions(server.objects.values());
      expect(versions(cache.list(Widget))).toEqual(truth);
      expect(contents(cache.list(Widget))).toEqual(contents(server.objects.values()));
      expect([...told].map(([key, version]) => `${key} ${version}`).sort()).toEqual(truth);
      expect(versions(["0", "1", "2"].flatMap((size) => [...cache.byIndex(Widget, "size", size)]))).toEqual(
        truth,
      );
      expect(cache.stats()[0]?.pendingWrites).toBe(0);
      await cache.barrier(Widget);
      await cache.stop();
      expect([clock.pending, server.watches]).toEqual([0, 0]);
    }),
    { numRuns: 200 },
  );
}, 60_000);
