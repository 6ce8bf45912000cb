import { describe, expect, test } from "vitest";
import type { Route, WorkerAddress } from "./lookup.ts";
import { type DialFailure, nextMove, type SetupRules } from "./setup.ts";

const rules: SetupRules = { holdMs: 15_000, lookupLagMs: 3_000, reachMs: 3_000, dialMs: 5_000, retryMs: 250 };
const worker: WorkerAddress = { name: "w", host: "10.0.0.7", port: 1234, serverName: "w.internal" };
const ready: Route = { at: "ready", worker };
const starting: Route = { at: "starting", worker: "w" };
const failed = (at: number, change: Partial<DialFailure> = {}): DialFailure => ({
  since: 0,
  at,
  worker,
  fault: "unreachable",
  detail: "ETIMEDOUT",
  ...change,
});
const move = (route: Route, now: number, failure?: DialFailure) =>
  nextMove(route, { startedAt: 0, failure }, now, rules);
const refusal = (status: string, code: string) => ({ do: "refuse", refusal: { status, code } });

describe("a client", () => {
  test("whose worker is ready is connected to it", () => {
    expect(move(ready, 0)).toEqual({ do: "dial", worker, withinMs: 5_000 });
  });

  test("whose worker is starting waits for it, but not for ever", () => {
    expect(move(starting, 0)).toEqual({ do: "wait", until: 15_000 });
    expect(move(starting, 14_999)).toEqual({ do: "wait", until: 15_000 });
    expect(move(starting, 15_000)).toMatchObject(refusal("worker_starting", "UNAVAILABLE"));
  });

  test("whose worker is ready in the last moment is connected to it", () => {
    expect(move(ready, 15_001)).toMatchObject({ do: "dial" });
  });

  test("whose allocation is not known yet waits for a moment", () => {
    expect(move({ at: "unknown" }, 0)).toEqual({ do: "wait", until: 3_000 });
    expect(move({ at: "unknown" }, 3_000)).toMatchObject(refusal("lookup_failed", "UNAUTHENTICATED"));
  });

  test("whose worker does not answer tries again for a while", () => {
    expect(move(ready, 100, failed(0))).toEqual({ do: "wait", until: 250 });
    expect(move(ready, 250, failed(0))).toMatchObject({ do: "dial" });
    expect(move(ready, 2_999, failed(2_700))).toMatchObject({ do: "dial" });
    expect(move(ready, 3_000, failed(2_700))).toMatchObject(refusal("worker_connect_failed", "UNAVAILABLE"));
  });

  test("whose worker has moved tries it at its new place at once", () => {
    const moved: Route = { at: "ready", worker: { ...worker, host: "10.0.0.8" } };
    expect(move(moved, 5_000, failed(4_999))).toMatchObject({ do: "dial", worker: { host: "10.0.0.8" } });
  });

  test("does not try again where another answers, or no process listens any more", () => {
    expect(move(ready, 1, failed(0, { fault: "untrusted" }))).toMatchObject(
      refusal("worker_connect_failed", "FAILED_PRECONDITION"),
    );
    expect(move(ready, 1, failed(0, { fault: "gone" }))).toMatchObject(
      refusal("worker_connect_failed", "UNAVAILABLE"),
    );
  });

  test("whose allocation is over receives the reason at once", () => {
    expect(move({ at: "revoked", reason: "quota" }, 0)).toMatchObject(refusal("revoked", "UNAUTHENTICATED"));
    expect(move({ at: "lost", worker: "w", reason: "evicted" }, 0)).toMatchObject(
      refusal("worker_lost", "FAILED_PRECONDITION"),
    );
  });
});
