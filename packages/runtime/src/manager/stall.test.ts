import { ManualClock } from "@windlass/clock";
import { expect, test } from "vitest";
import type { Logger } from "../logging/logger.ts";
import { Pulse, pulseReader, StallWatch } from "./stall.ts";

function watched() {
  const clock = new ManualClock(0);
  const lines: string[] = [];
  const nothing = () => undefined;
  const keep = (_fields: unknown, message = "") => void lines.push(message);
  const log: Logger = { debug: nothing, info: nothing, warn: keep, error: keep, child: () => log };
  let cpuMs = 0;
  const watch = new StallWatch(log, clock, () => cpuMs);
  return {
    clock,
    lines,
    watch,
    /** The event loop stands still for so long, computing or not. */
    stand: async (ms: number, busy = 1) => {
      await clock.advance(ms);
      cpuMs += ms * busy;
    },
  };
}

const advice =
  "probes, watches and everything else had to wait. Move long computations to a worker thread, or split them with await";

test("a stall is logged with the reconcile it happened in, ended or not", async () => {
  const { lines, watch, stand } = watched();
  const end = watch.begin("WebApp default/slow (controller webapp)");
  await stand(8_000);
  end();
  watch.begin("WebApp default/next (controller webapp)");
  watch.look();
  await stand(1_000);
  watch.look();
  expect(lines).toEqual([
    `the event loop stood still for 7 s, while WebApp default/slow (controller webapp) or WebApp default/next (controller webapp) was reconciled: ${advice}`,
  ]);
});

test("small delays are nothing, and a stall that was explained is not told again", async () => {
  const { lines, watch, stand } = watched();
  await stand(5_000);
  watch.look();
  await stand(20_000);
  watch.explained();
  watch.look();
  expect(lines).toEqual([]);
  await stand(20_000);
  watch.look();
  expect(lines).toEqual([`the event loop stood still for 19 s: ${advice}`]);
});

test("a process that got no CPU is reported as such", async () => {
  const { lines, watch, stand } = watched();
  watch.begin("WebApp default/innocent (controller webapp)");
  await stand(31_000, 0.1);
  watch.look();
  expect(lines).toEqual([
    expect.stringMatching(/^the process got no CPU for 30 s: .* give it a CPU request/),
  ]);
});

test("another thread sees a stall that does not end, and what was begun last", async () => {
  const { clock, watch, stand } = watched();
  const read = pulseReader(new Pulse(watch.pulse.memory), clock);
  await stand(1_000);
  watch.look();
  const endFirst = watch.begin("first");
  watch.begin("WebApp default/größer (controller webapp)");
  endFirst();
  await stand(10_000);
  expect(read()).toBeUndefined();
  await stand(2_000);
  expect(JSON.parse(read() ?? "")).toMatchObject({
    level: "error",
    seconds: 11,
    msg: expect.stringMatching(
      /^the event loop has stood still for 11 s, since WebApp default\/größer \(controller webapp\) was begun: .* restart the process$/,
    ),
  });
  await stand(59_000);
  expect(read()).toBeUndefined();
  await stand(1_000);
  expect(read()).toContain("for 71 s");
  watch.look();
  expect(read()).toBeUndefined();
});
