import { once } from "node:events";
import { ManualClock } from "@windlass/clock";
import { describe, expect, test } from "vitest";
import { type CallInit, callOn, TestEnvironment, until } from "./environment.fixture.ts";
import { FrameReader, frameFlag, frameType, lastHeaders, prefaceBytes } from "./frames.ts";
import { OpenCalls } from "./open-calls.ts";

describe("a call that is open when its worker is lost is answered with the reason", () => {
  const calls: readonly CallInit[] = [
    { method: "Status" },
    { method: "Status", isOpen: true },
    { method: "Solve" },
    { method: "Solve", isOpen: true },
  ];

  async function buildingEnvironment() {
    const environment = await TestEnvironment.start({
      clock: new ManualClock(Date.now()),
      limits: { lookupLag: 0 },
    });
    const worker = await environment.worker();
    const { pair, allocation } = environment.allocate(worker);
    const session = await environment.open(pair);
    // A call that has ended, whose stream must not be reported again.
    expect(await callOn(session)).toMatchObject({ status: 0 });
    const answers = Promise.all(calls.map((call) => callOn(session, call)));
    await until(() => worker.calls === 1 + calls.length);
    return { environment, worker, allocation, session, answers };
  }

  test("when the worker is killed", async () => {
    const { environment: ours, worker, answers } = await buildingEnvironment();
    await using _world = ours;
    await worker.kill();
    for (const answer of await answers)
      expect(answer).toMatchObject({
        status: 14,
        message: expect.stringMatching(/^worker ci-worker-1 is lost \(.*\): allocate a worker again/),
      });
  });

  test("when the worker has said that it stops, and is killed before its calls have ended", async () => {
    const { environment: ours, worker, session, answers } = await buildingEnvironment();
    await using _world = ours;
    const words: string[] = [];
    session.on("goaway", (_code, _last, data) => words.push(Buffer.from(data ?? []).toString()));
    worker.announceStop();
    await until(() => words.length > 0);
    await worker.kill();
    const lost = { status: 14, message: expect.stringMatching(/worker ci-worker-1 is lost/) };
    const begun = { ...lost, worker: "ci-worker-1", body: "begun" };
    const silent = { ...lost, worker: undefined, body: "" };
    expect(await answers).toMatchObject([begun, begun, silent, silent]);
    expect(words).toEqual(["graceful_stop"]);
  });

  test("when its pod was evicted", async () => {
    const { environment: ours, allocation, answers } = await buildingEnvironment();
    await using _world = ours;
    ours.table.set(allocation, { at: "lost", worker: "ci-worker-1", reason: "100% of the disk is used" });
    for (const answer of await answers)
      expect(answer).toMatchObject({
        status: 9,
        message: expect.stringMatching(/^worker ci-worker-1 is lost \(100% of the disk is used\)/),
      });
  });

  test("in as many words as a frame has room for", async () => {
    const { environment: ours, allocation, session, answers } = await buildingEnvironment();
    await using _world = ours;
    const goaway = once(session, "goaway") as Promise<[number, number, Buffer]>;
    ours.table.set(allocation, { at: "revoked", reason: `!${"💾".repeat(20_000)}` });
    const begin = "the allocation was revoked (!";
    // The last one is cut in two.
    const words = `${begin}${"💾".repeat((999 - begin.length) / 2)}\ufffd`;
    for (const answer of await answers) expect(answer).toMatchObject({ status: 16, message: words });
    expect((await goaway)[2].toString()).toBe(words);
  });
});

const { DATA, HEADERS, RST_STREAM, GOAWAY } = frameType;
const { END_STREAM, END_HEADERS } = frameFlag;
const lost = { code: "UNAVAILABLE", message: "lost" } as const;

function frame(type: number, flags: number, stream: number): Buffer {
  const bytes = Buffer.alloc(9 + 4);
  bytes.writeUInt8(4, 2);
  bytes.writeUInt8(type, 3);
  bytes.writeUInt8(flags, 4);
  bytes.writeUInt32BE(stream, 5);
  return bytes;
}

/** A connection of which both sides have sent their first frame. */
function newCalls(): OpenCalls {
  const calls = new OpenCalls();
  calls.sawFromClient(Buffer.alloc(prefaceBytes, "P"));
  calls.sawFromWorker(frame(0x4, 0, 0));
  return calls;
}

/** The type and the stream of each frame. */
function framesIn(bytes: Buffer | undefined): number[][] {
  const found: number[][] = [];
  new FrameReader((type, _flags, stream) => void found.push([type, stream])).saw(bytes ?? Buffer.alloc(0));
  return found;
}

describe("last bytes", () => {
  test("are for calls that neither side has ended", () => {
    const calls = newCalls();
    for (const stream of [1, 3, 5, 7, 9, 11])
      calls.sawFromClient(frame(HEADERS, END_HEADERS | END_STREAM, stream));
    calls.sawFromClient(frame(RST_STREAM, 0, 1));
    calls.sawFromWorker(frame(RST_STREAM, 0, 3));
    calls.sawFromWorker(frame(HEADERS, END_HEADERS | END_STREAM, 5));
    calls.sawFromWorker(frame(HEADERS, END_HEADERS, 7));
    calls.sawFromWorker(frame(DATA, END_STREAM, 7));
    calls.sawFromWorker(frame(HEADERS, END_HEADERS, 9));
    calls.sawFromWorker(frame(DATA, 0, 9));
    // Trailers of a client's open no call.
    calls.sawFromClient(frame(HEADERS, END_HEADERS | END_STREAM, 5));
    const trailers = { "grpc-status": "14", "grpc-message": "lost" };
    const bytes = calls.lastBytes(lost);
    expect(framesIn(bytes)).toEqual([
      [HEADERS, 9],
      [HEADERS, 11],
      [GOAWAY, 0],
    ]);
    expect(bytes?.indexOf(lastHeaders(9, trailers))).toBe(0);
    expect(
      bytes?.includes(lastHeaders(11, { ":status": "200", "content-type": "application/grpc", ...trailers })),
    ).toBe(true);
  });

  test.each([
    ["a header of a frame", frame(DATA, 0, 1).subarray(0, 5)],
    ["a frame", frame(DATA, 0, 1).subarray(0, 11)],
    ["a header block", frame(HEADERS, 0, 1)],
  ])("are none in the middle of %s", (_what, bytes) => {
    const calls = newCalls();
    calls.sawFromClient(frame(HEADERS, END_HEADERS, 1));
    expect(calls.lastBytes(lost)).toBeDefined();
    calls.sawFromWorker(bytes);
    expect(calls.lastBytes(lost)).toBeUndefined();
  });

  test("are none before the worker has sent a frame", () => {
    expect(new OpenCalls().lastBytes(lost)).toBeUndefined();
  });

  test("are for a thousand calls at most, however many a client opens", () => {
    const calls = newCalls();
    for (let stream = 1; stream < 10_000; stream += 2)
      calls.sawFromClient(frame(HEADERS, END_HEADERS, stream));
    expect(framesIn(calls.lastBytes(lost)).length).toBe(1_000 + 1);
  });
});
