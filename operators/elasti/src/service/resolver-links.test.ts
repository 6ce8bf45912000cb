import { systemClock } from "@windlass/clock";
import { silentLogger } from "@windlass/runtime";
import { testSource } from "@windlass/testing";
import { expect, onTestFinished, test, vi } from "vitest";
import { startInternalServer } from "../resolver/index.ts";
import { ResolverLinks } from "./resolver-links.ts";

const nothing = { trafficOf: () => undefined, traffic: () => [], stepOf: () => undefined };
const address = "127.0.0.1";

async function linked() {
  const server = await startInternalServer(nothing, { port: 0, host: address });
  const links = new ResolverLinks([server.port]);
  const tried = testSource(links.source, { clock: systemClock });
  const stop = links.start({ clock: systemClock, log: silentLogger });
  onTestFinished(async () => {
    stop();
    tried[Symbol.dispose]();
    await server.stop().catch(() => undefined);
  });
  return { server, links, tried };
}

test("a replica that goes away is down at once, and up again when it is back", async () => {
  const { server, links, tried } = await linked();
  const { port } = server;
  links.expect([address]);
  expect(links.isDown(address)).toBe(false);
  await vi.waitFor(async () => expect(await hasLink(port)).toBe(true));
  const gone = performance.now();
  await server.stop();
  await vi.waitFor(() => expect(links.isDown(address)).toBe(true), { interval: 5 });
  expect(performance.now() - gone).toBeLessThan(500);
  expect(tried.asked).toEqual(["all"]);
  const back = await startInternalServer(nothing, { port, host: address });
  await vi.waitFor(() => expect(links.isDown(address)).toBe(false), { timeout: 5_000 });
  expect(tried.asked).toEqual(["all", "all"]);
  links.expect([]);
  await back.stop();
});

test("a replica that was never reached is not down, and one that is gone from the list is forgotten", async () => {
  const { server, links } = await linked();
  links.expect([address, "127.0.0.2"]);
  await vi.waitFor(async () => expect(await hasLink(server.port)).toBe(true));
  expect(links.isDown("127.0.0.2")).toBe(false);
  await server.stop();
  await vi.waitFor(() => expect(links.isDown(address)).toBe(true));
  links.expect([]);
  expect(links.isDown(address)).toBe(false);
});

/** Whether the server has answered for long enough that the link is up. */
async function hasLink(port: number): Promise<boolean> {
  const answer = await fetch(`http://${address}:${port}/traffic`);
  await answer.text();
  return answer.ok;
}

test("a replica of two processes is down once both have gone, and gone once nothing listens any more", async () => {
  const [first, second] = await Promise.all(
    [0, 0].map((port) => startInternalServer(nothing, { port, host: address })),
  );
  if (!first || !second) throw new Error("two servers were started");
  const links = new ResolverLinks([first.port, second.port]);
  const stop = links.start({ clock: systemClock, log: silentLogger });
  onTestFinished(stop);
  const seen: string[] = [];
  links.onChange((_, change) => seen.push(change));
  links.expect([address]);
  await vi.waitFor(() => expect(links.isUp(address)).toBe(true));
  await Promise.all([first, second].map(({ port }) => hasLink(port)));
  await first.stop();
  await vi.waitFor(async () => expect(await hasLink(first.port).catch(() => false)).toBe(false));
  expect([links.isUp(address), links.isDown(address), links.isGone(address)]).toEqual([true, false, false]);
  await second.stop();
  await vi.waitFor(() => expect(links.isGone(address)).toBe(true));
  expect([links.isUp(address), links.isDown(address)]).toEqual([false, true]);
  expect(seen).toEqual(["down", "gone"]);
  const back = await startInternalServer(nothing, { port: first.port, host: address });
  onTestFinished(() => back.stop());
  await vi.waitFor(() => expect(links.isDown(address)).toBe(false), { timeout: 5_000 });
  expect(links.isGone(address)).toBe(false);
  expect(seen).toEqual(["down", "gone", "up"]);
});
