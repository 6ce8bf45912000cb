import { ManualClock, seededRandom } from "@windlass/clock";
import { expect, test } from "vitest";
import { TransportError } from "../errors.ts";
import { type Answer, fakeTransport } from "../fake-transport.fixture.ts";
import type { TransportRequest } from "../transport.ts";
import { type Retry, retry } from "./retry.ts";

const get: TransportRequest = { method: "GET", path: "/api/v1/pods", headers: {} };
const post: TransportRequest = { method: "POST", path: "/api/v1/pods", headers: {}, body: "{}" };
const refused = new TransportError("CONNECTION_REFUSED", "refused", { mayHaveBeenSent: false });
const reset = new TransportError("CONNECTION_RESET", "reset");

/**
 * Runs one request against a server that answers in turn, letting time pass as long as anybody
 * waits.
 */
async function play(request: TransportRequest, answers: readonly (Answer | Error)[], attempts?: number) {
  const clock = new ManualClock();
  const retries: Retry[] = [];
  const transport = fakeTransport((_, count) => {
    const answer = answers[Math.min(count, answers.length) - 1] ?? {};
    if (answer instanceof Error) throw answer;
    return answer;
  });
  const around = retry({
    clock,
    random: seededRandom(1),
    onRetry: (it) => retries.push(it),
    ...(attempts ? { attempts } : {}),
  })(transport);
  let result: unknown;
  const asking = around.request(request).then(
    (response) => {
      result = response.status;
    },
    (error: unknown) => {
      result = error;
    },
  );
  while (result === undefined)
    await clock.advance(clock.nextAt === undefined ? 0 : clock.nextAt - clock.now());
  await asking;
  return { result, asked: transport.requests.length, waits: retries.map((it) => it.waitMs), retries };
}

test.each([429, 500, 502, 503])("a read is repeated after %i", async (status) => {
  expect(await play(get, [{ status }, { status: 200 }])).toMatchObject({ result: 200, asked: 2 });
});

test.each([200, 400, 401, 403, 404, 409, 410, 422, 504])(
  "a read is not repeated after %i",
  async (status) => {
    expect(await play(get, [{ status }])).toMatchObject({ result: status, asked: 1 });
  },
);

test("waits double from 100 ms, and are up to half as long again", async () => {
  const { result, waits, asked } = await play(get, [{ status: 503 }]);
  expect({ result, asked }).toEqual({ result: 503, asked: 5 });
  for (const [index, wait] of waits.entries()) {
    const least = 100 * 2 ** index;
    expect(wait).toBeGreaterThanOrEqual(least);
    expect(wait).toBeLessThanOrEqual(least * 1.5);
  }
});

test("Retry-After is waited for, at least", async () => {
  const { waits } = await play(get, [{ status: 429, headers: { "retry-after": "7" } }, { status: 200 }]);
  expect(waits[0]).toBeGreaterThanOrEqual(7_000);
  expect(waits[0]).toBeLessThanOrEqual(10_500);
});

test("a Retry-After longer than anyone should wait goes to the caller", async () => {
  const answer = { status: 429, headers: { "retry-after": "3600" } };
  expect(await play(get, [answer])).toMatchObject({ result: 429, asked: 1 });
});

test("a write is repeated only if the server said that it did nothing", async () => {
  const busy = { status: 503, headers: { "retry-after": "1" } };
  expect(await play(post, [busy, { status: 201 }])).toMatchObject({ result: 201, asked: 2 });
  expect(await play(post, [{ status: 503 }])).toMatchObject({ result: 503, asked: 1 });
  expect(await play(post, [{ status: 500 }])).toMatchObject({ result: 500, asked: 1 });
});

test("a write is repeated if its connection was never made, but not if it broke", async () => {
  expect(await play(post, [refused, { status: 201 }])).toMatchObject({ result: 201, asked: 2 });
  expect(await play(post, [reset])).toMatchObject({ result: reset, asked: 1 });
  expect(await play(get, [reset, { status: 200 }])).toMatchObject({ result: 200, asked: 2 });
});

test("faults that waiting does not cure are not repeated", async () => {
  const expired = new TransportError("CERTIFICATE_EXPIRED", "expired", { mayHaveBeenSent: false });
  expect(await play(get, [expired])).toMatchObject({ result: expired, asked: 1 });
  const bug = new Error("a bug");
  expect(await play(get, [bug])).toMatchObject({ result: bug, asked: 1 });
});

test("an eviction that a disruption budget forbids is not repeated", async () => {
  const eviction = { ...post, path: "/api/v1/namespaces/a/pods/b/eviction?fieldManager=x" };
  const forbidden = { status: 429, headers: { "retry-after": "10" } };
  expect(await play(eviction, [forbidden])).toMatchObject({ result: 429, asked: 1 });
});

test("a request that says never is made once", async () => {
  expect(await play({ ...get, retry: "never" }, [{ status: 503 }])).toMatchObject({ result: 503, asked: 1 });
});

test("the number of attempts is bounded by what was set", async () => {
  const { asked, retries } = await play(get, [{ status: 503 }], 2);
  expect(asked).toBe(2);
  expect(retries).toMatchObject([{ because: 503, count: 1 }]);
});

test("an abort ends the wait with the signal's reason", async () => {
  const controller = new AbortController();
  const clock = new ManualClock();
  const transport = fakeTransport(() => ({ status: 503 }));
  const around = retry({ clock, onRetry: () => controller.abort(new Error("enough")) })(transport);
  await expect(around.request({ ...get, signal: controller.signal })).rejects.toThrow("enough");
  expect(transport.requests).toHaveLength(1);
  expect(clock.pending).toBe(0);
});
