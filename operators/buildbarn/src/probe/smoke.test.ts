import { systemClock } from "@windlass/clock";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type FrontendFault, StandInFrontend } from "../../testing/stand-in-frontend.ts";
import { smoke } from "./smoke.ts";

let frontend: StandInFrontend;
beforeEach(async () => {
  frontend = await StandInFrontend.start();
});
afterEach(() => frontend[Symbol.asyncDispose]());

const platform = [{ name: "OSFamily", value: "linux" }];
const run = (signal = AbortSignal.timeout(5_000)) =>
  smoke(
    { address: frontend.address, instanceName: "", platform, nonce: "probe-1", timeoutSeconds: 5 },
    systemClock,
    signal,
  );

test("an action that runs and is found again is good", async () => {
  expect(await run()).toMatchObject({ ok: true, cacheHit: true });
  expect(frontend.ran).toBe(1);
});

test.for<readonly [FrontendFault, string]>([
  ["noWorkers", "UNAVAILABLE: /build.bazel.remote.execution.v2.Execution/Execute: No workers exist"],
  ["actionFails", "ABORTED: the action ended with status 127: sh: not found"],
  ["wrongOutput", 'DATA_LOSS: the output has "other"'],
  ["notCached", "ran, but was not found in the cache"],
  ["uploadFails", "UNAVAILABLE: upload: Shard 1: connection refused"],
  ["endsEarly", "UNAVAILABLE: the answer ended before the action did"],
])("%s is a result that reports the fault", async ([fault, words]) => {
  frontend.fault = fault;
  const result = await run();
  expect(result).toMatchObject({ ok: false, cacheHit: false });
  expect(result.message).toContain(words);
});

test("a frontend that is not there is a result too", async () => {
  await frontend[Symbol.asyncDispose]();
  expect(await run()).toMatchObject({ ok: false, message: expect.stringContaining("ECONNREFUSED") });
});

test("a probe that is given up ends with the signal's reason", async () => {
  await expect(run(AbortSignal.abort(new Error("enough")))).rejects.toThrow("enough");
});
