import { systemClock, systemRandom } from "@windlass/clock";
import { Registry, type RunnableContext, silentLogger } from "@windlass/runtime";
import { expect, test, vi } from "vitest";
import { resolver, type TargetSource } from "./runnable.ts";
import { freePort } from "./test-environment.fixture.ts";

const source: TargetSource = { stepOf: () => 1, leadsTo: () => false, stop: () => undefined };

/** What the resolver asks of a manager, and nothing else. */
const context = {
  clock: systemClock,
  random: systemRandom,
  log: silentLogger,
  metrics: new Registry(),
  addReadyCheck: () => undefined,
} as Partial<RunnableContext> as RunnableContext;

async function asked(port: number): Promise<number | string> {
  try {
    const answer = await fetch(`http://127.0.0.1:${port}/traffic/shop/web`);
    await answer.text();
    return answer.status;
  } catch (error) {
    return String((error as Error).cause);
  }
}

test("it says that it does not know yet before it takes connections, and nothing once it could not start", async () => {
  const internalPort = await freePort();
  const following = Promise.withResolvers<TargetSource>();
  const begun = Promise.withResolvers<void>();
  const starting = resolver({
    follow: () => {
      begun.resolve();
      return following.promise;
    },
    waker: { wake: async () => undefined },
    internalPort,
    host: "127.0.0.1",
    drain: { acceptFor: 0 },
  }).start(context);
  await begun.promise;
  // One that refused would count as a process that has nothing in hand.
  expect(await asked(internalPort)).toBe(404);
  const stopped = vi.fn();
  following.resolve({ ...source, stop: stopped });
  const stop = await starting;
  expect(stopped).not.toHaveBeenCalled();
  await stop?.();
  expect(stopped).toHaveBeenCalledOnce();
  const failing = resolver({
    follow: () => Promise.reject(new Error("no services")),
    waker: { wake: async () => undefined },
    internalPort,
    host: "127.0.0.1",
  }).start(context);
  await expect(failing).rejects.toThrow("no services");
  expect(await asked(internalPort)).toMatch("ECONNREFUSED");
});
