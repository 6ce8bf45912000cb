import { ManualClock, seededRandom } from "@windlass/clock";
import { expect, onTestFinished, test } from "vitest";
import { ModelServer } from "./model-server.fixture.ts";
import { Reflector, type ReflectorSink } from "./reflector-run.ts";
import { Widget } from "./test-cache.fixture.ts";

const nothing = () => undefined;
const taken = async () => undefined;

/** A reflector on a model server, and what it hands to its sink. */
function reflecting(overrides: Partial<ReflectorSink> = {}) {
  const clock = new ManualClock();
  const server = new ModelServer();
  const handed: string[] = [];
  const sink: ReflectorSink = {
    begin: () => handed.push("begin"),
    collect: (type, { scan }) => handed.push(`collect ${type} ${scan.name}@${scan.resourceVersion}`),
    commit: async (version) => void handed.push(`commit ${version}`),
    clear: taken,
    change: (type, { scan }) => handed.push(`change ${type} ${scan.name}@${scan.resourceVersion}`),
    bookmark: (version) => handed.push(`bookmark ${version}`),
    moved: nothing,
    opening: nothing,
    heard: nothing,
    ...overrides,
  };
  const abort = new AbortController();
  const reflector = new Reflector(
    { source: server, kind: Widget, scope: {}, clock, random: seededRandom(1), sink, pageSize: 1 },
    abort.signal,
  );
  const start = async () => {
    const run = reflector.run();
    onTestFinished(async () => {
      abort.abort();
      await run;
    });
    await clock.advance(0);
  };
  return { clock, server, handed, start };
}

test("objects of a stream are collected up to its end, and those that follow change what is held", async () => {
  const { clock, server, handed, start } = reflecting();
  server.put("a", "one");
  await start();
  server.put("a", "two");
  server.bookmark();
  await clock.advance(0);
  expect(handed).toEqual([
    "begin",
    "collect ADDED one@101",
    "commit 101",
    "change ADDED two@102",
    "bookmark 102",
  ]);
});

test("each page of a list is collected, and the last one completes it", async () => {
  const { server, handed, start } = reflecting();
  server.streaming = "refuses";
  server.put("a", "one");
  server.put("a", "two");
  await start();
  expect(handed).toEqual(["begin", "begin", "collect ADDED one@101", "collect ADDED two@102", "commit 102"]);
});

test("a watch resumes before an object that could not be stored", async () => {
  const stored: string[] = [];
  let attempts = 0;
  const { clock, server, start } = reflecting({
    change: (_, { scan }) => {
      attempts += 1;
      if (attempts === 1) throw new Error("there is no memory left");
      stored.push(`${scan.name}@${scan.resourceVersion}`);
    },
  });
  await start();
  server.put("a", "one");
  await clock.advance(0);
  expect(stored).toEqual([]);
  await clock.advance(5_000);
  expect(stored).toEqual(["one@101"]);
  expect(server.requests.at(-1)).toBe("watch 100");
});
