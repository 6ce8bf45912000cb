import { ApiError, type Writer } from "@windlass/client";
import { ManualClock, seededRandom } from "@windlass/clock";
import { expect, test } from "vitest";
import { Events } from "./events.ts";
import { appController, ModelRun, WebApp } from "./model-run.fixture.ts";

const app = WebApp.make({ namespace: "default", name: "web" }, {});

test("the last count of a series is waited for, even if its first write is still under way", async () => {
  const run = new ModelRun();
  const created = Promise.withResolvers<void>();
  const seen: string[] = [];
  const client = {
    create: async () => {
      await created.promise;
      seen.push("created");
    },
    patch: async () => {
      await Promise.resolve();
      seen.push("counted");
    },
  } as unknown as Writer;
  const clock = new ManualClock();
  const events = new Events({ client, clock, random: seededRandom(1), log: run.log, instance: "a" });
  const recorder = events.about(WebApp, app, "webapp");
  for (let count = 0; count < 3; count += 1) recorder.normal("Ticked", "tick");
  const flushed = events.flush().then(() => seen.push("flushed"));
  created.resolve();
  await flushed;
  expect(seen).toEqual(["created", "counted", "counted", "flushed"]);
});

test("an event that is recorded while or after a manager stops keeps nothing waiting", async () => {
  const run = new ModelRun();
  let record = (): void => undefined;
  run.manager.add(
    appController({
      everywhere: true,
      timeout: 0,
      reconcile: async (_app, { events, clock }) => {
        record = () => events.normal("Late", "after the end");
        await new Promise<void>((resolve) => clock.schedule(2_000, resolve));
        events.normal("Ended", "at the end");
      },
    }),
  );
  await run.manager.start();
  run.put();
  await run.settle(1_000);
  const stopped = run.manager.stop();
  await run.settle(2_000);
  await stopped;
  record();
  await run.settle(0);
  const reasons = run.cluster.writes.map(({ body }) => (body as { reason?: string }).reason);
  expect(reasons).toEqual(["Ended"]);
  expect(run.clock.pending).toBe(0);
});

test("a right that is missing for events is logged once for all namespaces, and again after a minute", async () => {
  const run = new ModelRun();
  const clock = new ManualClock();
  const create = (_kind: unknown, { metadata }: { readonly metadata: { readonly namespace: string } }) => {
    const message = `events.events.k8s.io is forbidden: User "me" cannot create resource "events" in API group "events.k8s.io" in the namespace "${metadata.namespace}"`;
    return Promise.reject(new ApiError({ kind: "Status", code: 403, reason: "Forbidden", message }));
  };
  const client = { create } as unknown as Writer;
  const events = new Events({ client, clock, random: seededRandom(1), log: run.log, instance: "a" });
  const happen = async (reason: string) => {
    for (const namespace of ["a", "b", "c"])
      events.about(WebApp, WebApp.make({ namespace, name: namespace }, {}), "webapp").normal(reason, "tick");
    await clock.advance(0);
  };
  const told = () => run.lines.filter(({ level }) => level === "warn");
  await happen("Ticked");
  expect(told()).toHaveLength(1);
  await clock.advance(60_000);
  await happen("Tocked");
  expect(told()[1]?.fields.count).toBe(4);
  expect(told()).toHaveLength(2);
  await events.close();
});

test("an event is cut at whole characters, by bytes as the server counts", async () => {
  const run = new ModelRun();
  const created: { readonly note: string; readonly reason: string; readonly action: string }[] = [];
  const create = (_kind: unknown, event: (typeof created)[number]) => Promise.resolve(created.push(event));
  const client = { create } as unknown as Writer;
  const clock = new ManualClock();
  const events = new Events({ client, clock, random: seededRandom(1), log: run.log, instance: "a" });
  const texts = ["a".repeat(1_024), `${"a".repeat(1_023)}…`, "é".repeat(1_024), "😀".repeat(300)];
  for (const text of texts)
    events.about(WebApp, app, "webapp").record({ reason: text, message: text, action: text });
  await clock.advance(0);
  expect(created.map(({ note }) => note)).toEqual([
    "a".repeat(1_024),
    "a".repeat(1_023),
    "é".repeat(512),
    "😀".repeat(256),
  ]);
  for (const { reason, action } of created)
    expect([reason, action].map((word) => Buffer.byteLength(word))).toEqual([128, 128]);
  await events.close();
});

test("an event that the server refuses is logged once", async () => {
  const run = new ModelRun();
  const refused = new ApiError({ kind: "Status", code: 422, reason: "Invalid", message: "no such thing" });
  const client = { create: () => Promise.reject(refused) } as unknown as Writer;
  const clock = new ManualClock();
  const events = new Events({ client, clock, random: seededRandom(1), log: run.log, instance: "a" });
  for (const note of ["one", "two", "three"]) events.about(WebApp, app, "webapp").normal("Ticked", note);
  await clock.advance(0);
  const told = run.lines.filter(({ level }) => level === "warn");
  expect(told.map(({ message }) => message)).toEqual(["event Ticked is not valid, and was not written"]);
  await events.close();
});
